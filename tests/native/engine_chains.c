/* SPDX-License-Identifier: Apache-2.0
 * Chains: blocks on several threads, short last blocks, two digits, memory that forbids blocks, refused descriptions.
 */
#include <stdatomic.h>

#include "aclpy_status.h"
#include "check.h"
#include "engine.h"

/* out[i] = in[i] * 2 + position, over params[0] elements; params[1] is the position of the first. */
static void double_run(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch) {
  (void)pass;
  memset(scratch, 0x5a, 64);
  const float *in = (const float *)(const void *)args->addr[0];
  float *out = (float *)(void *)args->addr[1];
  for (int64_t i = begin; i < end; i++) out[i] = in[i] * 2.0f + (float)(args->params[1] + i);
}

static atomic_int whole_launches, part_launches;

static void add_run(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch) {
  (void)pass, (void)scratch;
  const float *in = (const float *)(const void *)args->addr[0];
  float *out = (float *)(void *)args->addr[1];
  CHECK_EQUAL(end - begin, args->params[0]);
  atomic_fetch_add(args->parts > 1 ? &part_launches : &whole_launches, 1);
  for (int64_t i = begin; i < end; i++) out[i] = in[i] + 0.5f;
}

enum { GROUPS = 3, ROWS = 1001, N = GROUPS * ROWS, BLOCK = 64, BYTES = N * (int)sizeof(float) };

static uint32_t op_id;
static const int64_t whole_params[2] = {N, 0}, block_params[2] = {BLOCK, 0}, last_params[2] = {ROWS % BLOCK, 0};

struct plan_parts {
  aclpy_slot_desc slots[2];
  aclpy_step_desc steps[2];
  aclpy_part_desc parts[2];
  aclpy_clash clash;
  aclpy_chain_desc chain;
  aclpy_plan_desc desc;
  aclpy_step_desc whole;
};

static aclpy_step_desc step_(aclpy_kernel_run run, int32_t from, int32_t to) {
  return (aclpy_step_desc){
      .run = run,
      .shape = {.passes = 1, .items = {N}, .grain = {N}, .thread_scratch_bytes = 64, .cost_ns = 1e6},
      .n_operands = 2,
      .operands = {{from, 0}, {to, 0}},
      .n_params = 2,
      .params = whole_params};
}

static aclpy_part_desc part_(int64_t in_scratch, int64_t out_scratch, int32_t position, int64_t parts) {
  const int64_t group = ROWS * (int64_t)sizeof(float), block = BLOCK * (int64_t)sizeof(float);
  return (aclpy_part_desc){.n_params = {2, 2},
                           .params = {block_params, last_params},
                           .items = {BLOCK, ROWS % BLOCK},
                           .thread_scratch_bytes = 64,
                           .parts = parts,
                           .position = position,
                           .position_advance = {ROWS, BLOCK},
                           .operands = {{in_scratch, {group, block}}, {out_scratch, {group, block}}}};
}

/* double into the workspace, add to out; or both through scratch, block by block. */
static void describe(struct plan_parts *p, int32_t same_layout) {
  *p = (struct plan_parts){
      .slots = {{"self", 0, BYTES, 0, NULL}, {"out", 0, BYTES, ACLPY_SLOT_WRITTEN, NULL}},
      .steps = {step_(double_run, 0, ACLPY_BASE_WORKSPACE), step_(add_run, ACLPY_BASE_WORKSPACE, 1)},
      .parts = {part_(-1, 0, 1, 0), part_(0, -1, -1, GROUPS * 16)},
      .clash = {0, 1, same_layout},
      .chain = {.n_steps = 2, .n_digits = 2, .digits = {GROUPS, 16}, .scratch_bytes = BLOCK * 4, .n_clashes = 1},
      .desc = {.op = op_id, .workspace_bytes = BYTES, .n_slots = 2, .n_steps = 2, .n_chains = 1}};
  p->chain.parts = p->parts;
  p->chain.clashes = &p->clash;
  p->desc.slots = p->slots;
  p->desc.steps = p->steps;
  p->desc.chains = &p->chain;
}

/* What both steps do, in one launch. */
static void both_run(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch) {
  (void)pass;
  memset(scratch, 0x5a, 64);
  const float *in = (const float *)(const void *)args->addr[0];
  float *out = (float *)(void *)args->addr[1];
  for (int64_t i = begin; i < end; i++) out[i] = in[i] * 2.0f + (float)(args->params[1] + i) + 0.5f;
  atomic_fetch_add(&part_launches, 1);
}

static void describe_whole(struct plan_parts *p, int32_t same_layout) {
  describe(p, same_layout);
  p->whole = step_(both_run, 0, 1);
  p->chain.whole = &p->whole;
  p->chain.parts = NULL;
  p->chain.n_digits = 0;
}

static aclpy_handle tensor_at(uintptr_t address) {
  const int64_t dims[1] = {N};
  aclpy_handle tensor = 0;
  CHECK_EQUAL(aclpy_tensor_create(dims, 1, 0, NULL, 0, 2, dims, 1, address, &tensor, NULL), 0);
  return tensor;
}

/* Runs the plan with `out` so many elements behind `in`, in one allocation; checks every element. `launches` of blocks,
 * or of what stands for the chain; 0: the steps one after the other. */
