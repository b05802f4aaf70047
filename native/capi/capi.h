/* SPDX-License-Identifier: Apache-2.0
 * The C names on top of the engine. Handles travel as the pointers of the vendor's prototypes and are never
 * dereferenced; what needs planning goes to the planner in Python, everything else stays here.
 */
#ifndef ACLPY_CAPI_H
#define ACLPY_CAPI_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "aclnn/acl_meta.h"
#include "engine.h"

/* One argument of a phase 1, by the letter of its kind in capi_operator.kinds. */
union capi_value {
  uint64_t handle;     /* T: a tensor */
  const void *pointer; /* p: any other object or string */
  int64_t integer;     /* i, b */
  double real;         /* d, f */
};

/* One operator of the vendor, written at build time for every one of them. */
struct capi_operator {
  const char *name;         /* phase 2 */
  const char *kinds;        /* a letter a parameter: T tensor, i integer, b bool, d double, f float, p other */
  const char *const *names; /* of the parameters; NULL where no spec exists, so that nothing can be planned */
  _Atomic uint32_t id;
  _Atomic bool told; /* that it is not implemented: once in the log */
};

/* Phase 1 of any operator. `values` are in C order. */
int32_t capi_plan(struct capi_operator *op, const union capi_value *values, uint64_t *workspace_size,
                  aclOpExecutor **executor);
/* Phase 2 of any operator: enqueues and returns. */
int32_t capi_run(struct capi_operator *op, void *workspace, uint64_t workspace_size, aclOpExecutor *executor,
                 aclrtStream stream);

/* The planner's entry, starting Python where that is needed; NULL after a failure, whose text is kept. */
aclpy_planner capi_planner(const char *function);

static inline aclpy_handle capi_handle(const void *pointer) { return (aclpy_handle)(uintptr_t)pointer; }
static inline void *capi_pointer(aclpy_handle handle) { return (void *)(uintptr_t)handle; }

/* Out-parameters go through a local of the engine's type: NULL stays NULL, so that the engine refuses it by its rules,
 * and a success is written through the caller's own type. */
#define CAPI_OUT(to, local) ((to) == NULL ? NULL : (local))
static inline int32_t capi_give(void **to, const aclpy_handle *made, int32_t status) {
  if (status == 0 && to != NULL) *to = capi_pointer(*made);
  return status;
}
static inline int32_t capi_give_address(void **to, const uintptr_t *address, int32_t status) {
  if (status == 0 && to != NULL) *to = (void *)*address;
  return status;
}

/* What a function that does not exist here answers: its message, which says why, and 200001 or 207000. */
int32_t capi_lacking(const char *function, int32_t status, const char *reason);

#endif
