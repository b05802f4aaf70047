/* SPDX-License-Identifier: Apache-2.0
 * The calls of the two-phase cycle as an extension module of their own, aclnn_native._calls.
 *
 * cffi serves every other call. Here it would cost more than the calls do: an object in Python for each executor,
 * handles turned into numbers and back, and the interpreter lock let go and taken again around calls that cannot block.
 * These keep it as long as the engine says that they end at once. What is not exactly what the fast way expects goes
 * to a function in Python, which checks everything and says what is wrong.
 */
#include "calls.h"

enum { EXECUTE_ARGUMENTS = 5 };

/* ---- arguments ---- */

bool calls_as_uint64(PyObject *number, uint64_t *value) {
  if (number == NULL || !PyLong_Check(number)) {
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

bool calls_learn(struct calls_number *known, PyObject *number) {
  uint64_t value;
  if (!calls_as_uint64(number, &value)) return false;
  PyObject *before = known->of;
  Py_INCREF(number);
  known->of = number;
  known->value = value;
  Py_XDECREF(before);
  return true;
}

static PyObject *by_name_(PyObject *const *values, PyObject *names) {
  PyObject *found = PyDict_New();
  Py_ssize_t n = found == NULL ? 0 : PyTuple_Size(names);
  for (Py_ssize_t i = 0; i < n; i++) {
    if (PyDict_SetItem(found, PyTuple_GetItem(names, i), values[i]) != 0) {
      Py_DECREF(found);
      return NULL;
    }
  }
  return found;
}

PyObject *calls_checked(PyObject *checked, PyObject *const *arguments, Py_ssize_t n, PyObject *names) {
  PyObject *positional = PyTuple_New(n);
  if (positional == NULL) return NULL;
  for (Py_ssize_t i = 0; i < n; i++) {
    Py_INCREF(arguments[i]);
    (void)PyTuple_SetItem(positional, i, arguments[i]);
  }
  PyObject *named = names == NULL ? NULL : by_name_(arguments + n, names);
  PyObject *answer = NULL;
  if (names == NULL || named != NULL) answer = PyObject_Call(checked, positional, named);
  Py_XDECREF(named);
  Py_DECREF(positional);
  return answer;
}

/* ---- by numbers ---- */

PyDoc_STRVAR(execute_doc_,
             "execute(operator, workspace, workspace_size, executor, stream)\n--\n\n"
             "Phase 2 by numbers, but for the executor; its status. TypeError or OverflowError for anything else.");

static PyObject *execute_(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
  (void)module;
  uint64_t op, workspace, size, stream;
  if (n != EXECUTE_ARGUMENTS || !PyObject_TypeCheck(arguments[3], calls_executor_type)) {
    PyErr_SetString(PyExc_TypeError, "an operator, a workspace, its size, an executor and a stream are needed");
    return NULL;
  }
  if (!calls_as_uint64(arguments[0], &op) || !calls_as_uint64(arguments[1], &workspace) ||
      !calls_as_uint64(arguments[2], &size) || !calls_as_uint64(arguments[4], &stream)) {
    return NULL;
  }
  struct calls_executor *executor = (struct calls_executor *)arguments[3];
  return PyLong_FromLong(calls_run((uint32_t)op, workspace, size, executor, stream));
}

/* ---- of descriptions ---- */

PyDoc_STRVAR(dense_numel_doc_,
             "dense_numel(dims, strides)\n--\n\n"
             "Elements of a dense row-major tensor; -1 where strides are others, or sizes are negative or too large.");

/* False with an exception: no number, or too large. */
static bool number_(PyObject *tuple, Py_ssize_t at, long long *number) {
  *number = PyLong_AsLongLong(PyTuple_GetItem(tuple, at));
  return *number != -1 || PyErr_Occurred() == NULL;
}

static PyObject *dense_numel_(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
  (void)module;
  if (n != 2 || !PyTuple_Check(arguments[0]) || !PyTuple_Check(arguments[1])) {
    PyErr_SetString(PyExc_TypeError, "a tuple of sizes and one of strides are needed");
    return NULL;
  }
  Py_ssize_t rank = PyTuple_Size(arguments[0]);
  long long numel = rank == PyTuple_Size(arguments[1]) ? 1 : -1;
  while (numel >= 0 && rank-- > 0) {
    long long size, stride;
    const bool known = number_(arguments[0], rank, &size) && number_(arguments[1], rank, &stride);
    if (!known || stride != numel || size < 0 || __builtin_mul_overflow(numel, size, &numel)) numel = -1;
  }
  PyErr_Clear();
  return PyLong_FromLongLong(numel);
}

/* ---- the module ---- */

PyDoc_STRVAR(watch_doc_,
             "watch(watcher)\n--\n\n"
             "Call `watcher` with each executor made from now on, None: nobody. Returns the one before.");
PyDoc_STRVAR(
    phase_one_doc_,
    "phase_one(name, doc, module, kinds, names, defaults, plans, checked, fail, missing=None)\n--\n\n"
    "A phase-1 function.\n\n"
    "`kinds` has a letter for each argument, t for tensors and i for ints; `defaults` are of the last ones.\n"
    "`plans` gives the Binder of a call by its layouts and ints, in order, and for each pair of tensors,\n"
    "whether both are one; whoever takes an entry out calls `forget_plans`. What it does not have, and every call that "
    "is not like that, goes to `checked`.\n"
    "`fail` raises the last error. `missing` makes the Binder that `plans` does not have, from its key, the tensors\n"
    "and the ints; without it that is up to `checked`, too.");
PyDoc_STRVAR(phase_two_doc_,
             "phase_two(name, doc, module, number, checked, fail)\n--\n\n"
             "A phase-2 function of workspace, workspaceSize, executor and stream. `fail` raises for a status;\n"
             "`checked` is called where an argument is of another kind.");
PyDoc_STRVAR(moved_doc_, "moved()\n--\n\nMemory has moved: prepared calls are to be checked anew.");
PyDoc_STRVAR(moves_doc_, "moves()\n--\n\nHow often `moved` was called.");

PyDoc_STRVAR(forget_plans_doc_,
             "forget_plans()\n--\n\n"
             "Some `plans` of phase-1 functions have lost entries: what was found there is to be looked up anew.");
PyDoc_STRVAR(plan_doc_,
             "plan(operator, flags, workspace_bytes, slots, steps, launches, hazards, refusal, aligned, n_chains,\n"
             "     chains, /)\n--\n\n"
             "The handle of a new native plan, which the caller owns, or minus the status.\n\n"
             "`slots`, `steps` and `hazards` are the planner's tuples; `launches` has a tuple for each step: the\n"
             "address of its kernel, or 0, then those of its call and token. `aligned`: addresses must be multiples\n"
             "of the element size. `chains` is the address of `n_chains` descriptions.");

PyDoc_STRVAR(wait_doc_,
             "wait(what, *numbers)\n--\n\n"
             "The status of a call that waits: `DEVICE` of a context, `EVENT` of one, `MEMORY` at an address,\n"
             "`REPORT` with a time, `STREAM`, `STREAM_CLOSE` and `STREAM_DESTROY` of a context and a stream;\n"
             "`DEVICE_UNTIL`, `EVENT_UNTIL` and `STREAM_UNTIL` with a time behind. Times in milliseconds. What a "
             "signal's handler\n"
             "raises meanwhile ends the wait.");

static PyMethodDef methods_[] = {
    {"dense_numel", (PyCFunction)(void (*)(void))dense_numel_, METH_FASTCALL, dense_numel_doc_},
    {"execute", (PyCFunction)(void (*)(void))execute_, METH_FASTCALL, execute_doc_},
    {"forget_plans", calls_forget_plans, METH_NOARGS, forget_plans_doc_},
    {"moved", calls_moved, METH_NOARGS, moved_doc_},
    {"moves", calls_moves, METH_NOARGS, moves_doc_},
    {"phase_one", (PyCFunction)(void (*)(void))calls_phase_one, METH_VARARGS | METH_KEYWORDS, phase_one_doc_},
    {"phase_two", (PyCFunction)(void (*)(void))calls_phase_two, METH_VARARGS | METH_KEYWORDS, phase_two_doc_},
    {"plan", calls_plan, METH_VARARGS, plan_doc_},
    {"wait", (PyCFunction)(void (*)(void))calls_wait_for, METH_FASTCALL, wait_doc_},
    {"watch", calls_watch, METH_O, watch_doc_},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module_ = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "aclnn_native._calls",
    .m_doc = "Phase 1, phase 2 and synchronise without cffi.",
    .m_size = -1,
    .m_methods = methods_,
};

PyTypeObject *calls_add_type(PyObject *module, const char *name, PyType_Spec *spec, PyTypeObject *base) {
  PyObject *bases = base == NULL ? NULL : PyTuple_Pack(1, base);
  if (base != NULL && bases == NULL) return NULL;
  PyObject *type = PyType_FromSpecWithBases(spec, bases);
  Py_XDECREF(bases);
  if (type == NULL || name == NULL) return (PyTypeObject *)type;
  Py_INCREF(type);
  if (PyModule_AddObject(module, name, type) == 0) return (PyTypeObject *)type;
  Py_DECREF(type);
  Py_DECREF(type);
  return NULL;
}

PyMODINIT_FUNC PyInit__calls(void) {
  PyObject *module = PyModule_Create(&module_);
  if (module == NULL) return NULL;
  if (!calls_add_nouns(module) || !calls_add_executors(module) || !calls_add_phases(module) ||
      !calls_add_prepared(module) || !calls_add_waits(module) ||
      PyModule_AddIntConstant(module, "SPENT", CALLS_SPENT) != 0 ||
      PyModule_AddIntConstant(module, "ONE_SHOT", CALLS_ONE_SHOT) != 0 ||
      PyModule_AddIntConstant(module, "REPEATABLE", CALLS_REPEATABLE) != 0) {
    Py_CLEAR(module);
  }
  return module;
}
