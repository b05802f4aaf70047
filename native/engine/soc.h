/* SPDX-License-Identifier: Apache-2.0
 * The SoC profile in force (ACLNN_PY_SOC), as far as the engine is concerned.
 */
#ifndef ACLPY_ENGINE_SOC_H
#define ACLPY_ENGINE_SOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct eng_soc {
  const char *profile;
  const char *name;             /* aclrtGetSocName */
  size_t allocation_padding;    /* bytes that aclrtMalloc adds after rounding */
  bool peer_copies_need_access; /* copies between devices need aclrtDeviceEnablePeerAccess */
  bool bf16;
  uint32_t streams, events, notifies; /* of a device */
};

/* NULL when ACLNN_PY_SOC names no profile. */
const struct eng_soc *eng_soc(void);
size_t eng_soc_allocation_padding(void);

#endif
