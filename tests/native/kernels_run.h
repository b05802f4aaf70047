/* SPDX-License-Identifier: Apache-2.0
 * Running a kernel's plan: whole, in random pieces, or neighbouring pieces in two threads.
 */
#ifndef ACLPY_TESTS_KERNELS_RUN_H
#define ACLPY_TESTS_KERNELS_RUN_H

#include <pthread.h>

#include "kernels_support.h"

/* NEIGHBOURS: what neighbouring pieces share is what the thread sanitizer sees, so PIECES are that under it. */
enum { WHOLE, PIECES, NEIGHBOURS };
enum { MOST_PIECES = 64 };

/* Every `step`-th piece of a pass, from the last one down, so that order cannot matter. */
typedef struct share {
  const aclpy_kernel *kernel;
  const aclpy_kernel_args *args;
  const int64_t *cuts;
  int32_t pass, last, step;
  void *own;
  size_t own_bytes;
  int dirt;
} share;

static void *share_run_(void *argument) {
  const share *s = argument;
  for (int32_t i = s->last; i >= 0; i -= s->step) {
    memset(s->own, s->dirt, s->own_bytes);
    if (s->cuts[i] < s->cuts[i + 1]) s->kernel->run(s->args, s->pass, s->cuts[i], s->cuts[i + 1], s->own);
  }
  return NULL;
}

static int ascending_(const void *a, const void *b) {
  int64_t x, y;
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  return (x > y) - (x < y);
}

/* Where the pieces of `items` begin, and the end of the last: a few at random, or (NEIGHBOURS) each item if they are
 * not too many. Returns how many pieces. */
static int32_t cut_(int64_t items, int way, int64_t *cuts) {
  const int each = way == NEIGHBOURS && items <= MOST_PIECES;
  const int32_t pieces = each ? (int32_t)items : way == NEIGHBOURS ? MOST_PIECES : 7;
  for (int32_t i = 0; i <= pieces; ++i) cuts[i] = each ? i : random_below(items + 1);
  cuts[0] = 0;
  cuts[pieces] = items;
  qsort(cuts, (size_t)pieces + 1, sizeof cuts[0], ascending_);
  return pieces;
}

/* Runs every pass with fresh, dirty scratch. */
SUPPORT void run_plan(const aclpy_kernel *k, aclpy_kernel_args *args, int32_t n_params, int way) {
  if (THREAD_SANITIZED && way == PIECES) way = NEIGHBOURS;
  aclpy_kernel_shape shape;
  CHECK(k->plan(args->params, n_params, &shape) == 0, "%s %s %s", k->name, k->dtype, k->isa);
  CHECK(shape.passes >= 1 && shape.passes <= ACLPY_MAX_PASSES, "%s: %d passes", k->name, (int)shape.passes);
  CHECK(shape.thread_scratch_bytes <= 2 * 1024 * 1024, "%s: %" PRId64 " scratch", k->name, shape.thread_scratch_bytes);
  buffer scratch = buffer_make((size_t)shape.scratch_bytes, 64), own[2];
  args->scratch = scratch.data = (unsigned char *)(((uintptr_t)scratch.data + 7) & ~(uintptr_t)7);
  for (int t = 0; t < 2; ++t) {
    own[t] = buffer_make((size_t)shape.thread_scratch_bytes, 64);
    own[t].data = (unsigned char *)(((uintptr_t)own[t].data + 7) & ~(uintptr_t)7);
  }
  for (int32_t pass = 0; pass < shape.passes * (shape.rounds > 1 ? shape.rounds : 1); ++pass) {
    const int64_t items = shape.items[pass % shape.passes];
    CHECK(items == 0 || shape.grain[pass % shape.passes] >= 1, "%s: grain", k->name);
    if (way == WHOLE || items == 0) {
      k->run(args, pass, 0, items, own[0].data);
      continue;
    }
    int64_t cuts[MOST_PIECES + 1];
    const int32_t pieces = cut_(items, way, cuts);
    const int two = way == NEIGHBOURS && pieces > 1;
    share mine = {k, args, cuts, pass, pieces - 1, 1 + two, own[0].data, own[0].bytes, (int)random_bits() & 0xff};
    share theirs = mine;
    theirs.last -= 1;
    theirs.own = own[1].data;
    pthread_t thread;
    if (two && pthread_create(&thread, NULL, share_run_, &theirs) != 0) {
      fprintf(stderr, "no second thread\n");
      exit(2);
    }
    share_run_(&mine);
    if (two) pthread_join(thread, NULL);
  }
  CHECK(buffer_guards_hold(&scratch), "%s %s %s: scratch overrun", k->name, k->dtype, k->isa);
  buffer_free(&scratch);
  for (int t = 0; t < 2; ++t) {
    CHECK(buffer_guards_hold(&own[t]), "%s %s %s: thread scratch overrun", k->name, k->dtype, k->isa);
    buffer_free(&own[t]);
  }
}

#endif