static void run_at(const aclpy_plan_desc *desc, int64_t behind, int launches) {
  const bool in_blocks = launches > 0;
  aclpy_handle plan = 0, stream = 0;
  uintptr_t memory = 0, workspace = 0;
  CHECK_EQUAL(aclpy_plan_create(desc, &plan), 0);
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream), 0);
  CHECK_EQUAL(aclpy_malloc(0, 2 * BYTES, 0, &memory), 0);
  CHECK_EQUAL(aclpy_malloc(0, BYTES, 0, &workspace), 0);
  memset((void *)workspace, 0xff, BYTES); /* NaN */
  float *in = (float *)memory, *out = in + behind;
  for (int i = 0; i < N; i++) in[i] = (float)(i % 97);
  aclpy_handle from = tensor_at((uintptr_t)in), to = tensor_at((uintptr_t)out);
  aclpy_handle executor = aclpy_executor_new(plan, from, to, 0, 0);
  int before = atomic_load(in_blocks ? &part_launches : &whole_launches);
  CHECK_EQUAL(aclpy_execute(op_id, workspace, BYTES, executor, stream), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
  CHECK_EQUAL(atomic_load(in_blocks ? &part_launches : &whole_launches) - before, in_blocks ? launches : 1);
  for (int i = 0; i < N; i++) CHECK(out[i] == (float)(i % 97) * 2.0f + (float)i + 0.5f);
  /* Blocks leave the workspace alone. */
  CHECK((((const unsigned char *)workspace)[0] == 0xff) == in_blocks);
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
  CHECK_EQUAL(aclpy_tensor_destroy(from), 0);
  CHECK_EQUAL(aclpy_tensor_destroy(to), 0);
  CHECK_EQUAL(aclpy_plan_release(plan), 0);
  CHECK_EQUAL(aclpy_free(memory), 0);
  CHECK_EQUAL(aclpy_free(workspace), 0);
}

static void blocks_on_any_number_of_threads(void) {
  struct plan_parts p;
  for (int32_t threads = 1; threads <= 4; threads++) {
    CHECK_EQUAL(aclpy_set_thread_count(threads), 0);
    describe(&p, 0);
    run_at(&p.desc, N, GROUPS * 16);
  }
}

static void a_part_may_have_a_kernel_of_its_own(void) {
  struct plan_parts p;
  describe(&p, 0);
  p.parts[0].run = p.steps[0].run;
  p.steps[0].run = add_run; /* not what its blocks do */
  run_at(&p.desc, N, GROUPS * 16);
}

static void overlapping_memory_is_done_step_by_step(void) {
  struct plan_parts p;
  describe(&p, 0);
  run_at(&p.desc, 0, 0);
  run_at(&p.desc, 1, 0);
  run_at(&p.desc, N - 1, 0);
  describe(&p, 1);
  run_at(&p.desc, 0, GROUPS * 16); /* the same layout in the same place */
  run_at(&p.desc, 1, 0);
}

static void one_launch_stands_for_the_steps(void) {
  struct plan_parts p;
  describe_whole(&p, 0);
  run_at(&p.desc, N, 1);
  run_at(&p.desc, 0, 0); /* memory in common: step by step */
  run_at(&p.desc, 1, 0);
  describe_whole(&p, 1);
  run_at(&p.desc, 0, 1);
}

static void descriptions_that_make_no_sense_are_refused(void) {
  for (int fault = 0; fault < 12; fault++) {
    struct plan_parts p;
    describe(&p, 0);
    if (fault == 0) p.chain.first_step = 1;
    if (fault == 1) p.chain.n_steps = ACLPY_CHAIN_STEPS + 1;
    if (fault == 2) p.chain.n_digits = ACLPY_CHAIN_DIGITS + 1;
    if (fault == 3) p.chain.digits[0] = 0;
    if (fault == 4) p.chain.digits[0] = p.chain.digits[1] = INT64_MAX;
    if (fault == 5) p.chain.scratch_bytes = -1;
    if (fault == 6) p.parts[0].operands[1].scratch = p.chain.scratch_bytes;
    if (fault == 7) p.parts[1].position = 2;
    if (fault == 8) p.clash.written_slot = 2;
    if (fault == 9) p.chain.parts = NULL;
    if (fault >= 10) describe_whole(&p, 0);
    if (fault == 10) p.whole.run = NULL;
    if (fault == 11) p.chain.n_steps = 3;
    aclpy_handle plan = 0;
    CHECK_EQUAL(aclpy_plan_create(&p.desc, &plan), ACLPY_ACLNN_ERR_INNER);
    CHECK_CONTAINS(aclpy_error_last()->got, "of chain");
  }
  CHECK_EQUAL(aclpy_live_count("plan"), 0);
}

static void no_memory_leaves_nothing_behind(const struct plan_parts *p) {
  aclpy_handle plan = 0;
  int failures = 0;
  for (int64_t n = 1; plan == 0; n++) {
    CHECK_EQUAL(aclpy_fail_after("object", n), 0);
    int32_t status = aclpy_plan_create(&p->desc, &plan);
    CHECK((status == 0) == (plan != 0));
    if (status != 0) failures++;
  }
  CHECK_EQUAL(aclpy_fail_after("object", 0), 0);
  CHECK(failures >= 8);
  CHECK_EQUAL(aclpy_plan_release(plan), 0);
}

static void no_memory_for_a_chain_leaves_nothing_behind(void) {
  struct plan_parts p;
  describe(&p, 0);
  no_memory_leaves_nothing_behind(&p);
  describe_whole(&p, 0);
  no_memory_leaves_nothing_behind(&p);
}

int main(void) {
  op_id = aclpy_operator_id("chained");
  CHECK_EQUAL(aclpy_set_device(0), 0);
  RUN(blocks_on_any_number_of_threads);
  RUN(a_part_may_have_a_kernel_of_its_own);
  RUN(overlapping_memory_is_done_step_by_step);
  RUN(one_launch_stands_for_the_steps);
  RUN(descriptions_that_make_no_sense_are_refused);
  RUN(no_memory_for_a_chain_leaves_nothing_behind);
  aclpy_shutdown();
  return 0;
}
