/* SPDX-License-Identifier: Apache-2.0
 * The oneDNN peer: makes softmax primitives on command and times them in a loop of C.
 *
 * A process of its own, so that its thread count is its own and a crash is its own. Commands on stdin, one a line:
 *   make <forward|backward> <softmax|log_softmax> <f32|f16|bf16|f64> <direct|dense|axis_last> <axis> <rank> <dims>
 *        <strides of the first input> <of the second (backward)> <of the output>
 *        direct: on the layouts as they are; dense, axis_last: reorders to and from row-major memory, or memory in
 *        which the axis runs fastest, around the primitive
 *   attr <type of dst> <scale 0|1> <post-op>
 *        of the next forward; a post-op is none, add, add_full, mul or one of append_, whose operands are 0.5; the
 *        destination's scale is 0.01
 *   load <slot> <bytes>   from the shared file into the slot's memory
 *   dump <slot> <bytes>   back
 *   run <count>           nanoseconds of `count` executions and one wait
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 3, MAX_STEPS = 4, MAX_ARGS = 4, HUGE_PAGE = 2 << 20 };

typedef struct step {
  dnnl_primitive_t primitive;
  int count;
  dnnl_exec_arg_t args[MAX_ARGS];
} step;

typedef struct operand {
  dnnl_memory_desc_t user;  /* the layout asked for */
  dnnl_memory_desc_t dense; /* what the primitive sees: the same, or row-major behind a reorder */
  dnnl_memory_t user_memory;
  dnnl_memory_t dense_memory;
  int staged;
} operand;

static dnnl_engine_t engine;
static dnnl_stream_t stream;
static void *slots[SLOTS], *staging[SLOTS];
static size_t slot_bytes[SLOTS], staging_bytes[SLOTS];
static operand operands[SLOTS];
static dnnl_primitive_desc_t forward_hint, description;
static step steps[MAX_STEPS];
static char extra_type[8], extra_operation[16]; /* of the next forward primitive; empty for a plain one */
static int extra_scale;
static dnnl_memory_t row_memory, scale_memory;
static float *row;
static float dst_scale = 0.01f;
static int n_steps;

#define TRY(call)                                     \
  do {                                                \
    const dnnl_status_t status_ = (call);             \
    if (status_ != dnnl_success) return (int)status_; \
  } while (0)

