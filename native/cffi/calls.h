/* SPDX-License-Identifier: Apache-2.0
 * What the files of aclnn_native._calls share. Stable ABI of CPython 3.10.
 */
#ifndef ACLNN_CALLS_H
#define ACLNN_CALLS_H

#include <Python.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <structmember.h>

#include "engine.h"

enum calls_state { CALLS_SPENT, CALLS_ONE_SHOT, CALLS_REPEATABLE };
enum { CALLS_INLINE_TENSORS = 4, CALLS_MOST_TENSORS = 128 };

/* ---- nouns (call_nouns.c) ---- */

/* An int of Python that C has read once. */
struct calls_number {
  PyObject *of; /* held, so that the same address is the same int */
  uint64_t value;
};

struct calls_noun {
  PyObject ob_base;
  PyObject *weak_references;
  PyObject *handle; /* an int */
  struct calls_number known_handle;
  bool open;
};

struct calls_tensor {
  struct calls_noun noun;
  PyObject *layout; /* an int: a field of plans' keys */
  struct calls_number known_layout;
  PyObject *buffer;
};

struct calls_stream {
  struct calls_noun noun;
  PyObject *context; /* an int */
};

extern PyTypeObject *calls_tensor_type, *calls_stream_type;

/* ---- executors (call_executors.c) ---- */

struct calls_executor {
  PyObject ob_base;
  PyObject *weak_references;
  PyObject *keep;
  aclpy_handle handle;
  unsigned char state; /* enum calls_state */
  bool at_once;        /* its plan may run on the calling thread, and then takes microseconds */
};

struct calls_binder {
  PyObject ob_base;
  PyTypeObject *type; /* of the executors */
  PyObject *workspace_bytes;
  aclpy_handle plan; /* its own */
  bool at_once;
};

extern PyTypeObject *calls_executor_type, *calls_binder_type;

/* (workspace size, executor), or None: the thread's last error says why. `tensors` has room for CALLS_INLINE_TENSORS,
 * those behind the last one being 0. A new reference. */
PyObject *calls_bind(const struct calls_binder *binder, const aclpy_handle *tensors, Py_ssize_t n, PyObject *keep);
/* Phase 2; keeps the interpreter lock where it cannot block. */
int32_t calls_run(uint32_t op, uint64_t workspace, uint64_t size, struct calls_executor *executor, uint64_t stream);
PyObject *calls_watch(PyObject *module, PyObject *watcher);

/* ---- waits (call_waits.c) ---- */

/* Calls it without the interpreter lock. False with an exception where a signal's handler has raised. */
bool calls_wait(int32_t (*call)(const uint64_t *numbers), const uint64_t *numbers, int32_t *status);
PyObject *calls_wait_for(PyObject *module, PyObject *const *arguments, Py_ssize_t n);

/* ---- arguments ---- */

/* Handles and addresses; faster than PyLong_AsUnsignedLongLong, which goes byte by byte. */
bool calls_as_uint64(PyObject *number, uint64_t *value);
/* The same for one that is asked for again and again: only another int is read. */
bool calls_learn(struct calls_number *known, PyObject *number);
static inline bool calls_known(struct calls_number *known, PyObject *number, uint64_t *value) {
  if (known->of != number || number == NULL) {
    if (!calls_learn(known, number)) return false;
  }
  *value = known->value;
  return true;
}
/* Calls `checked` with the arguments of a METH_FASTCALL | METH_KEYWORDS call. */
PyObject *calls_checked(PyObject *checked, PyObject *const *arguments, Py_ssize_t n, PyObject *names);

/* Add their types to the module; false with an exception. */
bool calls_add_nouns(PyObject *module);
bool calls_add_executors(PyObject *module);
bool calls_add_phases(PyObject *module);
bool calls_add_prepared(PyObject *module);
bool calls_add_waits(PyObject *module);
/* The type, a reference for us; NULL with an exception. */
PyTypeObject *calls_add_type(PyObject *module, const char *name, PyType_Spec *spec, PyTypeObject *base);

/* The functions of the module. */
PyObject *calls_phase_one(PyObject *module, PyObject *arguments, PyObject *names);
PyObject *calls_phase_two(PyObject *module, PyObject *arguments, PyObject *names);
PyObject *calls_plan(PyObject *module, PyObject *arguments);
PyObject *calls_forget_plans(PyObject *module, PyObject *nothing);
PyObject *calls_moved(PyObject *module, PyObject *nothing);
PyObject *calls_moves(PyObject *module, PyObject *nothing);

#endif
