/* SPDX-License-Identifier: Apache-2.0
 * The three calls of the two-phase cycle as an extension module of their own, aclnn_native._calls.
 *
 * cffi serves every other call. Here it would cost more than the calls do: an object in Python for each executor,
 * handles turned into numbers and back, and the interpreter lock let go and taken again around calls that cannot block.
 * These keep it as long as the engine says that they end at once. Stable ABI of CPython 3.10.
 */
#include <Python.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <structmember.h>

#include "engine.h"

enum { SPENT, ONE_SHOT, REPEATABLE };
enum { INLINE_TENSORS = 4, MOST_TENSORS = 128, EXECUTE_ARGUMENTS = 5 };

struct executor_ {
  PyObject ob_base;
  PyObject *weak_references;
  PyObject *keep;
  aclpy_handle handle;
  unsigned char state;
  bool at_once; /* its plan may run on the calling thread, and then takes microseconds */
};

struct binder_ {
  PyObject ob_base;
  PyTypeObject *type; /* of the executors */
  PyObject *workspace_bytes;
  aclpy_handle plan;
  bool at_once;
};

static PyTypeObject *executor_type_;
static PyObject *watcher_; /* is told of each executor; NULL: nobody */

/* ---- numbers ---- */

/* Handles and addresses; faster than PyLong_AsUnsignedLongLong, which goes byte by byte. */
static bool as_uint64_(PyObject *number, uint64_t *value) {
  if (!PyLong_Check(number)) {
    PyErr_SetString(PyExc_TypeError, "an int is needed");
    return false;
  }
  int overflow = 0;
  long small = PyLong_AsLongAndOverflow(number, &overflow);
  if (overflow == 0 && small >= 0) {
    *value = (uint64_t)small;
    return true;
  }
  unsigned long long large = PyLong_AsUnsignedLongLong(number); /* raises OverflowError for negative ones */
  *value = large;
  return large != (unsigned long long)-1 || PyErr_Occurred() == NULL;
}

/* ---- executors ---- */

