/* SPDX-License-Identifier: Apache-2.0
 * Prepared calls: what was checked and bound once runs again as long as it is given the same objects.
 */
#include "calls.h"

enum { MOST_ITEMS = 512 };

/* The objects of a call in a row: each argument but the stream; of a dict, list or tuple a mark and then what is in
 * it. */
struct prepared_ {
  PyObject ob_base;
  PyObject *weak_references;
  PyObject **items; /* references; NULL: nothing is prepared */
  PyObject *executor;
  struct aclpy_ready *ready; /* of the second run on, if there can be one */
  bool asked;                /* for that */
  PyTypeObject *stream_type;
  PyObject *stream_handle; /* the stream's number as it was given: not the stream, which may go before this */
  Py_ssize_t n_items, n;   /* n: arguments */
  uint64_t stream, workspace, size, moves;
  uint32_t number;
};

static PyTypeObject *prepared_type_;
static PyObject *dict_mark_, *list_mark_; /* objects that nobody else has */
static PyObject *checked_name_, *refused_name_;
static uint64_t moves_;

PyObject *calls_moved(PyObject *module, PyObject *nothing) {
  (void)module;
  (void)nothing;
  moves_++;
  Py_RETURN_NONE;
}

PyObject *calls_moves(PyObject *module, PyObject *nothing) {
  (void)module;
  (void)nothing;
  return PyLong_FromUnsignedLongLong(moves_);
}

static int traverse_(PyObject *self, visitproc visit, void *arg) {
  struct prepared_ *prepared = (struct prepared_ *)self;
  Py_VISIT(Py_TYPE(self));
  for (Py_ssize_t i = 0; i < prepared->n_items; i++) Py_VISIT(prepared->items[i]);
  Py_VISIT(prepared->executor);
  Py_VISIT(prepared->stream_type);
  return 0;
}

static int clear_(PyObject *self) {
  struct prepared_ *prepared = (struct prepared_ *)self;
  PyObject **items = prepared->items;
  Py_ssize_t n = prepared->n_items;
  prepared->items = NULL;
  prepared->n_items = 0;
  aclpy_ready_free(prepared->ready);
  prepared->ready = NULL;
  prepared->asked = false;
  for (Py_ssize_t i = 0; i < n; i++) Py_DECREF(items[i]);
  PyMem_Free(items);
  Py_CLEAR(prepared->executor);
  Py_CLEAR(prepared->stream_type);
  Py_CLEAR(prepared->stream_handle);
  return 0;
}

