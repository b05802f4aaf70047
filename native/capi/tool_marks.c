/* SPDX-License-Identifier: Apache-2.0
 * The marks of the vendor's tools extension: without a tool they do nothing, as there.
 */
#include "mstx/ms_tools_ext.h"

#include <stddef.h>

void mstxMarkA(const char *message, aclrtStream stream) {
  (void)message;
  (void)stream;
}

mstxRangeId mstxRangeStartA(const char *message, aclrtStream stream) {
  mstxMarkA(message, stream);
  return 0;
}

void mstxRangeEnd(mstxRangeId id) { (void)id; }

mstxDomainHandle_t mstxDomainCreateA(const char *name) {
  (void)name;
  return NULL;
}

void mstxDomainDestroy(mstxDomainHandle_t domain) { (void)domain; }

void mstxDomainMarkA(mstxDomainHandle_t domain, const char *message, aclrtStream stream) {
  (void)domain;
  mstxMarkA(message, stream);
}

mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t domain, const char *message, aclrtStream stream) {
  (void)domain;
  return mstxRangeStartA(message, stream);
}

void mstxDomainRangeEnd(mstxDomainHandle_t domain, mstxRangeId id) {
  (void)domain;
  (void)id;
}
