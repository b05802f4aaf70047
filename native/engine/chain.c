/* SPDX-License-Identifier: Apache-2.0
 * Running chains: every block goes through all steps on one thread before the next block begins.
 *
 * To the pool a chain is one kernel whose work items are blocks. Between the steps of a block its rows lie in the
 * thread's own scratch memory; the workspace that the steps would use by themselves stays untouched.
 */
#include "chain.h"

#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "plan.h"
#include "pool.h"

enum { WORTH_NS = 2500 }; /* blocks given to a thread at once should take that long */

static int64_t rounded_(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/* ---- checking and copying ---- */

static bool part_fits_(const aclpy_part_desc *part, const aclpy_step_desc *step, int64_t scratch_bytes) {
  if ((step->run == NULL && part->run == NULL) || part->thread_scratch_bytes < 0 ||
      part->thread_scratch_bytes > INT64_MAX / 4)
    return false;
  for (int32_t tail = 0; tail < 2; tail++) {
    int32_t n = part->n_params[tail];
    if (part->items[tail] < 0 || n < 0 || n > ACLPY_MAX_PARAMS) return false;
    if (n > 0 && part->params[tail] == NULL) return false;
    if (part->position < -1 || part->position >= n) return false;
  }
  for (int32_t i = 0; i < step->n_operands; i++) {
    int64_t scratch = part->operands[i].scratch;
    if (scratch >= scratch_bytes || (scratch >= 0 && scratch % 16 != 0)) return false;
  }
  return true;
}

static const char *blocks_fault_(const aclpy_plan_desc *plan, const aclpy_chain_desc *desc) {
  if (desc->parts == NULL) return "parts of chain";
  if (desc->n_digits < 1 || desc->n_digits > ACLPY_CHAIN_DIGITS) return "digits of chain";
  int64_t blocks = 1;
  for (int32_t i = 0; i < desc->n_digits; i++) {
    if (desc->digits[i] < 1 || __builtin_mul_overflow(blocks, desc->digits[i], &blocks)) return "blocks of chain";
  }
  if (desc->scratch_bytes < 0 || desc->scratch_bytes > INT64_MAX / 4) return "scratch memory of chain";
  for (int32_t i = 0; i < desc->n_steps; i++) {
    if (!part_fits_(&desc->parts[i], &plan->steps[desc->first_step + i], desc->scratch_bytes)) return "parts of chain";
  }
  return NULL;
}

const char *eng_chain_fault(const aclpy_plan_desc *plan, const aclpy_chain_desc *desc) {
  if (desc->n_steps < 1 || desc->n_steps > ACLPY_CHAIN_STEPS || desc->first_step < 0 ||
      desc->first_step > plan->n_steps - desc->n_steps) {
    return "steps of chain";
  }
  const char *fault = desc->whole == NULL ? blocks_fault_(plan, desc) : NULL;
  if (fault != NULL) return fault;
  if (desc->whole != NULL && desc->whole->run == NULL) return "launch of chain";
  if (desc->n_clashes < 0 || (desc->n_clashes > 0 && desc->clashes == NULL)) return "clashes of chain";
  for (int32_t i = 0; i < desc->n_clashes; i++) {
    int32_t slot = desc->clashes[i].slot, written = desc->clashes[i].written_slot;
    if (slot < 0 || slot >= plan->n_slots || written < 0 || written >= plan->n_slots) return "clash of chain";
  }
  return NULL;
}

static bool copy_params_(struct eng_chain *chain, aclpy_part_desc *parts) {
  size_t count = 0;
  for (int32_t i = 0; i < chain->desc.n_steps; i++) {
    count += (size_t)parts[i].n_params[0] + (size_t)parts[i].n_params[1];
  }
  int64_t *to = chain->params = eng_object_alloc((count + 1) * sizeof(*to));
  if (to == NULL) return false;
  for (int32_t i = 0; i < chain->desc.n_steps; i++) {
    for (int32_t tail = 0; tail < 2; tail++) {
      size_t n = (size_t)parts[i].n_params[tail];
      if (n > 0) memcpy(to, parts[i].params[tail], n * sizeof(*to));
      parts[i].params[tail] = to;
      to += n;
    }
  }
  return true;
}

static bool copy_whole_(struct eng_chain *chain) {
  chain->whole = *chain->desc.whole;
  size_t bytes = (size_t)chain->whole.n_params * sizeof(*chain->params);
  chain->params = eng_object_alloc(bytes + 1);
  if (chain->params == NULL) return false;
  if (bytes > 0) memcpy(chain->params, chain->whole.params, bytes);
  chain->whole.params = chain->params;
  chain->desc.whole = &chain->whole;
  return true;
}

bool eng_chain_copy(struct eng_chain *chain, const aclpy_chain_desc *desc, const aclpy_step_desc *steps) {
  size_t parts_bytes = desc->whole == NULL ? (size_t)desc->n_steps * sizeof(*desc->parts) : 0;
  size_t clash_bytes = (size_t)desc->n_clashes * sizeof(*desc->clashes);
  aclpy_part_desc *parts = eng_object_alloc(parts_bytes + 1);
  aclpy_clash *clashes = eng_object_alloc(clash_bytes + 1);
  chain->desc = *desc;
  chain->desc.parts = parts;
  chain->desc.clashes = clashes;
  if (parts == NULL || clashes == NULL) return false;
  if (parts_bytes > 0) memcpy(parts, desc->parts, parts_bytes);
  if (clash_bytes > 0) memcpy(clashes, desc->clashes, clash_bytes);
  if (desc->whole != NULL) return copy_whole_(chain);
  if (!copy_params_(chain, parts)) return false;
  int64_t kernel_bytes = 0;
  for (int32_t i = 0; i < desc->n_steps; i++) {
    chain->cost_ns += steps[desc->first_step + i].shape.cost_ns;
    if (parts[i].thread_scratch_bytes > kernel_bytes) kernel_bytes = parts[i].thread_scratch_bytes;
  }
  chain->blocks = 1;
  for (int32_t i = 0; i < desc->n_digits; i++) chain->blocks *= desc->digits[i];
  double each = chain->cost_ns / (double)chain->blocks;
  chain->grain = each > 0 && each < WORTH_NS ? (int64_t)(WORTH_NS / each) + 1 : 1;
  chain->kernel_scratch = rounded_(desc->scratch_bytes);
  chain->thread_bytes = chain->kernel_scratch + kernel_bytes;
  return true;
}

void eng_chain_free(struct eng_chain *chain) {
  free((void *)(uintptr_t)chain->desc.parts);
  free((void *)(uintptr_t)chain->desc.clashes);
  free(chain->params);
}

/* ---- running ---- */

bool eng_chain_apart(const struct eng_plan *plan, const struct eng_chain *chain, const uintptr_t *address) {
  for (int32_t i = 0; i < chain->desc.n_clashes; i++) {
    const aclpy_clash *clash = &chain->desc.clashes[i];
    const aclpy_slot_desc *a = &plan->slots[clash->slot], *b = &plan->slots[clash->written_slot];
    uintptr_t a_low = address[clash->slot] + (uintptr_t)a->low_bytes;
    uintptr_t a_high = address[clash->slot] + (uintptr_t)a->high_bytes;
    uintptr_t b_low = address[clash->written_slot] + (uintptr_t)b->low_bytes;
    uintptr_t b_high = address[clash->written_slot] + (uintptr_t)b->high_bytes;
    if (a_low >= b_high || b_low >= a_high) continue;
    if (clash->same_layout == 0 || a_low != b_low) return false;
  }
  return true;
}

/* What the pool hands to every block: it begins with the arguments of a kernel, as the pool wants it. */
struct launch_ {
  aclpy_kernel_args args;
  const struct eng_chain *chain;
  const aclpy_step_desc *steps;
  unsigned char *base[ACLPY_CHAIN_STEPS][ACLPY_MAX_ARGS];
};

static int64_t moved_(const int64_t *advance, const int64_t *digit, int32_t n) {
  int64_t sum = 0;
  for (int32_t i = 0; i < n; i++) sum += advance[i] * digit[i];
  return sum;
}

static void run_part_(const struct launch_ *launch, int32_t index, const int64_t *digit, int tail,
                      unsigned char *scratch) {
  const aclpy_chain_desc *chain = &launch->chain->desc;
  const aclpy_part_desc *part = &chain->parts[index];
  const aclpy_step_desc *step = &launch->steps[index];
  aclpy_kernel_args args = {.params = part->params[tail], .parts = part->parts};
  int64_t shifted[ACLPY_MAX_PARAMS];
  if (part->position >= 0) {
    memcpy(shifted, part->params[tail], (size_t)part->n_params[tail] * sizeof(*shifted));
    shifted[part->position] += moved_(part->position_advance, digit, chain->n_digits);
    args.params = shifted;
  }
  for (int32_t i = 0; i < step->n_operands; i++) {
    const aclpy_part_operand *operand = &part->operands[i];
    args.addr[i] = operand->scratch >= 0 ? scratch + operand->scratch
                                         : launch->base[index][i] + moved_(operand->advance, digit, chain->n_digits);
  }
  const aclpy_kernel_run run = part->run != NULL ? part->run : step->run;
  run(&args, 0, 0, part->items[tail], scratch + launch->chain->kernel_scratch);
}

static void run_blocks_(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch) {
  (void)pass;
  const struct launch_ *launch = (const struct launch_ *)(const void *)args;
  const aclpy_chain_desc *chain = &launch->chain->desc;
  const int32_t last = chain->n_digits - 1;
  for (int64_t block = begin; block < end; block++) {
    int64_t digit[ACLPY_CHAIN_DIGITS], rest = block;
    for (int32_t i = last; i >= 0; i--) {
      digit[i] = rest % chain->digits[i];
      rest /= chain->digits[i];
    }
    int tail = digit[last] == chain->digits[last] - 1;
    for (int32_t i = 0; i < chain->n_steps; i++) run_part_(launch, i, digit, tail, scratch);
  }
}

bool eng_chain_run(const struct eng_plan *plan, const struct eng_chain *chain, const uintptr_t *address,
                   uintptr_t workspace) {
  struct launch_ launch = {.chain = chain, .steps = &plan->steps[chain->desc.first_step]};
  for (int32_t i = 0; i < chain->desc.n_steps; i++) {
    for (int32_t operand = 0; operand < launch.steps[i].n_operands; operand++) {
      const aclpy_operand *place = &launch.steps[i].operands[operand];
      uintptr_t base = place->base == ACLPY_BASE_WORKSPACE ? workspace : address[place->base];
      launch.base[i][operand] = (unsigned char *)(base + (uintptr_t)place->byte_offset);
    }
  }
  const struct eng_load load = {.items = chain->blocks,
                                .grain = chain->grain,
                                .thread_scratch_bytes = chain->thread_bytes,
                                .cost_ns = chain->cost_ns};
  return eng_pool_run(run_blocks_, &launch.args, 0, &load);
}