static void dealloc_(PyObject *self) {
  struct prepared_ *prepared = (struct prepared_ *)self;
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (prepared->weak_references != NULL) PyObject_ClearWeakRefs(self);
  (void)clear_(self);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

/* ---- the objects of a call ---- */

/* Takes the objects one by one; false ends it. */
typedef bool visit_(void *state, PyObject *object);

static bool each_of_dict_(PyObject *dict, visit_ *visit, void *state) {
  PyObject *key, *value;
  Py_ssize_t at = 0;
  for (Py_ssize_t left = PyDict_Size(dict); left > 0 && PyDict_Next(dict, &at, &key, &value); left--) {
    if (!visit(state, key) || !visit(state, value)) return false;
  }
  return true;
}

static bool each_of_(PyObject *argument, visit_ *visit, void *state) {
  if (PyDict_CheckExact(argument)) return visit(state, dict_mark_) && each_of_dict_(argument, visit, state);
  bool list = PyList_CheckExact(argument);
  if (!list && !PyTuple_CheckExact(argument)) return visit(state, argument);
  if (!visit(state, list_mark_)) return false;
  Py_ssize_t n = list ? PyList_Size(argument) : PyTuple_Size(argument);
  for (Py_ssize_t i = 0; i < n; i++) {
    if (!visit(state, list ? PyList_GetItem(argument, i) : PyTuple_GetItem(argument, i))) return false;
  }
  return true;
}

struct against_ {
  PyObject *const *item, *const *end;
};

static bool same_(void *state, PyObject *object) {
  struct against_ *against = state;
  return against->item < against->end && *against->item++ == object;
}

static bool fits_(const struct prepared_ *prepared, PyObject *const *arguments, Py_ssize_t n) {
  if (prepared->items == NULL || n != prepared->n || prepared->moves != moves_) return false;
  if (Py_TYPE(arguments[0]) != prepared->stream_type ||
      ((struct calls_noun *)arguments[0])->handle != prepared->stream_handle) {
    return false;
  }
  struct against_ against = {.item = prepared->items, .end = prepared->items + prepared->n_items};
  for (Py_ssize_t i = 1; i < n; i++) {
    if (!each_of_(arguments[i], same_, &against)) return false;
  }
  return against.item == against.end;
}

/* ---- executing ---- */

PyDoc_STRVAR(execute_doc_,
             "execute($self, stream, *arguments)\n--\n\n"
             "Submit to a stream; returns before the result is there.\n\n"
             "Parameters\n----------\n"
             "stream : stream\n    Of the engine it was made for.\n"
             "*arguments\n"
             "    A primitive takes ``args``, memory by ``DNNL_ARG_*`` index: every argument of its\n"
             "    descriptor and no other. A compiled partition takes ``inputs`` and ``outputs``, sequences\n"
             "    of tensors, one for each port in any order, with the logical tensors that\n"
             "    ``query_logical_tensor`` gives, and perhaps a ``scratchpad`` tensor, at least as large as\n"
             "    ``get_scratchpad_logical_tensor`` says.\n\n"
             "Raises\n------\n"
             "OneDnnError\n"
             "    invalid_arguments for an unknown index or port, a missing argument, memory that is not\n"
             "    what its descriptor says or overlaps other memory; nothing has run then.\n\n"
             "Notes\n-----\n"
             "dst may be src, and diff_src may be diff_dst, where their descriptors are equal. Where the\n"
             "scratchpad is the library's, each call has its own, so that calls may overlap. A call with the\n"
             "objects of the one before is not checked again, as long as no data handle has changed; memory\n"
             "that was freed is found in every call.");

/* The interpreter lock is kept while a ready call runs, so nobody ends that meanwhile. */
static void make_ready_(struct prepared_ *prepared, const struct calls_executor *executor) {
  prepared->asked = true;
  prepared->ready = aclpy_ready_new(prepared->number, (uintptr_t)prepared->workspace, prepared->size, executor->handle,
                                    prepared->stream);
}

static PyObject *again_(struct prepared_ *prepared) {
  if (prepared->ready != NULL && aclpy_ready_run(prepared->ready)) Py_RETURN_NONE;
  PyObject *executor = prepared->executor;
  Py_INCREF(executor); /* without the interpreter lock another thread may prepare another call */
  int32_t status = calls_run(prepared->number, prepared->workspace, prepared->size, (struct calls_executor *)executor,
                             prepared->stream);
  if (status == 0 && !prepared->asked && prepared->executor == executor) {
    make_ready_(prepared, (struct calls_executor *)executor);
  }
  Py_DECREF(executor);
  if (status == 0) Py_RETURN_NONE;
  PyObject *number = PyLong_FromLong(status);
  if (number == NULL) return NULL;
  PyObject *answer = PyObject_CallMethodObjArgs((PyObject *)prepared, refused_name_, number, NULL);
  Py_DECREF(number);
  return answer;
}

static PyObject *execute_(PyObject *self, PyObject *const *arguments, Py_ssize_t n, PyObject *names) {
  struct prepared_ *prepared = (struct prepared_ *)self;
  if (names == NULL && n > 0 && fits_(prepared, arguments, n)) return again_(prepared);
  PyObject *checked = PyObject_GetAttr(self, checked_name_);
  if (checked == NULL) return NULL;
  PyObject *answer = calls_checked(checked, arguments, n, names);
  Py_DECREF(checked);
  return answer;
}

/* ---- preparing ---- */

struct row_ {
  PyObject *items[MOST_ITEMS];
  Py_ssize_t n;
};

static bool note_(void *state, PyObject *object) {
  struct row_ *row = state;
  if (row->n == MOST_ITEMS) return false;
  row->items[row->n++] = object;
  return true;
}

/* False, perhaps without an exception: too many objects. */
static bool keep_items_(struct prepared_ *prepared, PyObject *call) {
  struct row_ row;
  row.n = 0;
  for (Py_ssize_t i = 1; i < PyTuple_Size(call); i++) {
    if (!each_of_(PyTuple_GetItem(call, i), note_, &row)) return false;
  }
  PyObject **items = PyMem_Malloc((size_t)(row.n + 1) * sizeof(*items));
  if (items == NULL) {
    (void)PyErr_NoMemory();
    return false;
  }
  for (Py_ssize_t i = 0; i < row.n; i++) {
    Py_INCREF(row.items[i]);
    items[i] = row.items[i];
  }
  prepared->items = items;
  prepared->n_items = row.n;
  return true;
}

PyDoc_STRVAR(prepare_doc_,
             "_prepare($self, number, workspace, size, executor, call, moves)\n--\n\n"
             "Let `execute` run a repeatable executor while it is given the objects of `call`, whose first one is the\n"
             "stream. `moves` is what `moves()` was before they were checked.");

static PyObject *prepare_(PyObject *self, PyObject *arguments) {
  struct prepared_ *prepared = (struct prepared_ *)self;
  PyObject *executor, *call;
  unsigned int number;
  unsigned long long workspace, size, moves;
  uint64_t stream;
  (void)clear_(self);
  if (!PyArg_ParseTuple(arguments, "IKKO!O!K:_prepare", &number, &workspace, &size, calls_executor_type, &executor,
                        &PyTuple_Type, &call, &moves)) {
    return NULL;
  }
  PyObject *first = PyTuple_Size(call) > 0 ? PyTuple_GetItem(call, 0) : Py_None;
  if (!PyObject_TypeCheck(first, calls_stream_type) || ((struct calls_executor *)executor)->state != CALLS_REPEATABLE) {
    PyErr_SetString(PyExc_TypeError, "a repeatable executor and a call with a stream are needed");
    return NULL;
  }
  PyObject *handle = ((struct calls_noun *)first)->handle;
  if (!calls_as_uint64(handle, &stream)) return NULL;
  if (!keep_items_(prepared, call)) {
    if (PyErr_Occurred() != NULL) return NULL;
    Py_RETURN_NONE;
  }
  Py_INCREF(executor);
  prepared->executor = executor;
  prepared->stream_type = Py_TYPE(first);
  Py_INCREF(prepared->stream_type);
  prepared->stream_handle = handle;
  Py_INCREF(handle);
  prepared->n = PyTuple_Size(call);
  prepared->number = number;
  prepared->stream = stream;
  prepared->workspace = workspace;
  prepared->size = size;
  prepared->moves = moves;
  Py_RETURN_NONE;
}

PyDoc_STRVAR(forget_doc_, "_forget($self)\n--\n\nLet `execute` check the next call.");

static PyObject *forget_(PyObject *self, PyObject *nothing) {
  (void)nothing;
  (void)clear_(self);
  Py_RETURN_NONE;
}

static PyMethodDef methods_[] = {
    {"execute", (PyCFunction)(void (*)(void))execute_, METH_FASTCALL | METH_KEYWORDS, execute_doc_},
    {"_forget", forget_, METH_NOARGS, forget_doc_},
    {"_prepare", prepare_, METH_VARARGS, prepare_doc_},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef members_[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(struct prepared_, weak_references), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots_[] = {
    {Py_tp_dealloc, dealloc_},
    {Py_tp_traverse, traverse_},
    {Py_tp_clear, clear_},
    {Py_tp_methods, methods_},
    {Py_tp_members, members_},
    {Py_tp_doc,
     "A call that is checked once and repeated. A class of them has `_execute(...)`, which checks and runs, and\n"
     "`_refused(status)`, which raises."},
    {0, NULL},
};

static PyType_Spec spec_ = {
    .name = "aclnn_native._calls.Prepared",
    .basicsize = (int)sizeof(struct prepared_),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = slots_,
};

bool calls_add_prepared(PyObject *module) {
  checked_name_ = PyUnicode_InternFromString("_execute");
  refused_name_ = PyUnicode_InternFromString("_refused");
  dict_mark_ = PyUnicode_FromString("of a dict");
  list_mark_ = PyUnicode_FromString("of a sequence");
  prepared_type_ = calls_add_type(module, "Prepared", &spec_, NULL);
  return checked_name_ != NULL && refused_name_ != NULL && dict_mark_ != NULL && list_mark_ != NULL &&
         prepared_type_ != NULL;
}