static int64_t now_(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

static int reserve_(void **memory, size_t *have, size_t need) {
  if (need <= *have) return 0;
  free(*memory);
  *have = 0;
  const size_t rounded = (need + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  if (posix_memalign(memory, HUGE_PAGE, rounded)) return (int)dnnl_out_of_memory;
  madvise(*memory, rounded, MADV_HUGEPAGE);
  memset(*memory, 0, rounded);
  *have = rounded;
  return 0;
}

static void forget_operand_(operand *one) {
  if (one->user_memory) dnnl_memory_destroy(one->user_memory);
  if (one->staged && one->dense_memory) dnnl_memory_destroy(one->dense_memory);
  if (one->user) dnnl_memory_desc_destroy(one->user);
  if (one->staged && one->dense) dnnl_memory_desc_destroy(one->dense);
  *one = (operand){0};
}

static void forget_(void) {
  for (int i = 0; i < n_steps; i++) dnnl_primitive_destroy(steps[i].primitive);
  n_steps = 0;
  for (int i = 0; i < SLOTS; i++) forget_operand_(&operands[i]);
  if (description) dnnl_primitive_desc_destroy(description);
  if (forward_hint) dnnl_primitive_desc_destroy(forward_hint);
  description = forward_hint = NULL;
  if (row_memory) dnnl_memory_destroy(row_memory);
  if (scale_memory) dnnl_memory_destroy(scale_memory);
  row_memory = scale_memory = NULL;
  free(row);
  row = NULL;
}

static int64_t read_int_(void) {
  const char *word = strtok(NULL, " \n");
  return word ? strtoll(word, NULL, 10) : 0;
}

static dnnl_data_type_t data_type_(const char *name) {
  if (!strcmp(name, "f32")) return dnnl_f32;
  if (!strcmp(name, "f16")) return dnnl_f16;
  if (!strcmp(name, "bf16")) return dnnl_bf16;
  if (!strcmp(name, "u8")) return dnnl_u8;
  return dnnl_f64;
}

static int add_reorder_(operand *from_or_to, int into_dense) {
  dnnl_memory_desc_t from = into_dense ? from_or_to->user : from_or_to->dense;
  dnnl_memory_desc_t to = into_dense ? from_or_to->dense : from_or_to->user;
  dnnl_primitive_desc_t reorder;
  TRY(dnnl_reorder_primitive_desc_create(&reorder, from, engine, to, engine, NULL));
  step *one = &steps[n_steps];
  const dnnl_status_t status = dnnl_primitive_create(&one->primitive, reorder);
  dnnl_primitive_desc_destroy(reorder);
  if (status != dnnl_success) return (int)status;
  one->count = 2;
  one->args[0] = (dnnl_exec_arg_t){DNNL_ARG_FROM, into_dense ? from_or_to->user_memory : from_or_to->dense_memory};
  one->args[1] = (dnnl_exec_arg_t){DNNL_ARG_TO, into_dense ? from_or_to->dense_memory : from_or_to->user_memory};
  n_steps++;
  return 0;
}

/* Row-major strides of `dims` as if dimension `fastest` stood last; returns the number of elements. */
static int64_t dense_strides_(int rank, const dnnl_dims_t dims, int fastest, dnnl_dims_t strides) {
  strides[fastest] = 1;
  int64_t elements = dims[fastest];
  for (int i = rank - 1; i >= 0; i--) {
    if (i == fastest) continue;
    strides[i] = elements;
    elements *= dims[i];
  }
  return elements;
}

static int make_operand_(int slot, dnnl_data_type_t type, int rank, const dnnl_dims_t dims, int fastest) {
  dnnl_dims_t strides, dense;
  int64_t span = 1;
  for (int i = 0; i < rank; i++) {
    strides[i] = read_int_();
    span += (dims[i] - 1) * strides[i];
  }
  const int64_t elements = dense_strides_(rank, dims, fastest < 0 ? rank - 1 : fastest, dense);
  operand *one = &operands[slot];
  const size_t element = dnnl_data_type_size(type);
  TRY(dnnl_memory_desc_create_with_strides(&one->user, rank, dims, type, strides));
  TRY((dnnl_status_t)reserve_(&slots[slot], &slot_bytes[slot], (size_t)span * element));
  TRY(dnnl_memory_create(&one->user_memory, one->user, engine, slots[slot]));
  one->dense = one->user;
  one->dense_memory = one->user_memory;
  if (fastest < 0 || !memcmp(dense, strides, sizeof(int64_t) * (size_t)rank)) return 0;
  one->staged = 1;
  one->dense = NULL;
  one->dense_memory = NULL;
  TRY(dnnl_memory_desc_create_with_strides(&one->dense, rank, dims, type, dense));
  TRY((dnnl_status_t)reserve_(&staging[slot], &staging_bytes[slot], (size_t)elements * element));
  TRY(dnnl_memory_create(&one->dense_memory, one->dense, engine, staging[slot]));
  return 0;
}

/* A row that repeats over everything but the axis, or (axis -1) a tensor of the full shape. */
static int append_row_(dnnl_post_ops_t ops, dnnl_alg_kind_t kind, int rank, const dnnl_dims_t dims, int axis) {
  dnnl_dims_t one;
  dnnl_memory_desc_t desc;
  int64_t elements = 1;
  for (int i = 0; i < rank; i++) one[i] = axis < 0 || i == axis ? dims[i] : 1;
  for (int i = 0; i < rank; i++) elements *= one[i];
  row = malloc((size_t)elements * sizeof *row);
  if (!row) return (int)dnnl_out_of_memory;
  for (int64_t i = 0; i < elements; i++) row[i] = 0.5f;
  dnnl_dims_t strides;
  dense_strides_(rank, one, rank - 1, strides);
  TRY(dnnl_memory_desc_create_with_strides(&desc, rank, one, dnnl_f32, strides));
  const dnnl_status_t made = dnnl_memory_create(&row_memory, desc, engine, row);
  const dnnl_status_t appended = made ? made : dnnl_post_ops_append_binary(ops, kind, desc);
  dnnl_memory_desc_destroy(desc);
  return (int)appended;
}

static int append_(dnnl_post_ops_t ops, int rank, const dnnl_dims_t dims, int axis) {
  static const struct {
    const char *name;
    dnnl_alg_kind_t kind;
    float alpha, beta;
  } known[] = {{"relu", dnnl_eltwise_relu, 0, 0},
               {"clip", dnnl_eltwise_clip, 0, 0.5f},
               {"linear", dnnl_eltwise_linear, 1.7f, 0.25f},
               {"exp", dnnl_eltwise_exp, 0, 0},
               {"tanh", dnnl_eltwise_tanh, 0, 0},
               {"gelu_erf", dnnl_eltwise_gelu_erf, 0, 0},
               {"pow", dnnl_eltwise_pow, 1, 0.3f},
               {"elu", dnnl_eltwise_elu, 1, 0},
               {"gelu_tanh", dnnl_eltwise_gelu_tanh, 0, 0},
               {"log", dnnl_eltwise_log, 0, 0},
               {"logistic", dnnl_eltwise_logistic, 0, 0},
               {"mish", dnnl_eltwise_mish, 0, 0},
               {"soft_relu", dnnl_eltwise_soft_relu, 1, 0},
               {"swish", dnnl_eltwise_swish, 1, 0}};
  if (!strcmp(extra_operation, "add_full")) return append_row_(ops, dnnl_binary_add, rank, dims, -1);
  if (!strcmp(extra_operation, "add")) return append_row_(ops, dnnl_binary_add, rank, dims, axis);
  if (!strcmp(extra_operation, "mul")) return append_row_(ops, dnnl_binary_mul, rank, dims, axis);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (!strcmp(extra_operation, known[i].name))
      return (int)dnnl_post_ops_append_eltwise(ops, known[i].kind, known[i].alpha, known[i].beta);
  return strcmp(extra_operation, "none") ? (int)dnnl_invalid_arguments : 0;
}

static int make_attributes_(dnnl_primitive_attr_t attr, int rank, const dnnl_dims_t dims, int axis) {
  if (extra_scale) {
    const dnnl_dims_t one = {1};
    dnnl_memory_desc_t desc;
    TRY(dnnl_primitive_attr_set_scales_mask(attr, DNNL_ARG_DST, 0));
    TRY(dnnl_memory_desc_create_with_tag(&desc, 1, one, dnnl_f32, dnnl_a));
    const dnnl_status_t made = dnnl_memory_create(&scale_memory, desc, engine, &dst_scale);
    dnnl_memory_desc_destroy(desc);
    TRY(made);
  }
  dnnl_post_ops_t ops;
  TRY(dnnl_post_ops_create(&ops));
  int status = append_(ops, rank, dims, axis);
  if (!status) status = (int)dnnl_primitive_attr_set_post_ops(attr, ops);
  dnnl_post_ops_destroy(ops);
  return status;
}

static int make_forward_(dnnl_alg_kind_t kind, int rank, const dnnl_dims_t dims, int axis) {
  dnnl_primitive_attr_t attr = NULL;
  int status = 0;
  if (*extra_operation) {
    TRY(dnnl_primitive_attr_create(&attr));
    status = make_attributes_(attr, rank, dims, axis);
  }
  if (!status)
    status = (int)dnnl_softmax_forward_primitive_desc_create(&description, engine, dnnl_forward_inference, kind,
                                                             operands[0].dense, operands[2].dense, axis, attr);
  if (attr) dnnl_primitive_attr_destroy(attr);
  return status;
}

static int make_(void) {
  const int backward = !strcmp(strtok(NULL, " \n"), "backward");
  const dnnl_alg_kind_t kind = strcmp(strtok(NULL, " \n"), "softmax") ? dnnl_softmax_log : dnnl_softmax_accurate;
  const dnnl_data_type_t type = data_type_(strtok(NULL, " \n"));
  const char *way = strtok(NULL, " \n");
  const int axis = (int)read_int_(), rank = (int)read_int_();
  dnnl_dims_t dims;
  if (rank < 1 || rank > DNNL_MAX_NDIMS || axis < 0 || axis >= rank) return (int)dnnl_invalid_arguments;
  const int fastest = !strcmp(way, "direct") ? -1 : !strcmp(way, "dense") ? rank - 1 : axis;
  for (int i = 0; i < rank; i++) dims[i] = read_int_();
  for (int slot = 0; slot < SLOTS; slot++) {
    if (slot == 1 && !backward) continue;
    const dnnl_data_type_t stored = slot == 2 && *extra_operation ? data_type_(extra_type) : type;
    TRY((dnnl_status_t)make_operand_(slot, stored, rank, dims, fastest));
  }
  for (int slot = 0; slot < 2; slot++)
    if (operands[slot].staged) TRY((dnnl_status_t)add_reorder_(&operands[slot], 1));
  operand *in = &operands[0], *data = &operands[1], *out = &operands[2];
  if (backward) {
    TRY(dnnl_softmax_forward_primitive_desc_create(&forward_hint, engine, dnnl_forward_training, kind, data->dense,
                                                   data->dense, axis, NULL));
    TRY(dnnl_softmax_backward_primitive_desc_create(&description, engine, kind, out->dense, in->dense, data->dense,
                                                    axis, forward_hint, NULL));
  } else {
    TRY((dnnl_status_t)make_forward_(kind, rank, dims, axis));
  }
  step *main_step = &steps[n_steps];
  TRY(dnnl_primitive_create(&main_step->primitive, description));
  n_steps++;
  if (backward) {
    main_step->count = 3;
    main_step->args[0] = (dnnl_exec_arg_t){DNNL_ARG_DIFF_DST, in->dense_memory};
    main_step->args[1] = (dnnl_exec_arg_t){DNNL_ARG_DST, data->dense_memory};
    main_step->args[2] = (dnnl_exec_arg_t){DNNL_ARG_DIFF_SRC, out->dense_memory};
  } else {
    main_step->count = 2;
    main_step->args[0] = (dnnl_exec_arg_t){DNNL_ARG_SRC, in->dense_memory};
    main_step->args[1] = (dnnl_exec_arg_t){DNNL_ARG_DST, out->dense_memory};
    if (scale_memory)
      main_step->args[main_step->count++] = (dnnl_exec_arg_t){DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, scale_memory};
    if (row_memory)
      main_step->args[main_step->count++] =
          (dnnl_exec_arg_t){DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, row_memory};
  }
  return out->staged ? add_reorder_(out, 0) : 0;
}

static int run_(int64_t count, int64_t *took) {
  if (!n_steps) return (int)dnnl_invalid_arguments;
  const int64_t start = now_();
  for (int64_t i = 0; i < count; i++)
    for (int k = 0; k < n_steps; k++)
      TRY(dnnl_primitive_execute(steps[k].primitive, stream, steps[k].count, steps[k].args));
  TRY(dnnl_stream_wait(stream));
  *took = now_() - start;
  return 0;
}

static void answer_attr_(void) {
  const char *type = strtok(NULL, " \n"), *scale = strtok(NULL, " \n"), *operation = strtok(NULL, " \n");
  snprintf(extra_type, sizeof extra_type, "%s", operation ? type : "");
  snprintf(extra_operation, sizeof extra_operation, "%s", operation ? operation : "");
  extra_scale = operation && *scale == '1';
  printf("ok\n");
}

static void answer_make_(void) {
  forget_();
  const int status = make_();
  *extra_operation = 0;
  const char *name = "unknown";
  if (status) {
    forget_();
    printf("no status %d\n", status);
    return;
  }
  dnnl_primitive_desc_query(description, dnnl_query_impl_info_str, 0, (void *)&name);
  printf("ok %s\n", name);
}

static void answer_run_(void) {
  int64_t took = 0;
  const int status = run_(read_int_(), &took);
  if (status)
    printf("no status %d\n", status);
  else
    printf("ok %" PRId64 "\n", took);
}

static void answer_copy_(char *shared, size_t shared_bytes, int load) {
  const int64_t slot = read_int_(), bytes = read_int_();
  if (slot < 0 || slot >= SLOTS || bytes < 0 || (size_t)bytes > shared_bytes || (size_t)bytes > slot_bytes[slot]) {
    printf("no such memory\n");
    return;
  }
  memcpy(load ? slots[slot] : shared, load ? shared : slots[slot], (size_t)bytes);
  printf("ok\n");
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  const size_t shared_bytes = strtoull(argv[2], NULL, 10);
  char *shared = mmap(NULL, shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(argv[1]), 0);
  if (shared == MAP_FAILED) return 2;
  dnnl_set_verbose(0); /* its error lines would mix with the answers */
  if (dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success) {
    printf("no CPU engine: the OpenCL CPU runtime was not found\n");
    return 1;
  }
  if (dnnl_stream_create(&stream, engine, dnnl_stream_in_order) != dnnl_success) {
    printf("no stream\n");
    return 1;
  }
  const dnnl_version_t *version = dnnl_version();
  printf("ok %d.%d.%d\n", version->major, version->minor, version->patch);
  fflush(stdout);
  char line[4096];
  while (fgets(line, sizeof line, stdin)) {
    const char *word = strtok(line, " \n");
    if (!word) continue;
    if (!strcmp(word, "make")) {
      answer_make_();
    } else if (!strcmp(word, "attr")) {
      answer_attr_();
    } else if (!strcmp(word, "run")) {
      answer_run_();
    } else if (!strcmp(word, "load") || !strcmp(word, "dump")) {
      answer_copy_(shared, shared_bytes, word[0] == 'l');
    } else {
      printf("no such command\n");
    }
    fflush(stdout);
  }
  fflush(stdout);
  _exit(0); /* the SYCL runtime's own end is not our subject */
}
