/* SPDX-License-Identifier: Apache-2.0
 * Phase 1 and phase 2 of an operator as functions of Python.
 */
#include <string.h>

#include "calls.h"

enum { PHASE_TWO_ARGUMENTS = 4, MOST_ARGUMENTS = 16 };

/* A call that phase 1 was given lately. Most programs make few different ones, and comparing numbers is a third of
 * making a key and looking it up. */
enum { RECENT = 8, RECENT_ARGUMENTS = 8 };
struct recent_ {
  uint64_t word[RECENT_ARGUMENTS]; /* layouts and ints */
  uint32_t same;                   /* a bit for each pair of tensors */
  uint64_t era;
  PyObject *entry; /* NULL: none */
};
static uint64_t era_; /* grows when entries may be gone from the plans */

/* What a function is bound to. */
struct phase_ {
  PyObject ob_base;
  PyMethodDef method;   /* its texts are those of ... */
  PyObject *name, *doc; /* ... these two */
  PyObject *checked;    /* serves every call that is not what the fast way expects */
  PyObject *fail;       /* raises */
  PyObject *plans;      /* of phase 1 */
  PyObject *missing;    /* of phase 1: plans a call that is not in there; NULL: `checked` does */
  uint32_t number;      /* of phase 2 */
  PyObject *names;      /* of the arguments of phase 1, a tuple */
  PyObject *defaults;   /* of the last ones, a tuple of ints */
  PyObject *in_place;   /* keywords of an earlier call that all stood where their arguments do; or NULL */
  Py_ssize_t before;    /* arguments before them */
  Py_ssize_t n;         /* arguments of phase 1 */
  char kinds[MOST_ARGUMENTS];
  struct recent_ recent[RECENT];
};

static PyTypeObject *phase_type_;
static PyObject *open_name_, *address_name_;

static int phase_traverse_(PyObject *self, visitproc visit, void *arg) {
  struct phase_ *phase = (struct phase_ *)self;
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(phase->checked);
  Py_VISIT(phase->fail);
  Py_VISIT(phase->plans);
  Py_VISIT(phase->missing);
  for (int i = 0; i < RECENT; i++) Py_VISIT(phase->recent[i].entry);
  return 0;
}

static int phase_clear_(PyObject *self) {
  struct phase_ *phase = (struct phase_ *)self;
  Py_CLEAR(phase->checked);
  Py_CLEAR(phase->fail);
  Py_CLEAR(phase->plans);
  Py_CLEAR(phase->missing);
  for (int i = 0; i < RECENT; i++) Py_CLEAR(phase->recent[i].entry);
  return 0;
}

