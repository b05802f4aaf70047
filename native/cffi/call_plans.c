/* SPDX-License-Identifier: Apache-2.0
 * Native plans, made of the tuples that the planner works with.
 *
 * Through cffi each structure and array would be an object in Python, filled field by field; a plan-cache miss makes
 * one of these descriptions, so that would be a sixth of its time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "calls.h"

/* What launches a step: fields of the tuple in Python. */
enum { LAUNCH_KERNEL, LAUNCH_CALL, LAUNCH_TOKEN };

/* Fields of the planner's tuples, in their order. */
enum { SLOT_NAME, SLOT_LOW, SLOT_HIGH, SLOT_CAPTURED, SLOT_WRITTEN, SLOT_USED, SLOT_DTYPE, SLOT_SHAPE, SLOT_ITEMSIZE };
enum { STEP_READS = 3, STEP_WRITE, STEP_PARAMS };

/* Digits of an int64_t with its sign and what stands before it. */
enum { NUMBER_ROOM = 22 };

static int64_t integer_(PyObject *tuple, Py_ssize_t at) {
  PyObject *item = PyTuple_GetItem(tuple, at);
  return item == NULL ? -1 : (int64_t)PyLong_AsLongLong(item);
}

static const char *text_(PyObject *tuple, Py_ssize_t at) {
  PyObject *item = PyTuple_GetItem(tuple, at);
  return item == NULL ? NULL : PyUnicode_AsUTF8AndSize(item, NULL);
}

static uint32_t flag_(PyObject *tuple, Py_ssize_t at, uint32_t flag) {
  return PyTuple_GetItem(tuple, at) == Py_True ? flag : 0;
}

/* What about_ needs; 0 with an exception. */
static size_t about_room_(PyObject *slots) {
  size_t room = 1;
  for (Py_ssize_t i = 0; i < PyTuple_Size(slots); i++) {
    PyObject *row = PyTuple_GetItem(slots, i);
    const char *dtype = text_(row, SLOT_DTYPE);
    const Py_ssize_t rank = dtype == NULL ? -1 : PyTuple_Size(PyTuple_GetItem(row, SLOT_SHAPE));
    if (rank < 0) return 0;
    room += strlen(dtype) + (size_t)rank * NUMBER_ROOM + sizeof " []";
  }
  return room;
}

/* Where the next text goes; there is room for all of them (about_room_). */
struct writer_ {
  char *to, *end;
};

static void add_number_(struct writer_ *text, const char *before, int64_t number) {
  text->to += snprintf(text->to, (size_t)(text->end - text->to), "%s%" PRId64, before, number);
}

static void add_(struct writer_ *text, const char *more) {
  text->to += snprintf(text->to, (size_t)(text->end - text->to), "%s", more);
}

/* "FLOAT [8, 32]", for timelines. */
static const char *about_(PyObject *row, struct writer_ *text) {
  const char *begin = text->to;
  PyObject *shape = PyTuple_GetItem(row, SLOT_SHAPE);
  const Py_ssize_t rank = PyTuple_Size(shape);
  add_(text, text_(row, SLOT_DTYPE));
  add_(text, " [");
  for (Py_ssize_t i = 0; i < rank; i++) add_number_(text, i > 0 ? ", " : "", integer_(shape, i));
  add_(text, "]");
  text->to++; /* what ends it */
  return begin;
}

/* All of these return false with an exception. */

