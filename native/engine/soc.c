/* SPDX-License-Identifier: Apache-2.0
 * Finding the SoC profile by its spelling.
 */
#include "soc.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <strings.h>

#include "aclpy_soc.h"
#include "aclpy_status.h"
#include "engine.h"

#define ROW(profile, name, padding, needs_access, bf16, streams, events, notifies) \
  {profile, name, padding, needs_access, bf16, streams, events, notifies},
static const struct eng_soc rows_[] = {ACLPY_SOC_ROWS(ROW)};
#define ALIAS(spelling, profile) {spelling, profile},
static const struct {
  const char *spelling, *profile;
} aliases_[] = {ACLPY_SOC_ALIASES(ALIAS)};

enum { ROWS = sizeof(rows_) / sizeof(rows_[0]), ALIASES = sizeof(aliases_) / sizeof(aliases_[0]) };
enum { PADDING = 32 }; /* of a chip that nobody knows */

static _Atomic(const struct eng_soc *) current_;

static const struct eng_soc *find_(const char *spelling) {
  for (int i = 0; i < ALIASES; i++) {
    if (strcasecmp(spelling, aliases_[i].spelling) == 0) spelling = aliases_[i].profile;
  }
  for (int i = 0; i < ROWS; i++) {
    if (strcasecmp(spelling, rows_[i].profile) == 0) return &rows_[i];
  }
  return NULL;
}

__attribute__((constructor)) static void read_environment_(void) {
  const char *set = getenv("ACLNN_PY_SOC");
  atomic_store(&current_, find_(set == NULL || *set == 0 ? ACLPY_SOC_DEFAULT : set));
}

const struct eng_soc *eng_soc(void) { return atomic_load_explicit(&current_, memory_order_acquire); }

size_t eng_soc_allocation_padding(void) {
  const struct eng_soc *soc = eng_soc();
  return soc != NULL ? soc->allocation_padding : PADDING;
}

int32_t aclpy_set_soc(const char *profile) {
  const struct eng_soc *soc = profile == NULL ? NULL : find_(profile);
  if (soc == NULL) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, "aclpy_set_soc", "profile", "the name of a SoC profile", "",
                      "%.60s", profile == NULL ? "NULL" : profile);
  }
  atomic_store(&current_, soc);
  return ACLPY_ACL_SUCCESS;
}

const char *aclpy_soc_name(void) {
  const struct eng_soc *soc = eng_soc();
  return soc != NULL ? soc->name : NULL;
}
