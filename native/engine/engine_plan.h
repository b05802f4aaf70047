/* SPDX-License-Identifier: Apache-2.0
 * Plans: what phase 1 worked out, as the planner hands it over. Part of engine.h, whose conventions hold here too.
 */
#ifndef ACLPY_ENGINE_PLAN_DESC_H
#define ACLPY_ENGINE_PLAN_DESC_H

enum { ACLPY_BASE_WORKSPACE = -1 }; /* otherwise aclpy_operand.base is a tensor slot */

typedef struct aclpy_operand {
  int32_t base;
  int64_t byte_offset; /* from the workspace, or from the tensor's raw data address */
} aclpy_operand;

/* A step that is not a kernel: runs on the worker, may fail. Used by the Python reference backend. */
typedef int32_t (*aclpy_step_call)(uint64_t token, unsigned char *const *addr);

typedef struct aclpy_step_desc {
  aclpy_kernel_run run; /* NULL for a call step */
  aclpy_step_call call;
  uint64_t call_token;
  aclpy_kernel_shape shape;
  int32_t n_operands;
  aclpy_operand operands[ACLPY_MAX_ARGS];
  int32_t n_params;
  const int64_t *params; /* copied */
} aclpy_step_desc;

enum {
  ACLPY_SLOT_CAPTURED = 1u << 0, /* a first, non-repeatable run uses the address read in phase 1 (contiguous out) */
  ACLPY_SLOT_WRITTEN = 1u << 1,
  ACLPY_SLOT_UNUSED = 1u << 2, /* no step touches it (empty plans): never checked */
  ACLPY_SLOT_ALIGNMENT = 8 /* from this bit on: what its address must be a multiple of [bytes], a power of 2; 0: any */
};

typedef struct aclpy_slot_desc {
  const char *name;  /* parameter, for messages */
  int64_t low_bytes; /* the view's byte range relative to the raw data address: [low, high) */
  int64_t high_bytes;
  uint32_t flags;
  const char *about; /* "FLOAT [8, 32]", for timelines; may be NULL. Copied, like the name. */
} aclpy_slot_desc;

/* Two slots that one step reads and writes directly: their byte ranges must be disjoint or start at the same byte. */
typedef struct aclpy_hazard {
  int32_t read_slot;
  int32_t write_slot;
} aclpy_hazard;

enum {
  ACLPY_PLAN_VENDOR_CACHEABLE = 1u << 0, /* a completed run sets the thread's emulated vendor-cache flag */
  ACLPY_PLAN_REPEATABLE = 1u << 1,       /* aclSetAclOpExecutorRepeatable is allowed (unless a cache hit) */
  ACLPY_PLAN_FOREIGN = 1u << 2           /* its steps run on a foreign device, and on no other */
};

/* A chain: consecutive steps that may run block by block. A block is a range of rows, numbered by digits, the last of
 * which counts pieces of one axis: its last piece may be short. */
enum { ACLPY_CHAIN_DIGITS = 8, ACLPY_CHAIN_STEPS = 16 };

typedef struct aclpy_part_operand {
  int64_t scratch; /* bytes into the thread's buffer; negative: the step's own operand, moved on by `advance` */
  int64_t advance[ACLPY_CHAIN_DIGITS]; /* bytes from one block to the next along each digit */
} aclpy_part_operand;

/* How one step does a block; [0] a whole one, [1] the last along the last digit. */
typedef struct aclpy_part_desc {
  int32_t n_params[2];
  const int64_t *params[2]; /* copied */
  int64_t items[2];
  int64_t thread_scratch_bytes; /* of the kernel itself */
  int64_t parts;                /* aclpy_kernel_args.parts */
  aclpy_kernel_run run;         /* NULL: the step's own; else what does a block of it with these parameters */
  int32_t position;             /* parameter that the index of the block's first element is added to; -1: none */
  int64_t position_advance[ACLPY_CHAIN_DIGITS]; /* elements */
  aclpy_part_operand operands[ACLPY_MAX_ARGS];
} aclpy_part_desc;

/* Slots that a chain reads and writes, or writes twice. Where their memory overlaps, its steps run one after the other
 * instead; unless both views have one layout and start at the same byte. */
typedef struct aclpy_clash {
  int32_t slot;
  int32_t written_slot;
  int32_t same_layout;
} aclpy_clash;

typedef struct aclpy_chain_desc {
  int32_t first_step;
  int32_t n_steps;
  int32_t n_digits;
  int64_t digits[ACLPY_CHAIN_DIGITS];
  int64_t scratch_bytes;        /* of the thread's buffer */
  const aclpy_part_desc *parts; /* one a step; copied */
  int32_t n_clashes;
  const aclpy_clash *clashes; /* copied */
  /* NULL, or one step of the same outcome that is run instead: then there are no blocks and no parts. Copied. */
  const aclpy_step_desc *whole;
} aclpy_chain_desc;

typedef struct aclpy_plan_desc {
  uint32_t op; /* from aclpy_operator_id */
  uint32_t flags;
  uint64_t workspace_bytes;
  int32_t n_slots;
  const aclpy_slot_desc *slots;
  int32_t n_steps;
  const aclpy_step_desc *steps;
  int32_t n_hazards;
  const aclpy_hazard *hazards;
  const char *refusal; /* NULL; else why aclSetAclOpExecutorRepeatable is refused, for the message */
  int32_t n_chains;
  const aclpy_chain_desc *chains; /* in the order of their steps, none in common; copied */
} aclpy_plan_desc;

uint32_t aclpy_operator_id(const char *name); /* the same name always gives the same id (>= 1); 0: out of memory */
int32_t aclpy_plan_create(const aclpy_plan_desc *desc, aclpy_handle *plan);
int32_t aclpy_plan_release(aclpy_handle plan); /* executors keep what they need */
/* The call tokens of plans that are gone, with the last executor, queued task and graph that could run them: all since
 * the last time at once, to be asked for one by one. The last answer is NULL, without a token; nothing of a list stays
 * then. */
typedef struct aclpy_retired aclpy_retired;
aclpy_retired *aclpy_retired_take(void);
aclpy_retired *aclpy_retired_next(aclpy_retired *plans, uint64_t *token);
/* 1 where phase 2 of the plan ends within microseconds whatever the stream does, as long as aclpy_bench_is_on says 0:
 * kernels only, little work. */
int32_t aclpy_plan_is_small(aclpy_handle plan);

#endif
