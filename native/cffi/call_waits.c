/* SPDX-License-Identifier: Apache-2.0
 * Calls that wait, outside of the interpreter lock. Ten times a second a waiting thread looks whether a signal has come
 * whose handler raises, as the main thread's Ctrl-C does: then the wait ends, and so does the call.
 */
#include "calls.h"

enum { MOST_NUMBERS = 3 };

/* The thread's state while it waits, and what a signal's handler has raised. */
struct patience_ {
  PyThreadState *thread;
  PyObject *type, *value, *traceback;
};

static int32_t look_up_(void *arg) {
  struct patience_ *patience = arg;
  PyEval_RestoreThread(patience->thread);
  if (PyErr_CheckSignals() != 0) PyErr_Fetch(&patience->type, &patience->value, &patience->traceback);
  patience->thread = PyEval_SaveThread();
  return patience->type != NULL;
}

bool calls_wait(int32_t (*call)(const uint64_t *numbers), const uint64_t *numbers, int32_t *status) {
  struct patience_ patience = {.thread = PyEval_SaveThread()};
  (void)aclpy_set_pulse(look_up_, &patience);
  *status = call(numbers);
  (void)aclpy_set_pulse(NULL, NULL);
  PyEval_RestoreThread(patience.thread);
  if (patience.type == NULL) return true;
  if (*status != 0) aclpy_error_take_back(); /* of a time limit that nobody has set */
  PyErr_Restore(patience.type, patience.value, patience.traceback);
  return false;
}

/* ---- which ---- */

static int32_t device_(const uint64_t *n) { return aclpy_synchronize_device(n[0]); }
static int32_t device_until_(const uint64_t *n) {
  return aclpy_synchronize_device_with_timeout(n[0], (int32_t)(int64_t)n[1]);
}
static int32_t event_(const uint64_t *n) { return aclpy_event_synchronize(n[0]); }
static int32_t event_until_(const uint64_t *n) {
  return aclpy_event_synchronize_with_timeout(n[0], (int32_t)(int64_t)n[1]);
}
static int32_t memory_(const uint64_t *n) { return aclpy_memory_wait((uintptr_t)n[0]); }
static int32_t report_(const uint64_t *n) { return aclpy_process_report((int32_t)(int64_t)n[0]); }
static int32_t stream_(const uint64_t *n) { return aclpy_stream_synchronize(n[0], n[1]); }
static int32_t stream_close_(const uint64_t *n) { return aclpy_stream_close(n[0], n[1]); }
static int32_t stream_destroy_(const uint64_t *n) { return aclpy_stream_destroy(n[0], n[1]); }
static int32_t stream_until_(const uint64_t *n) {
  return aclpy_stream_synchronize_with_timeout(n[0], n[1], (int32_t)(int64_t)n[2]);
}

static const struct wait_ {
  const char *name;
  Py_ssize_t n;
  int32_t (*call)(const uint64_t *numbers);
} waits_[] = {
    {"DEVICE", 1, device_},
    {"DEVICE_UNTIL", 2, device_until_},
    {"EVENT", 1, event_},
    {"EVENT_UNTIL", 2, event_until_},
    {"MEMORY", 1, memory_},
    {"REPORT", 1, report_},
    {"STREAM", 2, stream_},
    {"STREAM_CLOSE", 2, stream_close_},
    {"STREAM_DESTROY", 2, stream_destroy_},
    {"STREAM_UNTIL", 3, stream_until_},
};
enum { WAITS = sizeof waits_ / sizeof waits_[0] };

/* Handles and addresses as they are, times with their sign. */
static bool read_(PyObject *number, uint64_t *value) {
  if (calls_as_uint64(number, value)) return true;
  if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return false;
  PyErr_Clear();
  long long small = PyLong_AsLongLong(number);
  *value = (uint64_t)small;
  return small != -1 || PyErr_Occurred() == NULL;
}

PyObject *calls_wait_for(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
  (void)module;
  uint64_t which = WAITS, numbers[MOST_NUMBERS] = {0};
  if (n > 0 && !calls_as_uint64(arguments[0], &which)) return NULL;
  if (which >= WAITS || n != waits_[which].n + 1) {
    return PyErr_Format(PyExc_TypeError, "a wait (calls.EVENT, ...) and the numbers that it takes are needed");
  }
  for (Py_ssize_t i = 1; i < n; i++) {
    if (!read_(arguments[i], &numbers[i - 1])) return NULL;
  }
  int32_t status = 0;
  if (waits_[which].call == stream_ && aclpy_stream_is_quiet(numbers[1])) return PyLong_FromLong(0);
  return calls_wait(waits_[which].call, numbers, &status) ? PyLong_FromLong(status) : NULL;
}

bool calls_add_waits(PyObject *module) {
  for (int i = 0; i < WAITS; i++) {
    if (PyModule_AddIntConstant(module, waits_[i].name, i) != 0) return false;
  }
  return true;
}