/* `alignment`: the most that an address must be a multiple of [bytes]. */
static bool slot_(PyObject *row, int64_t alignment, struct writer_ *text, aclpy_slot_desc *slot) {
  slot->name = text_(row, SLOT_NAME);
  slot->low_bytes = integer_(row, SLOT_LOW);
  slot->high_bytes = integer_(row, SLOT_HIGH);
  slot->flags = flag_(row, SLOT_CAPTURED, ACLPY_SLOT_CAPTURED) | flag_(row, SLOT_WRITTEN, ACLPY_SLOT_WRITTEN);
  if (flag_(row, SLOT_USED, 1) == 0) slot->flags |= ACLPY_SLOT_UNUSED;
  slot->about = about_(row, text);
  const int64_t itemsize = integer_(row, SLOT_ITEMSIZE);
  slot->flags |= (uint32_t)(itemsize < alignment ? itemsize : alignment) << ACLPY_SLOT_ALIGNMENT;
  return PyErr_Occurred() == NULL;
}

static bool operand_(PyObject *row, aclpy_operand *operand) {
  if (row == NULL) return false;
  operand->base = (int32_t)integer_(row, 0);
  operand->byte_offset = integer_(row, 1);
  return PyErr_Occurred() == NULL;
}

static bool operands_(PyObject *reads, PyObject *write, aclpy_step_desc *step) {
  Py_ssize_t n = reads == NULL ? -1 : PyTuple_Size(reads);
  if (n < 0) return false;
  if (n >= ACLPY_MAX_ARGS) {
    PyErr_SetString(PyExc_ValueError, "a step has too many operands");
    return false;
  }
  for (Py_ssize_t i = 0; i < n; i++) {
    if (!operand_(PyTuple_GetItem(reads, i), &step->operands[i])) return false;
  }
  step->n_operands = (int32_t)n + 1;
  return operand_(write, &step->operands[n]);
}

static bool params_(PyObject *row, int64_t *params, aclpy_step_desc *step) {
  Py_ssize_t n = row == NULL ? -1 : PyTuple_Size(row);
  if (n < 0) return false;
  if (n > ACLPY_MAX_PARAMS) {
    PyErr_SetString(PyExc_ValueError, "a step has too many parameters");
    return false;
  }
  for (Py_ssize_t i = 0; i < n; i++) params[i] = integer_(row, i);
  step->n_params = (int32_t)n;
  step->params = params;
  return PyErr_Occurred() == NULL;
}

static bool launch_(PyObject *launch, aclpy_step_desc *step) {
  if (launch == NULL) return false;
  const aclpy_kernel *kernel = (const aclpy_kernel *)(uintptr_t)integer_(launch, LAUNCH_KERNEL);
  if (PyErr_Occurred() != NULL) return false;
  if (kernel == NULL) {
    step->call = (aclpy_step_call)(uintptr_t)integer_(launch, LAUNCH_CALL);
    step->call_token = (uint64_t)integer_(launch, LAUNCH_TOKEN);
    step->shape.cost_ns = 1e9; /* nobody knows: never taken for a small one */
    return PyErr_Occurred() == NULL;
  }
  step->run = kernel->run;
  if (kernel->plan(step->params, step->n_params, &step->shape) == 0) return true;
  PyErr_Format(PyExc_ValueError, "the kernel %s does not take these parameters", kernel->name);
  return false;
}

static bool step_(PyObject *row, PyObject *launch, int64_t *params, aclpy_step_desc *step) {
  return row != NULL && params_(PyTuple_GetItem(row, STEP_PARAMS), params, step) &&
         operands_(PyTuple_GetItem(row, STEP_READS), PyTuple_GetItem(row, STEP_WRITE), step) && launch_(launch, step);
}

static bool hazard_(PyObject *row, aclpy_hazard *hazard) {
  if (row == NULL) return false;
  hazard->read_slot = (int32_t)integer_(row, 0);
  hazard->write_slot = (int32_t)integer_(row, 1);
  return PyErr_Occurred() == NULL;
}

/* What the arguments say. */
struct given_ {
  PyObject *slots, *steps, *launches, *hazards;
  int alignment;
};

/* Room for the description, in one piece. */
struct room_ {
  aclpy_slot_desc *slots;
  aclpy_step_desc *steps;
  aclpy_hazard *hazards;
  int64_t (*params)[ACLPY_MAX_PARAMS];
  struct writer_ texts;
};

