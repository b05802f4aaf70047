/* SPDX-License-Identifier: Apache-2.0
 * What C reads of nouns: the bases of tensors and streams in Python.
 */
#include "calls.h"

PyTypeObject *calls_tensor_type, *calls_stream_type;
static PyObject *checked_name_, *failed_name_;

/* Of all three types: an instance of a class in Python comes here last. */
static int tensor_traverse_(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((struct calls_tensor *)self)->buffer); /* the other fields are numbers */
  return 0;
}

static int tensor_clear_(PyObject *self) {
  Py_CLEAR(((struct calls_tensor *)self)->buffer);
  return 0;
}

static void finish_(PyObject *self) {
  struct calls_noun *noun = (struct calls_noun *)self;
  PyTypeObject *type = Py_TYPE(self);
  if (noun->weak_references != NULL) PyObject_ClearWeakRefs(self);
  Py_XDECREF(noun->handle);
  Py_XDECREF(noun->known_handle.of);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

static void tensor_dealloc_(PyObject *self) {
  struct calls_tensor *tensor = (struct calls_tensor *)self;
  PyObject_GC_UnTrack(self);
  Py_XDECREF(tensor->layout);
  Py_XDECREF(tensor->known_layout.of);
  Py_XDECREF(tensor->buffer);
  finish_(self);
}

static void stream_dealloc_(PyObject *self) {
  Py_XDECREF(((struct calls_stream *)self)->context);
  finish_(self);
}

static PyMemberDef noun_members_[] = {
    {"_handle", T_OBJECT_EX, offsetof(struct calls_noun, handle), 0, NULL},
    {"_open", T_BOOL, offsetof(struct calls_noun, open), 0, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(struct calls_noun, weak_references), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyMemberDef tensor_members_[] = {
    {"_layout", T_OBJECT_EX, offsetof(struct calls_tensor, layout), 0, NULL},
    {"_buffer", T_OBJECT_EX, offsetof(struct calls_tensor, buffer), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyMemberDef stream_members_[] = {
    {"_context", T_OBJECT_EX, offsetof(struct calls_stream, context), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

PyDoc_STRVAR(synchronize_doc_,
             "synchronize($self, /, timeout_ms=-1)\n--\n\n"
             "Wait until everything queued so far has run.\n\n"
             "Parameters\n----------\n"
             "timeout_ms : int\n    The longest to wait [ms]; -1 for ever.\n\n"
             "Raises\n------\n"
             "AclError\n"
             "    The status of a task that failed since the last synchronise: 507000 for a host\n"
             "    function, with its exception as ``__cause__``. 107017 if the stream is closed; 507046\n"
             "    if the time is over; 107027 if it is being captured.\n\n"
             "Notes\n-----\n"
             "Blocks the calling thread, without the GIL. After a failed task the later ones still run.");

static int32_t synchronize_stream_(const uint64_t *numbers) { return aclpy_stream_synchronize(numbers[0], numbers[1]); }

static PyObject *synchronize_(PyObject *self, PyObject *const *arguments, Py_ssize_t n, PyObject *names) {
  struct calls_stream *stream = (struct calls_stream *)self;
  uint64_t handle, context;
  if (n != 0 || names != NULL) {
    PyObject *checked = PyObject_GetAttr(self, checked_name_);
    if (checked == NULL) return NULL;
    PyObject *answer = calls_checked(checked, arguments, n, names);
    Py_DECREF(checked);
    return answer;
  }
  if (!calls_known(&stream->noun.known_handle, stream->noun.handle, &handle)) return NULL;
  if (aclpy_stream_is_quiet(handle)) Py_RETURN_NONE;
  if (!calls_as_uint64(stream->context, &context)) return NULL;
  int32_t status = 0;
  const uint64_t numbers[] = {context, handle};
  if (!calls_wait(synchronize_stream_, numbers, &status)) return NULL;
  if (status == 0) Py_RETURN_NONE;
  PyObject *number = PyLong_FromLong(status);
  if (number == NULL) return NULL;
  PyObject *answer = PyObject_CallMethodObjArgs(self, failed_name_, number, NULL);
  Py_DECREF(number);
  return answer;
}

PyDoc_STRVAR(wait_doc_,
             "wait($self, /)\n--\n\n"
             "Wait until everything submitted so far has run.\n\n"
             "Raises\n------\n"
             "OneDnnError\n    runtime_error where some of it failed.");

static PyMethodDef stream_methods_[] = {
    {"synchronize", (PyCFunction)(void (*)(void))synchronize_, METH_FASTCALL | METH_KEYWORDS, synchronize_doc_},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef primitive_stream_methods_[] = {
    {"wait", (PyCFunction)(void (*)(void))synchronize_, METH_FASTCALL | METH_KEYWORDS, wait_doc_},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot noun_slots_[] = {
    {Py_tp_dealloc, finish_},
    {Py_tp_members, noun_members_},
    {Py_tp_doc, "What every noun holds: its handle, and whether it is open."},
    {0, NULL},
};

static PyType_Slot tensor_slots_[] = {
    {Py_tp_dealloc, tensor_dealloc_},
    {Py_tp_traverse, tensor_traverse_},
    {Py_tp_clear, tensor_clear_},
    {Py_tp_members, tensor_members_},
    {Py_tp_doc, "What phase 1 reads of a tensor."},
    {0, NULL},
};

static PyType_Slot queue_slots_[] = {
    {Py_tp_dealloc, stream_dealloc_},
    {Py_tp_members, stream_members_},
    {Py_tp_doc,
     "What phase 2 reads of a stream. A class of streams has `_failed(status)`, which raises, and\n"
     "`_synchronize(...)`, which serves waits with arguments."},
    {0, NULL},
};

static PyType_Slot stream_slots_[] = {
    {Py_tp_methods, stream_methods_},
    {Py_tp_doc, "The wait of streams."},
    {0, NULL},
};

static PyType_Slot primitive_stream_slots_[] = {
    {Py_tp_methods, primitive_stream_methods_},
    {Py_tp_doc, "The wait of oneDNN's streams."},
    {0, NULL},
};

enum { FLAGS = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE };

static PyType_Spec noun_spec_ = {"aclnn_native._calls.Noun", (int)sizeof(struct calls_noun), 0, FLAGS, noun_slots_};
static PyType_Spec tensor_spec_ = {"aclnn_native._calls.Tensor", (int)sizeof(struct calls_tensor), 0,
                                   FLAGS | Py_TPFLAGS_HAVE_GC, tensor_slots_};
static PyType_Spec queue_spec_ = {"aclnn_native._calls.Queue", (int)sizeof(struct calls_stream), 0, FLAGS,
                                  queue_slots_};
static PyType_Spec stream_spec_ = {"aclnn_native._calls.Stream", (int)sizeof(struct calls_stream), 0, FLAGS,
                                   stream_slots_};
static PyType_Spec primitive_stream_spec_ = {"aclnn_native._calls.PrimitiveStream", (int)sizeof(struct calls_stream), 0,
                                             FLAGS, primitive_stream_slots_};

bool calls_add_nouns(PyObject *module) {
  checked_name_ = PyUnicode_InternFromString("_synchronize");
  failed_name_ = PyUnicode_InternFromString("_failed");
  PyTypeObject *noun = calls_add_type(module, "Noun", &noun_spec_, NULL);
  if (checked_name_ == NULL || failed_name_ == NULL || noun == NULL) return false;
  calls_tensor_type = calls_add_type(module, "Tensor", &tensor_spec_, noun);
  calls_stream_type = calls_add_type(module, "Queue", &queue_spec_, noun);
  Py_DECREF(noun);
  if (calls_tensor_type == NULL || calls_stream_type == NULL) return false;
  PyTypeObject *stream = calls_add_type(module, "Stream", &stream_spec_, calls_stream_type);
  PyTypeObject *primitive_stream =
      calls_add_type(module, "PrimitiveStream", &primitive_stream_spec_, calls_stream_type);
  Py_XDECREF(stream);
  Py_XDECREF(primitive_stream);
  return stream != NULL && primitive_stream != NULL;
}
