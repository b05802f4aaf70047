/* SPDX-License-Identifier: Apache-2.0
 * The two phases of every operator, as the C functions written at build time call them.
 *
 * Phase 1 makes a key of the tensors' interned layouts, the attributes' bits and which tensors are the same object. The
 * planner answers a known key with one lookup, and what it answered lately is remembered here. Phase 2 enters no
 * Python.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "aclpy_status.h"
#include "capi.h"
#include "executor.h"
#include "handle_table.h"
#include "known_plans.h"
#include "log.h"
#include "tensor.h"
#include "thread.h"

enum { MOST_PARAMETERS = 62, KEY_WORDS = MOST_PARAMETERS + 1 };

struct request_ {
  int64_t key[KEY_WORDS];
  aclpy_handle tensors[MOST_PARAMETERS];
  int32_t n_key, n_tensors;
};

static uint32_t id_(struct capi_operator *op) {
  uint32_t id = atomic_load_explicit(&op->id, memory_order_relaxed);
  if (id == 0) {
    id = aclpy_operator_id(op->name);
    atomic_store_explicit(&op->id, id, memory_order_relaxed);
  }
  return id;
}

/* "aclnnXGetWorkspaceSize" for messages. */
struct phase_one_ {
  char name[128];
};

static const char *phase_one_(const struct capi_operator *op, struct phase_one_ *text) {
  static const char ending[] = "GetWorkspaceSize";
  size_t length = strlen(op->name);
  if (length + sizeof(ending) > sizeof(text->name)) return op->name;
  memcpy(text->name, op->name, length);
  memcpy(text->name + length, ending, sizeof(ending));
  return text->name;
}

static int32_t refuse_null_(const struct capi_operator *op, const char *argument) {
  struct phase_one_ text;
  return aclpy_fail(ACLPY_ACLNN_ERR_PARAM_NULLPTR, phase_one_(op, &text), argument, "the address of a variable",
                    "pass both workspaceSize and executor", "NULL");
}

/* A program that ignores the status goes on with tensors that nobody has written, so the log has it, too. */
static int32_t refuse_unknown_(struct capi_operator *op) {
  struct phase_one_ text;
  const char *function = phase_one_(op, &text);
  if (!atomic_exchange_explicit(&op->told, true, memory_order_relaxed)) {
    eng_log_error(function,
                  "declared but not implemented, nothing is computed: 561003, said once; `aclnn-py ops` lists what is");
  }
  return aclpy_fail(ACLPY_ACLNN_ERR_INNER_FIND_KERNEL_ERROR, function, "", "an operator that exists here",
                    "`aclnn-py ops` lists them", "%s, which is declared but not implemented", op->name);
}

/* The layout of a live tensor, 0 for NULL; false after a failure. */
static bool layout_(const struct capi_operator *op, size_t i, aclpy_handle handle, int64_t *layout) {
  *layout = 0;
  if (handle == 0) return true;
  struct eng_tensor *tensor = eng_handle_acquire(ENG_TENSOR, handle);
  if (tensor == NULL) {
    struct phase_one_ text;
    (void)eng_tensor_refuse(handle, phase_one_(op, &text), op->names[i]);
    return false;
  }
  *layout = (int64_t)atomic_load_explicit(&tensor->layout_id, memory_order_acquire);
  eng_release(&tensor->head);
  return true;
}

/* One bit for each pair of tensors that are the same object. */
static int64_t same_(const struct request_ *request) {
  uint64_t bits = 0;
  uint32_t bit = 0;
  for (int32_t a = 0; a < request->n_tensors; a++) {
    for (int32_t b = a + 1; b < request->n_tensors; b++, bit++) {
      if (bit < 64 && request->tensors[a] == request->tensors[b]) bits |= UINT64_C(1) << bit;
    }
  }
  return (int64_t)bits;
}

static int32_t pack_(struct capi_operator *op, const union capi_value *values, struct request_ *request) {
  size_t n = strlen(op->kinds);
  if (n > MOST_PARAMETERS) return refuse_unknown_(op);
  request->n_tensors = 0;
  for (size_t i = 0; i < n; i++) {
    int64_t *word = &request->key[i];
    if (op->kinds[i] == 'T') {
      request->tensors[request->n_tensors++] = values[i].handle;
      if (!layout_(op, i, values[i].handle, word)) return ACLPY_ACLNN_ERR_PARAM_INVALID;
    } else {
      memcpy(word, &values[i], sizeof(*word));
    }
  }
  request->key[n] = same_(request);
  request->n_key = (int32_t)n + 1;
  return ACLPY_ACL_SUCCESS;
}

/* An executor of the plan that the planner has for a call. */
static int32_t ask_(aclpy_planner planner, const struct capi_call *call, const struct request_ *request, uint64_t *size,
                    aclpy_handle *made) {
  uint64_t era = capi_plans_era();
  int64_t plan = planner(call->op->name, request->key, request->n_key, request->tensors, size);
  if (plan <= 0) return plan < 0 ? (int32_t)-plan : ACLPY_ACLNN_ERR_INNER;
  int32_t status = aclpy_executor_create((aclpy_handle)plan, request->tensors, request->n_tensors, made);
  if (status == ACLPY_ACL_SUCCESS) capi_plans_keep(call, era, (aclpy_handle)plan, *size);
  return status;
}

int32_t capi_plan(struct capi_operator *op, const union capi_value *values, uint64_t *workspace_size,
                  aclOpExecutor **executor) {
  if (workspace_size == NULL) return refuse_null_(op, "workspaceSize");
  if (executor == NULL) return refuse_null_(op, "executor");
  if (op->names == NULL) return refuse_unknown_(op);
  aclpy_planner planner = capi_planner(op->name);
  if (planner == NULL) return ACLPY_ACL_ERROR_INTERNAL_ERROR;
  struct request_ request;
  int32_t status = pack_(op, values, &request);
  if (status != ACLPY_ACL_SUCCESS) return status;
  const struct capi_call call = {op, request.key, request.n_key};
  uint64_t size = 0;
  aclpy_handle made = 0;
  struct eng_plan *known = eng_stopping() ? NULL : capi_plans_find(&call, &size);
  status =
      known != NULL ? eng_executor_make(known, request.tensors, &made) : ask_(planner, &call, &request, &size, &made);
  if (status != ACLPY_ACL_SUCCESS) return status;
  *workspace_size = size;
  *executor = capi_pointer(made);
  return ACLPY_ACL_SUCCESS;
}

int32_t capi_run(struct capi_operator *op, void *workspace, uint64_t workspace_size, aclOpExecutor *executor,
                 aclrtStream stream) {
  return aclpy_execute(id_(op), (uintptr_t)workspace, workspace_size, capi_handle(executor), capi_handle(stream));
}
