/* SPDX-License-Identifier: Apache-2.0
 * What the fuzzer's files share: its dice, and the handles it keeps.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kind_ {
  STREAM,
  EVENT,
  NOTIFY,
  COUNT,
  CONTEXT,
  GRAPH,
  CONFIG,
  ALLOCATOR,
  BUFFER,
  TENSOR,
  SCALAR,
  ARRAY,
  FLOATS,
  BOOLS,
  TENSORS,
  SCALARS,
  EXECUTOR,
  MEMORY,
  HOST,
  KINDS
};
enum { KEPT = 12, BYTES = 256 };

static void *kept_[KINDS][KEPT]; /* live and destroyed ones alike */
static uint64_t state_;

static uint64_t random_(uint64_t below) {
  state_ ^= state_ << 13;
  state_ ^= state_ >> 7;
  state_ ^= state_ << 17;
  return state_ % below;
}

/* Mostly one of the right kind; else none, another kind's, or bits that nobody gave out. */
static void *any_(enum kind_ kind) {
  uint64_t dice = random_(20);
  if (dice == 0) return NULL;
  if (dice == 1) return (void *)(uintptr_t)(random_(UINT64_C(1) << 62) * 2 + 1);
  if (dice <= 3) return kept_[random_(KINDS)][random_(KEPT)];
  return kept_[kind][random_(KEPT)];
}

static int32_t small_(void) { return (int32_t)random_(6) - 1; }
static uint32_t bits_(void) { return (uint32_t)random_(0x44); }
/* Where to keep what a call makes, or NULL now and then. */
static void **place_(enum kind_ kind) { return random_(16) == 0 ? NULL : &kept_[kind][random_(KEPT)]; }

/* Memory that may be copied to and from: what is live, or nothing. Only this function frees, so it knows. */
static void *live_[KEPT];
static bool pinned_[KEPT];

#endif
