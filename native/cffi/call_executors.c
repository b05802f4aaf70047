/* SPDX-License-Identifier: Apache-2.0
 * Executors as Python objects, and what makes them of a plan.
 */
#include "calls.h"

PyTypeObject *calls_executor_type, *calls_binder_type;
static PyObject *watcher_; /* is told of each executor; NULL: nobody */

/* ---- executors ---- */

static void executor_dealloc_(PyObject *self) {
  struct calls_executor *executor = (struct calls_executor *)self;
  PyTypeObject *type = Py_TYPE(self);
  if (executor->weak_references != NULL) PyObject_ClearWeakRefs(self);
  if (executor->state != CALLS_SPENT) aclpy_executor_discard(executor->handle);
  Py_XDECREF(executor->keep);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

static PyMemberDef executor_members_[] = {
    {"_handle", T_ULONGLONG, offsetof(struct calls_executor, handle), READONLY, NULL},
    {"_keep", T_OBJECT_EX, offsetof(struct calls_executor, keep), READONLY, NULL},
    {"_state", T_UBYTE, offsetof(struct calls_executor, state), 0, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(struct calls_executor, weak_references), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot executor_slots_[] = {
    {Py_tp_dealloc, executor_dealloc_},
    {Py_tp_members, executor_members_},
    {Py_tp_doc, "What every executor holds: the native one, what it keeps alive, and whether it is spent."},
    {0, NULL},
};

static PyType_Spec executor_spec_ = {
    .name = "aclnn_native._calls.Executor",
    .basicsize = (int)sizeof(struct calls_executor),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = executor_slots_,
};

/* Takes over the native executor. */
static PyObject *wrap_(const struct calls_binder *binder, aclpy_handle handle, PyObject *keep) {
  PyObject *made = PyType_GenericAlloc(binder->type, 0);
  if (made == NULL) {
    aclpy_executor_discard(handle);
    return NULL;
  }
  struct calls_executor *executor = (struct calls_executor *)made;
  executor->handle = handle;
  executor->state = CALLS_ONE_SHOT;
  executor->at_once = binder->at_once;
  Py_INCREF(keep);
  executor->keep = keep;
  if (watcher_ != NULL) {
    PyObject *answer = PyObject_CallFunctionObjArgs(watcher_, made, NULL);
    Py_XDECREF(answer);
    if (answer == NULL) Py_CLEAR(made);
  }
  return made;
}

PyObject *calls_watch(PyObject *module, PyObject *watcher) {
  (void)module;
  PyObject *before = watcher_;
  Py_INCREF(watcher);
  watcher_ = watcher;
  if (watcher == Py_None) Py_CLEAR(watcher_);
  if (before == NULL) Py_RETURN_NONE;
  return before;
}

int32_t calls_run(uint32_t op, uint64_t workspace, uint64_t size, struct calls_executor *executor, uint64_t stream) {
  int32_t status;
  if (executor->at_once && !aclpy_bench_is_on()) {
    status = aclpy_execute(op, (uintptr_t)workspace, size, executor->handle, stream);
  } else {
    aclpy_handle handle = executor->handle;
    PyThreadState *thread = PyEval_SaveThread();
    status = aclpy_execute(op, (uintptr_t)workspace, size, handle, stream);
    PyEval_RestoreThread(thread);
  }
  if (status == 0 && executor->state == CALLS_ONE_SHOT) executor->state = CALLS_SPENT;
  return status;
}

/* ---- phase 1 ---- */

static aclpy_handle new_executor_(aclpy_handle plan, const aclpy_handle *tensors, Py_ssize_t n) {
  if (n <= CALLS_INLINE_TENSORS) return aclpy_executor_new(plan, tensors[0], tensors[1], tensors[2], tensors[3]);
  aclpy_handle executor = 0;
  return aclpy_executor_create(plan, tensors, (int32_t)n, &executor) == 0 ? executor : 0;
}

PyObject *calls_bind(const struct calls_binder *binder, const aclpy_handle *tensors, Py_ssize_t n, PyObject *keep) {
  aclpy_handle handle = new_executor_(binder->plan, tensors, n);
  if (handle == 0) Py_RETURN_NONE;
  PyObject *executor = wrap_(binder, handle, keep);
  if (executor == NULL) return NULL;
  PyObject *answer = PyTuple_New(2);
  if (answer == NULL) {
    Py_DECREF(executor);
    return NULL;
  }
  Py_INCREF(binder->workspace_bytes);
  (void)PyTuple_SetItem(answer, 0, binder->workspace_bytes);
  (void)PyTuple_SetItem(answer, 1, executor);
  return answer;
}

PyDoc_STRVAR(bind_doc_,
             "bind(*tensors, keep)\n--\n\n"
             "(workspace size, executor) for tensors by handle, or None: the thread's last error says why.\n"
             "`keep` lives as long as the executor.");

static PyObject *bind_(PyObject *self, PyObject *const *arguments, Py_ssize_t n) {
  aclpy_handle tensors[CALLS_MOST_TENSORS]; /* softmax with 32 post operations takes 66 */
  for (int i = 0; i < CALLS_INLINE_TENSORS; i++) tensors[i] = 0;
  if (n < 1 || n - 1 > CALLS_MOST_TENSORS) {
    return PyErr_Format(PyExc_TypeError, "bind() takes up to %d tensors and what to keep, not %zd arguments",
                        (int)CALLS_MOST_TENSORS, n);
  }
  for (Py_ssize_t i = 0; i < n - 1; i++) {
    if (!calls_as_uint64(arguments[i], &tensors[i])) return NULL;
  }
  return calls_bind((const struct calls_binder *)self, tensors, n - 1, arguments[n - 1]);
}

static PyObject *binder_new_(PyTypeObject *type, PyObject *arguments, PyObject *names) {
  static char *keywords[] = {"executor_type", "plan", "workspace_bytes", NULL};
  PyObject *executor_type, *plan, *workspace_bytes;
  if (!PyArg_ParseTupleAndKeywords(arguments, names, "O!OO!:Binder", keywords, &PyType_Type, &executor_type, &plan,
                                   &PyLong_Type, &workspace_bytes)) {
    return NULL;
  }
  if (!PyType_IsSubtype((PyTypeObject *)executor_type, calls_executor_type)) {
    PyErr_SetString(PyExc_TypeError, "executor_type must be a class of executors");
    return NULL;
  }
  uint64_t handle;
  if (!calls_as_uint64(plan, &handle)) return NULL;
  PyObject *made = PyType_GenericAlloc(type, 0);
  if (made == NULL) return NULL;
  struct calls_binder *binder = (struct calls_binder *)made;
  Py_INCREF(executor_type);
  binder->type = (PyTypeObject *)executor_type;
  Py_INCREF(workspace_bytes);
  binder->workspace_bytes = workspace_bytes;
  binder->plan = handle;
  binder->at_once = aclpy_plan_is_small(handle) != 0;
  return made;
}

static void binder_dealloc_(PyObject *self) {
  struct calls_binder *binder = (struct calls_binder *)self;
  PyTypeObject *type = Py_TYPE(self);
  if (binder->plan != 0) (void)aclpy_plan_release(binder->plan); /* executors have references of their own */
  Py_XDECREF(binder->type);
  Py_XDECREF(binder->workspace_bytes);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

static PyMethodDef binder_methods_[] = {
    {"bind", (PyCFunction)(void (*)(void))bind_, METH_FASTCALL, bind_doc_},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef binder_members_[] = {
    {"handle", T_ULONGLONG, offsetof(struct calls_binder, plan), READONLY, NULL},
    {"workspace_bytes", T_OBJECT_EX, offsetof(struct calls_binder, workspace_bytes), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot binder_slots_[] = {
    {Py_tp_new, binder_new_},
    {Py_tp_dealloc, binder_dealloc_},
    {Py_tp_methods, binder_methods_},
    {Py_tp_members, binder_members_},
    {Py_tp_doc, "Binder(executor_type, plan, workspace_bytes)\n--\n\nMakes the executors of one native plan."},
    {0, NULL},
};

static PyType_Spec binder_spec_ = {
    .name = "aclnn_native._calls.Binder",
    .basicsize = (int)sizeof(struct calls_binder),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = binder_slots_,
};

bool calls_add_executors(PyObject *module) {
  calls_executor_type = calls_add_type(module, "Executor", &executor_spec_, NULL);
  calls_binder_type = calls_add_type(module, "Binder", &binder_spec_, NULL);
  return calls_executor_type != NULL && calls_binder_type != NULL;
}