static void executor_dealloc_(PyObject *self) {
  struct executor_ *executor = (struct executor_ *)self;
  PyTypeObject *type = Py_TYPE(self);
  if (executor->weak_references != NULL) PyObject_ClearWeakRefs(self);
  if (executor->state != SPENT) aclpy_executor_discard(executor->handle);
  Py_XDECREF(executor->keep);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

static PyMemberDef executor_members_[] = {
    {"_handle", T_ULONGLONG, offsetof(struct executor_, handle), READONLY, NULL},
    {"_keep", T_OBJECT_EX, offsetof(struct executor_, keep), READONLY, NULL},
    {"_state", T_UBYTE, offsetof(struct executor_, state), 0, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(struct executor_, weak_references), READONLY, NULL},
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
    .basicsize = (int)sizeof(struct executor_),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = executor_slots_,
};

/* Takes over the native executor. */
static PyObject *wrap_(const struct binder_ *binder, aclpy_handle handle, PyObject *keep) {
  PyObject *made = PyType_GenericAlloc(binder->type, 0);
  if (made == NULL) {
    aclpy_executor_discard(handle);
    return NULL;
  }
  struct executor_ *executor = (struct executor_ *)made;
  executor->handle = handle;
  executor->state = ONE_SHOT;
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

/* ---- phase 1 ---- */

static aclpy_handle new_executor_(aclpy_handle plan, const aclpy_handle *tensors, Py_ssize_t n) {
  if (n <= INLINE_TENSORS) return aclpy_executor_new(plan, tensors[0], tensors[1], tensors[2], tensors[3]);
  aclpy_handle executor = 0;
  return aclpy_executor_create(plan, tensors, (int32_t)n, &executor) == 0 ? executor : 0;
}

PyDoc_STRVAR(bind_doc_,
             "bind(*tensors, keep)\n--\n\n"
             "(workspace size, executor) for tensors by handle, or None: the thread's last error says why.\n"
             "`keep` lives as long as the executor.");

static PyObject *bind_(PyObject *self, PyObject *const *arguments, Py_ssize_t n) {
  const struct binder_ *binder = (const struct binder_ *)self;
  aclpy_handle tensors[MOST_TENSORS]; /* softmax with 32 post operations takes 66 */
  for (int i = 0; i < INLINE_TENSORS; i++) tensors[i] = 0;
  if (n < 1 || n - 1 > MOST_TENSORS) {
    return PyErr_Format(PyExc_TypeError, "bind() takes up to %d tensors and what to keep, not %zd arguments",
                        (int)MOST_TENSORS, n);
  }
  for (Py_ssize_t i = 0; i < n - 1; i++) {
    if (!as_uint64_(arguments[i], &tensors[i])) return NULL;
  }
  aclpy_handle handle = new_executor_(binder->plan, tensors, n - 1);
  if (handle == 0) Py_RETURN_NONE;
  PyObject *executor = wrap_(binder, handle, arguments[n - 1]);
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

static PyObject *binder_new_(PyTypeObject *type, PyObject *arguments, PyObject *names) {
  static char *keywords[] = {"executor_type", "plan", "workspace_bytes", NULL};
  PyObject *executor_type, *plan, *workspace_bytes;
  if (!PyArg_ParseTupleAndKeywords(arguments, names, "O!OO!:Binder", keywords, &PyType_Type, &executor_type, &plan,
                                   &PyLong_Type, &workspace_bytes)) {
    return NULL;
  }
  if (!PyType_IsSubtype((PyTypeObject *)executor_type, executor_type_)) {
    PyErr_SetString(PyExc_TypeError, "executor_type must be a class of executors");
    return NULL;
  }
  uint64_t handle;
  if (!as_uint64_(plan, &handle)) return NULL;
  PyObject *made = PyType_GenericAlloc(type, 0);
  if (made == NULL) return NULL;
  struct binder_ *binder = (struct binder_ *)made;
  Py_INCREF(executor_type);
  binder->type = (PyTypeObject *)executor_type;
  Py_INCREF(workspace_bytes);
  binder->workspace_bytes = workspace_bytes;
  binder->plan = handle;
  binder->at_once = aclpy_plan_is_small(handle) != 0;
  return made;
}

static void binder_dealloc_(PyObject *self) {
  struct binder_ *binder = (struct binder_ *)self;
  PyTypeObject *type = Py_TYPE(self);
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

static PyType_Slot binder_slots_[] = {
    {Py_tp_new, binder_new_},
    {Py_tp_dealloc, binder_dealloc_},
    {Py_tp_methods, binder_methods_},
    {Py_tp_doc, "Binder(executor_type, plan, workspace_bytes)\n--\n\nMakes the executors of one native plan."},
    {0, NULL},
};

static PyType_Spec binder_spec_ = {
    .name = "aclnn_native._calls.Binder",
    .basicsize = (int)sizeof(struct binder_),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = binder_slots_,
};

/* ---- phase 2 ---- */

PyDoc_STRVAR(execute_doc_,
             "execute(operator, workspace, workspace_size, executor, stream)\n--\n\n"
             "Phase 2 by numbers, but for the executor; its status. TypeError or OverflowError for anything else.");

static PyObject *execute_(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
  (void)module;
  uint64_t op, workspace, size, stream;
  if (n != EXECUTE_ARGUMENTS || !PyObject_TypeCheck(arguments[3], executor_type_)) {
    PyErr_SetString(PyExc_TypeError, "an operator, a workspace, its size, an executor and a stream are needed");
    return NULL;
  }
  if (!as_uint64_(arguments[0], &op) || !as_uint64_(arguments[1], &workspace) || !as_uint64_(arguments[2], &size) ||
      !as_uint64_(arguments[4], &stream)) {
    return NULL;
  }
  struct executor_ *executor = (struct executor_ *)arguments[3];
  int32_t status;
  if (executor->at_once && !aclpy_bench_is_on()) {
    status = aclpy_execute((uint32_t)op, (uintptr_t)workspace, size, executor->handle, stream);
  } else {
    aclpy_handle handle = executor->handle;
    PyThreadState *thread = PyEval_SaveThread();
    status = aclpy_execute((uint32_t)op, (uintptr_t)workspace, size, handle, stream);
    PyEval_RestoreThread(thread);
  }
  if (status == 0 && executor->state == ONE_SHOT) executor->state = SPENT;
  return PyLong_FromLong(status);
}

/* ---- waiting ---- */

PyDoc_STRVAR(synchronize_doc_, "synchronize(context, stream)\n--\n\nWait for a stream, by handles; the status.");

static PyObject *synchronize_(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
  (void)module;
  uint64_t context, stream;
  if (n != 2) {
    PyErr_SetString(PyExc_TypeError, "a context and a stream are needed");
    return NULL;
  }
  if (!as_uint64_(arguments[0], &context) || !as_uint64_(arguments[1], &stream)) return NULL;
  int32_t status = 0;
  if (!aclpy_stream_is_quiet(stream)) {
    PyThreadState *thread = PyEval_SaveThread();
    status = aclpy_stream_synchronize(context, stream);
    PyEval_RestoreThread(thread);
  }
  return PyLong_FromLong(status);
}

/* ---- the module ---- */

PyDoc_STRVAR(watch_doc_,
             "watch(watcher)\n--\n\n"
             "Call `watcher` with each executor made from now on, None: nobody. Returns the one before.");

static PyObject *watch_(PyObject *module, PyObject *watcher) {
  (void)module;
  PyObject *before = watcher_;
  Py_INCREF(watcher);
  watcher_ = watcher;
  if (watcher == Py_None) Py_CLEAR(watcher_);
  if (before == NULL) Py_RETURN_NONE;
  return before;
}

static PyMethodDef methods_[] = {
    {"execute", (PyCFunction)(void (*)(void))execute_, METH_FASTCALL, execute_doc_},
    {"synchronize", (PyCFunction)(void (*)(void))synchronize_, METH_FASTCALL, synchronize_doc_},
    {"watch", watch_, METH_O, watch_doc_},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module_ = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "aclnn_native._calls",
    .m_doc = "Phase 1, phase 2 and synchronise without cffi.",
    .m_size = -1,
    .m_methods = methods_,
};

/* A reference that stays with us; the module has one of its own. */
static PyObject *add_type_(PyObject *module, const char *name, PyType_Spec *spec) {
  PyObject *type = PyType_FromSpec(spec);
  if (type == NULL) return NULL;
  Py_INCREF(type);
  if (PyModule_AddObject(module, name, type) == 0) return type;
  Py_DECREF(type);
  Py_DECREF(type);
  return NULL;
}

PyMODINIT_FUNC PyInit__calls(void) {
  PyObject *module = PyModule_Create(&module_);
  if (module == NULL) return NULL;
  executor_type_ = (PyTypeObject *)add_type_(module, "Executor", &executor_spec_);
  PyObject *binder = executor_type_ == NULL ? NULL : add_type_(module, "Binder", &binder_spec_);
  if (binder == NULL || PyModule_AddIntConstant(module, "SPENT", SPENT) != 0 ||
      PyModule_AddIntConstant(module, "ONE_SHOT", ONE_SHOT) != 0 ||
      PyModule_AddIntConstant(module, "REPEATABLE", REPEATABLE) != 0) {
    Py_CLEAR(module);
  }
  Py_XDECREF(binder);
  return module;
}