static bool make_room_(struct room_ *room, const aclpy_plan_desc *desc, size_t texts) {
  size_t slots = (size_t)desc->n_slots * sizeof(*room->slots), steps = (size_t)desc->n_steps * sizeof(*room->steps);
  size_t params = (size_t)desc->n_steps * sizeof(*room->params);
  size_t hazards = (size_t)desc->n_hazards * sizeof(*room->hazards);
  char *block = PyMem_Malloc(slots + steps + params + hazards + texts);
  if (block == NULL) {
    PyErr_NoMemory();
    return false;
  }
  memset(block, 0, slots + steps);
  room->slots = (aclpy_slot_desc *)block;
  room->steps = (aclpy_step_desc *)(block + slots);
  room->params = (int64_t (*)[ACLPY_MAX_PARAMS])(block + slots + steps);
  room->hazards = (aclpy_hazard *)(block + slots + steps + params);
  room->texts.to = block + slots + steps + params + hazards;
  room->texts.end = room->texts.to + texts;
  return true;
}

static bool describe_(const struct given_ *given, const struct room_ *room, const aclpy_plan_desc *desc) {
  struct writer_ text = room->texts;
  for (int32_t i = 0; i < desc->n_slots; i++) {
    PyObject *row = PyTuple_GetItem(given->slots, i);
    if (row == NULL || !slot_(row, given->alignment, &text, &room->slots[i])) return false;
  }
  for (int32_t i = 0; i < desc->n_steps; i++) {
    PyObject *launch = PyTuple_GetItem(given->launches, i);
    if (!step_(PyTuple_GetItem(given->steps, i), launch, room->params[i], &room->steps[i])) return false;
  }
  for (int32_t i = 0; i < desc->n_hazards; i++) {
    if (!hazard_(PyTuple_GetItem(given->hazards, i), &room->hazards[i])) return false;
  }
  return true;
}

/* A new reference: the plan's handle, or minus the status. */
static PyObject *create_(const struct given_ *given, aclpy_plan_desc *desc) {
  struct room_ room;
  desc->n_slots = (int32_t)PyTuple_Size(given->slots);
  desc->n_steps = (int32_t)PyTuple_Size(given->steps);
  desc->n_hazards = (int32_t)PyTuple_Size(given->hazards);
  const size_t texts = about_room_(given->slots);
  if (texts == 0 || !make_room_(&room, desc, texts)) return NULL;
  desc->slots = room.slots;
  desc->steps = room.steps;
  desc->hazards = room.hazards;
  PyObject *answer = NULL;
  if (describe_(given, &room, desc)) {
    aclpy_handle plan = 0;
    int32_t status = aclpy_plan_create(desc, &plan);
    answer = status == 0 ? PyLong_FromUnsignedLongLong(plan) : PyLong_FromLong(-(long)status);
  }
  PyMem_Free(room.slots);
  return answer;
}

PyObject *calls_plan(PyObject *module, PyObject *arguments) {
  (void)module;
  struct given_ given;
  unsigned long long workspace_bytes, chains;
  unsigned int op, flags;
  int n_chains;
  const char *refusal;
  if (!PyArg_ParseTuple(arguments, "IIKO!O!O!O!ziiK:plan", &op, &flags, &workspace_bytes, &PyTuple_Type, &given.slots,
                        &PyTuple_Type, &given.steps, &PyTuple_Type, &given.launches, &PyTuple_Type, &given.hazards,
                        &refusal, &given.alignment, &n_chains, &chains)) {
    return NULL;
  }
  aclpy_plan_desc desc = {.op = op,
                          .flags = flags,
                          .workspace_bytes = workspace_bytes,
                          .refusal = refusal,
                          .n_chains = n_chains,
                          .chains = (const aclpy_chain_desc *)(uintptr_t)chains};
  return create_(&given, &desc);
}