static void phase_dealloc_(PyObject *self) {
  struct phase_ *phase = (struct phase_ *)self;
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  (void)phase_clear_(self);
  Py_XDECREF(phase->name);
  Py_XDECREF(phase->doc);
  Py_XDECREF(phase->names);
  Py_XDECREF(phase->defaults);
  Py_XDECREF(phase->in_place);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

/* ---- phase 1 ---- */

/* Puts the arguments in order; false where Python must look at them. */
static bool arrange_(const struct phase_ *phase, PyObject *const *arguments, Py_ssize_t n, PyObject *names,
                     PyObject **inorder) {
  if (n > phase->n) return false;
  for (Py_ssize_t i = 0; i < phase->n; i++) inorder[i] = i < n ? arguments[i] : NULL;
  Py_ssize_t named = names == NULL ? 0 : PyTuple_Size(names);
  for (Py_ssize_t i = 0; i < named; i++) {
    Py_ssize_t at = n;
    while (at < phase->n && PyTuple_GetItem(phase->names, at) != PyTuple_GetItem(names, i)) at++;
    if (at == phase->n) return false; /* unknown, given twice, or a string that is not interned */
    inorder[at] = arguments[n + i];
  }
  Py_ssize_t first = phase->n - PyTuple_Size(phase->defaults);
  for (Py_ssize_t i = 0; i < phase->n; i++) {
    if (inorder[i] == NULL && i >= first) inorder[i] = PyTuple_GetItem(phase->defaults, i - first);
    if (inorder[i] == NULL) return false;
  }
  return true;
}

/* Whether the arguments are in order although some are named. A place in a program gives the same names every time. */
static bool in_place_(struct phase_ *phase, Py_ssize_t n, PyObject *names) {
  if (names == phase->in_place && n == phase->before) return true;
  Py_ssize_t named = PyTuple_Size(names);
  if (n + named != phase->n) return false;
  for (Py_ssize_t i = 0; i < named; i++) {
    if (PyTuple_GetItem(phase->names, n + i) != PyTuple_GetItem(names, i)) return false;
  }
  PyObject *before = phase->in_place;
  Py_INCREF(names);
  phase->in_place = names;
  phase->before = n;
  Py_XDECREF(before);
  return true;
}

/* The arguments of one call. */
struct given_ {
  struct calls_tensor *tensor[CALLS_INLINE_TENSORS];
  aclpy_handle handle[CALLS_INLINE_TENSORS];
  Py_ssize_t n;
  uint64_t word[RECENT_ARGUMENTS];
  bool plain; /* as far as `word` goes: few arguments, no large int */
};

static void put_(PyObject *tuple, Py_ssize_t at, PyObject *item) {
  Py_INCREF(item);
  (void)PyTuple_SetItem(tuple, at, item);
}

static bool read_int_(PyObject *number, uint64_t *word, bool *plain) {
  if (!PyLong_CheckExact(number)) return false;
  int overflow = 0;
  *word = (uint64_t)PyLong_AsLongAndOverflow(number, &overflow);
  if (overflow != 0) *plain = false;
  return true;
}

static bool read_tensor_(PyObject *object, struct given_ *given, uint64_t *word) {
  struct calls_tensor *tensor = (struct calls_tensor *)object;
  if (!PyObject_TypeCheck(object, calls_tensor_type) || !tensor->noun.open || tensor->layout == NULL ||
      tensor->buffer == NULL || !calls_known(&tensor->known_layout, tensor->layout, word) ||
      !calls_known(&tensor->noun.known_handle, tensor->noun.handle, &given->handle[given->n])) {
    PyErr_Clear();
    return false;
  }
  given->tensor[given->n++] = tensor;
  return true;
}

/* False without an exception where the call is not what the fast way expects. */
static bool read_(const struct phase_ *phase, PyObject *const *arguments, struct given_ *given) {
  given->n = 0;
  given->plain = phase->n <= RECENT_ARGUMENTS;
  for (Py_ssize_t i = 0; i < phase->n; i++) {
    uint64_t rest, *word = given->plain ? &given->word[i] : &rest;
    bool good =
        phase->kinds[i] == 'i' ? read_int_(arguments[i], word, &given->plain) : read_tensor_(arguments[i], given, word);
    if (!good) return false;
  }
  return true;
}

/* A bit for each pair of tensors that are one. */
static uint32_t same_(const struct given_ *given) {
  uint32_t bits = 0, bit = 1;
  for (Py_ssize_t a = 0; a < given->n; a++) {
    for (Py_ssize_t b = a + 1; b < given->n; b++, bit <<= 1) bits |= given->tensor[a] == given->tensor[b] ? bit : 0;
  }
  return bits;
}

/* Where a call like this one is remembered. */
static struct recent_ *place_(struct phase_ *phase, const struct given_ *given) {
  uint64_t mixed = 0;
  for (Py_ssize_t i = 0; i < phase->n; i++) mixed = mixed * 3 + given->word[i];
  return &phase->recent[(mixed * UINT64_C(0x9E3779B97F4A7C15)) >> 61];
}

/* A new reference, or NULL without an exception. */
static PyObject *recall_(const struct phase_ *phase, const struct recent_ *recent, const struct given_ *given) {
  if (recent->entry == NULL || recent->era != era_ || recent->same != same_(given)) return NULL;
  for (Py_ssize_t i = 0; i < phase->n; i++) {
    if (recent->word[i] != given->word[i]) return NULL;
  }
  Py_INCREF(recent->entry);
  return recent->entry;
}

/* `era` was read before the entry was looked up. */
static void remember_(struct recent_ *recent, const struct given_ *given, Py_ssize_t n, PyObject *entry, uint64_t era) {
  PyObject *before = recent->entry;
  memcpy(recent->word, given->word, (size_t)n * sizeof(*recent->word));
  recent->same = same_(given);
  recent->era = era;
  Py_INCREF(entry);
  recent->entry = entry;
  Py_XDECREF(before);
}

PyObject *calls_forget_plans(PyObject *module, PyObject *nothing) {
  (void)module;
  (void)nothing;
  era_++;
  Py_RETURN_NONE;
}

/* The key of the plan. */
static PyObject *key_(const struct phase_ *phase, PyObject *const *arguments, const struct given_ *given) {
  PyObject *key = PyTuple_New(phase->n + given->n * (given->n - 1) / 2);
  if (key == NULL) return NULL;
  for (Py_ssize_t i = 0; i < phase->n; i++) {
    put_(key, i, phase->kinds[i] == 'i' ? arguments[i] : ((struct calls_tensor *)arguments[i])->layout);
  }
  Py_ssize_t at = phase->n;
  for (Py_ssize_t a = 0; a < given->n; a++) {
    for (Py_ssize_t b = a + 1; b < given->n; b++) {
      put_(key, at++, given->tensor[a] == given->tensor[b] ? Py_True : Py_False);
    }
  }
  return key;
}

/* A new reference; NULL perhaps without an exception. */
static PyObject *entry_(const struct phase_ *phase, PyObject *key) {
  PyObject *entry = PyDict_GetItemWithError(phase->plans, key);
  if (entry == NULL || !PyObject_TypeCheck(entry, calls_binder_type)) return NULL;
  Py_INCREF(entry); /* another thread may drop it from the plans */
  return entry;
}

/* The arguments of one kind, in order. */
static PyObject *of_kind_(const struct phase_ *phase, PyObject *const *arguments, char kind) {
  PyObject *found = PyList_New(0);
  for (Py_ssize_t i = 0; found != NULL && i < phase->n; i++) {
    if (phase->kinds[i] == kind && PyList_Append(found, arguments[i]) != 0) Py_CLEAR(found);
  }
  return found;
}

/* Plans a call. A new reference, or NULL with an exception. */
static PyObject *planned_(const struct phase_ *phase, PyObject *const *arguments, PyObject *key) {
  PyObject *entry = NULL, *tensors = of_kind_(phase, arguments, 't'), *numbers = of_kind_(phase, arguments, 'i');
  if (tensors != NULL && numbers != NULL) {
    entry = PyObject_CallFunctionObjArgs(phase->missing, key, tensors, numbers, NULL);
  }
  Py_XDECREF(tensors);
  Py_XDECREF(numbers);
  if (entry != NULL && !PyObject_TypeCheck(entry, calls_binder_type)) {
    PyErr_SetString(PyExc_TypeError, "missing() must return a Binder");
    Py_CLEAR(entry);
  }
  return entry;
}

static PyObject *keep_(const struct given_ *given, PyObject *entry) {
  PyObject *keep = PyTuple_New(2 * given->n + 1);
  if (keep == NULL) return NULL;
  for (Py_ssize_t i = 0; i < given->n; i++) {
    PyObject *buffer = given->tensor[i]->buffer; /* NULL: deleted while the call was planned */
    put_(keep, i, (PyObject *)given->tensor[i]);
    put_(keep, given->n + i, buffer == NULL ? Py_None : buffer);
  }
  put_(keep, 2 * given->n, entry);
  return keep;
}

static PyObject *run_one_(const struct phase_ *phase, const struct given_ *given, PyObject *entry) {
  PyObject *keep = keep_(given, entry);
  if (keep == NULL) return NULL;
  PyObject *answer = calls_bind((const struct calls_binder *)entry, given->handle, given->n, keep);
  Py_DECREF(keep);
  if (answer != Py_None) return answer;
  Py_DECREF(answer);
  return PyObject_CallObject(phase->fail, NULL);
}

/* The entry of a call that is not remembered. A new reference; NULL perhaps without an exception. */
static PyObject *look_up_(const struct phase_ *phase, PyObject *const *arguments, const struct given_ *given) {
  PyObject *key = key_(phase, arguments, given);
  PyObject *entry = key == NULL ? NULL : entry_(phase, key);
  if (key != NULL && entry == NULL && phase->missing != NULL && PyErr_Occurred() == NULL) {
    entry = planned_(phase, arguments, key);
  }
  Py_XDECREF(key);
  return entry;
}

static PyObject *find_(struct phase_ *phase, PyObject *const *arguments, const struct given_ *given) {
  if (!given->plain) return look_up_(phase, arguments, given);
  struct recent_ *recent = place_(phase, given);
  PyObject *entry = recall_(phase, recent, given);
  if (entry != NULL) return entry;
  uint64_t era = era_;
  entry = look_up_(phase, arguments, given);
  if (entry != NULL) remember_(recent, given, phase->n, entry, era);
  return entry;
}

static PyObject *one_(PyObject *self, PyObject *const *arguments, Py_ssize_t n, PyObject *names) {
  struct phase_ *phase = (struct phase_ *)self;
  struct given_ given;
  for (int i = 0; i < CALLS_INLINE_TENSORS; i++) given.handle[i] = 0;
  PyObject *inorder[MOST_ARGUMENTS];
  PyObject *const *all = arguments;
  if (names == NULL ? n != phase->n : !in_place_(phase, n, names))
    all = arrange_(phase, arguments, n, names, inorder) ? inorder : NULL;
  PyObject *entry = all != NULL && read_(phase, all, &given) ? find_(phase, all, &given) : NULL;
  if (entry == NULL) {
    if (PyErr_Occurred() != NULL) return NULL;
    return calls_checked(phase->checked, arguments, n, names);
  }
  PyObject *answer = run_one_(phase, &given, entry);
  Py_DECREF(entry);
  return answer;
}

/* ---- phase 2 ---- */

/* Of an open buffer. */
static bool address_(PyObject *buffer, uint64_t *address) {
  PyObject *is_open = PyObject_GetAttr(buffer, open_name_);
  bool open = is_open == Py_True;
  Py_XDECREF(is_open);
  PyObject *number = open ? PyObject_GetAttr(buffer, address_name_) : NULL;
  bool found = number != NULL && calls_as_uint64(number, address);
  Py_XDECREF(number);
  return found;
}

static bool handle_(PyObject *object, uint64_t *handle) {
  struct calls_noun *noun = (struct calls_noun *)object;
  return calls_known(&noun->known_handle, noun->handle, handle);
}

static PyObject *two_(PyObject *self, PyObject *const *arguments, Py_ssize_t n, PyObject *names) {
  const struct phase_ *phase = (const struct phase_ *)self;
  uint64_t workspace = 0, size, stream = 0;
  if (n != PHASE_TWO_ARGUMENTS || names != NULL || !PyObject_TypeCheck(arguments[2], calls_executor_type) ||
      (arguments[3] != Py_None && !PyObject_TypeCheck(arguments[3], calls_stream_type)) ||
      (arguments[0] != Py_None && !address_(arguments[0], &workspace)) || PyBool_Check(arguments[1]) ||
      !calls_as_uint64(arguments[1], &size) || (arguments[3] != Py_None && !handle_(arguments[3], &stream))) {
    PyErr_Clear();
    return calls_checked(phase->checked, arguments, n, names);
  }
  int32_t status = calls_run(phase->number, workspace, size, (struct calls_executor *)arguments[2], stream);
  if (status == 0) Py_RETURN_NONE;
  return PyObject_CallFunction(phase->fail, "i", (int)status);
}

/* ---- making them ---- */

static PyType_Slot phase_slots_[] = {
    {Py_tp_dealloc, phase_dealloc_},
    {Py_tp_traverse, phase_traverse_},
    {Py_tp_clear, phase_clear_},
    {Py_tp_doc, "What a function of a phase knows."},
    {0, NULL},
};

static PyType_Spec phase_spec_ = {
    .name = "aclnn_native._calls.Phase",
    .basicsize = (int)sizeof(struct phase_),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = phase_slots_,
};

static PyObject *hold_(PyObject *object) {
  Py_INCREF(object);
  return object;
}

static struct phase_ *new_phase_(PyObject *name, PyObject *doc, PyObject *checked, PyObject *fail) {
  struct phase_ *phase = (struct phase_ *)PyType_GenericAlloc(phase_type_, 0);
  if (phase == NULL) return NULL;
  phase->name = hold_(name);
  phase->doc = hold_(doc);
  phase->checked = hold_(checked);
  phase->fail = hold_(fail);
  return phase;
}

/* Takes over the phase. */
static PyObject *function_(struct phase_ *phase, PyCFunctionWithKeywords call, PyObject *module_name) {
  PyObject *made = NULL;
  const char *name = PyUnicode_AsUTF8AndSize(phase->name, NULL), *doc = PyUnicode_AsUTF8AndSize(phase->doc, NULL);
  if (name != NULL && doc != NULL) {
    phase->method = (PyMethodDef){name, (PyCFunction)(void (*)(void))call, METH_FASTCALL | METH_KEYWORDS, doc};
    made = PyCFunction_NewEx(&phase->method, (PyObject *)phase, module_name);
  }
  Py_DECREF(phase);
  return made;
}

PyObject *calls_phase_one(PyObject *module, PyObject *arguments, PyObject *names) {
  (void)module;
  static char *keywords[] = {"name",  "doc",     "module", "kinds",   "names", "defaults",
                             "plans", "checked", "fail",   "missing", NULL};
  PyObject *name, *doc, *module_name, *parameters, *defaults, *plans, *checked, *fail, *missing = Py_None;
  const char *kinds;
  if (!PyArg_ParseTupleAndKeywords(arguments, names, "UUUsO!O!O!OO|O:phase_one", keywords, &name, &doc, &module_name,
                                   &kinds, &PyTuple_Type, &parameters, &PyTuple_Type, &defaults, &PyDict_Type, &plans,
                                   &checked, &fail, &missing)) {
    return NULL;
  }
  size_t n = strlen(kinds), tensors = 0;
  for (size_t i = 0; i < n; i++) tensors += kinds[i] == 't';
  if (n > MOST_ARGUMENTS || tensors > CALLS_INLINE_TENSORS || strspn(kinds, "ti") != n) {
    return PyErr_Format(PyExc_ValueError, "kinds must be up to %d letters t and i, at most %d of them t, not '%s'",
                        (int)MOST_ARGUMENTS, (int)CALLS_INLINE_TENSORS, kinds);
  }
  if (PyTuple_Size(parameters) != (Py_ssize_t)n || PyTuple_Size(defaults) > (Py_ssize_t)n) {
    PyErr_SetString(PyExc_ValueError, "a name is needed for each of the kinds, and no more defaults than these");
    return NULL;
  }
  struct phase_ *phase = new_phase_(name, doc, checked, fail);
  if (phase == NULL) return NULL;
  phase->names = hold_(parameters);
  phase->defaults = hold_(defaults);
  phase->plans = hold_(plans);
  if (missing != Py_None) phase->missing = hold_(missing);
  phase->n = (Py_ssize_t)n;
  memcpy(phase->kinds, kinds, n);
  return function_(phase, (PyCFunctionWithKeywords)(void (*)(void))one_, module_name);
}

PyObject *calls_phase_two(PyObject *module, PyObject *arguments, PyObject *names) {
  (void)module;
  static char *keywords[] = {"name", "doc", "module", "number", "checked", "fail", NULL};
  PyObject *name, *doc, *module_name, *checked, *fail;
  unsigned int number;
  if (!PyArg_ParseTupleAndKeywords(arguments, names, "UUUIOO:phase_two", keywords, &name, &doc, &module_name, &number,
                                   &checked, &fail)) {
    return NULL;
  }
  struct phase_ *phase = new_phase_(name, doc, checked, fail);
  if (phase == NULL) return NULL;
  phase->number = number;
  return function_(phase, (PyCFunctionWithKeywords)(void (*)(void))two_, module_name);
}

bool calls_add_phases(PyObject *module) {
  open_name_ = PyUnicode_InternFromString("_open");
  address_name_ = PyUnicode_InternFromString("_address");
  phase_type_ = calls_add_type(module, NULL, &phase_spec_, NULL);
  return open_name_ != NULL && address_name_ != NULL && phase_type_ != NULL;
}
