/* SPDX-License-Identifier: Apache-2.0
 * Finds kernels in the tables that the build generated.
 *
 * kernel_list.inc is written at build time; no list is kept by hand. A build without CMake does, once:
 *   python3 tools/kernel_list.py --output BUILD/kernel_list.inc native/kernels/<every .c>
 *   for each ISA of `python3 tools/kernel_list.py --print-isas`, each native/kernels/<name>.c:
 *     cc -std=c11 -O2 -ffp-contract=off -fno-math-errno -fno-trapping-math -Inative/kernels \
 *        -DACLPY_KERNEL_ISA=<isa> $(python3 tools/kernel_list.py --flags <isa>) -c ... -o <name>.<isa>.o
 *   and compiles native/dispatch/<every .c> with -IBUILD -Inative/kernels.
 * (--machine aarch64 in front of both where the target is not the building machine.)
 */
#include <string.h>

#include "kernel.h"

typedef struct kernel_table_ {
  uint32_t isa;
  const aclpy_kernel *kernels; /* ends with a row without a name */
} kernel_table_;

#include "kernel_list.inc"

enum { TABLES = sizeof tables_ / sizeof tables_[0] };

const aclpy_kernel *aclpy_kernel_find(const char *name, const char *dtype, uint32_t allowed_isas) {
  if (name == NULL || dtype == NULL) return NULL;
  const uint32_t usable = allowed_isas & aclpy_isa_supported();
  for (size_t t = 0; t < TABLES; ++t) {
    if ((tables_[t].isa & usable) == 0) continue;
    for (const aclpy_kernel *k = tables_[t].kernels; k->name != NULL; ++k) {
      if (strcmp(k->name, name) == 0 && strcmp(k->dtype, dtype) == 0) return k;
    }
  }
  return NULL;
}

const aclpy_kernel *aclpy_kernel_at(size_t index) {
  for (size_t t = 0; t < TABLES; ++t) {
    for (const aclpy_kernel *k = tables_[t].kernels; k->name != NULL; ++k) {
      if (index-- == 0) return k;
    }
  }
  return NULL;
}
