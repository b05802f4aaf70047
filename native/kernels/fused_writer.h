/* SPDX-License-Identifier: Apache-2.0
 * Where results of consecutive elements wait, in first-level cache, for the post operations and the store.
 *
 * Rows follow each other in memory, so what is handed over does not end where a row does: streamed stores always are
 * whole lines, but for the first and the last of a range.
 */
#ifndef ACLPY_KERNELS_FUSED_WRITER_H
#define ACLPY_KERNELS_FUSED_WRITER_H

#include "fused_geometry.h"
#include "post_ops.h"
#include "row_map.h"

enum {
  ACLPY_PART = 512 /* elements handed over at once: a few hundred cycles, so that stores overlap with what follows */
};

/* One launch, decoded. */
typedef struct aclpy_fused {
  aclpy_fused_geometry g;
  aclpy_post post;
  int64_t flags;
  int64_t rounded; /* the type that exponentials are rounded to, 0 for none */
  const unsigned char *x;
  unsigned char *y;
  int64_t from, to; /* bytes of an element of x and y */
  int streaming;    /* past the caches */
  int far;          /* more than the second-level cache holds */
} aclpy_fused;

/* Post operations and store of elements [index, index + n). */
ACLPY_INLINE void fused_finish_(const aclpy_fused *f, float *t, int64_t index, int64_t n) {
  aclpy_post_apply(&f->post, t, index, n);
  aclpy_store_run(f->post.target, t, f->y + index * f->to, n, f->streaming);
}

/* Operands of the full shape are as long a way as x: what is needed some way behind elements [index, index + n). */
ACLPY_INLINE void fused_fetch_operands_(const aclpy_fused *f, int64_t index, int64_t n) {
  for (int64_t k = 0; k < f->post.n_operands; ++k) {
    const aclpy_post_operand *o = &f->post.operand[k];
    if (o->whole && o->dense) aclpy_fetch(o->base + index * o->bytes, n * o->bytes);
  }
}

/* Results that are ready, in the destination's type, on their way past the caches: stored a few vectors at a time
 * beside the arithmetic of other rows, because a burst of such stores holds everything up behind it. */
typedef struct fused_drain {
  const unsigned char *from;
  unsigned char *to; /* starts a line */
  int64_t bytes;
} fused_drain;

/* Four vectors, where there are as many. */
ACLPY_INLINE void fused_drain_quad_(fused_drain *d) {
  enum { QUAD = 4 * v32_LANES * (int)sizeof(float) };
  if (d->bytes < QUAD) return;
  const float *from = (const float *)(const void *)d->from;
  float *to = (float *)(void *)d->to;
  for (int k = 0; k < 4; ++k) nt_f32(to + k * v32_LANES, v32_load(from + k * v32_LANES));
  d->from += QUAD;
  d->to += QUAD;
  d->bytes -= QUAD;
}

typedef struct fused_writer {
  _Alignas(64) float t[2][2 * ACLPY_PART + 64];
  _Alignas(64) unsigned char stored[(2 * ACLPY_PART + 64) * sizeof(float)]; /* what is narrower than float */
  int64_t index;                                                            /* of the first that waits */
  int64_t fill;
  int which; /* half of t that is being filled */
  fused_drain drain;
} fused_writer;

ACLPY_INLINE void fused_writer_begin_(fused_writer *w, int64_t index) {
  w->index = index;
  w->fill = 0;
  w->which = 0;
  w->drain.from = NULL;
  w->drain.to = NULL;
  w->drain.bytes = 0;
}

ACLPY_INLINE void fused_drain_all_(fused_drain *d) {
  while (d->bytes >= 4 * v32_LANES * (int64_t)sizeof(float)) fused_drain_quad_(d);
  memcpy(d->to, d->from, (size_t)d->bytes);
  d->bytes = 0;
}

/* Elements [head, head + n) of t, whole lines in memory, are left to the drain. */
ACLPY_INLINE void fused_writer_leave_(const aclpy_fused *f, fused_writer *w, float *t, int64_t head, int64_t n) {
  w->drain.to = f->y + (w->index + head) * f->to;
  w->drain.bytes = n * f->to;
  if (f->post.target == ACLPY_TYPE_FLOAT) {
    w->drain.from = (const unsigned char *)(t + head);
  } else {
    aclpy_store_run(f->post.target, t + head, w->stored, n, 0);
    w->drain.from = w->stored;
  }
}

ACLPY_APART void fused_writer_flush_(const aclpy_fused *f, fused_writer *w, int last) {
  float *t = w->t[w->which];
  if (!f->streaming) {
    fused_finish_(f, t, w->index, w->fill);
    w->index += w->fill;
    w->fill = 0;
    return;
  }
  const uintptr_t begin = (uintptr_t)(f->y + w->index * f->to), end = begin + (uintptr_t)(w->fill * f->to);
  const int64_t over = last ? 0 : (int64_t)(end & 63u) / f->to, n = w->fill - over;
  if (n <= 0) return;
  if (w->drain.bytes > 0) fused_drain_all_(&w->drain);
  memcpy(w->t[!w->which], t + n, (size_t)over * sizeof(float));
  fused_fetch_operands_(f, w->index, n);
  aclpy_post_apply(&f->post, t, w->index, n);
  const int64_t head = aclpy_min_i64((int64_t)(-begin & 63u) / f->to, n);
  if (head > 0) aclpy_store_run(f->post.target, t, f->y + w->index * f->to, head, 0);
  fused_writer_leave_(f, w, t, head, n - head);
  if (last) fused_drain_all_(&w->drain);
  w->which = !w->which;
  w->index += n;
  w->fill = over;
}

/* Room for ACLPY_PART elements more and a vector beyond. */
ACLPY_INLINE float *fused_writer_room_(fused_writer *w) { return w->t[w->which] + w->fill; }

ACLPY_INLINE void fused_writer_add_(const aclpy_fused *f, fused_writer *w, int64_t n) {
  w->fill += n;
  if (w->fill >= ACLPY_PART) fused_writer_flush_(f, w, 0);
}

ACLPY_INLINE void fused_writer_end_(const aclpy_fused *f, fused_writer *w) {
  if (w->fill > 0) fused_writer_flush_(f, w, 1);
  if (w->drain.bytes > 0) fused_drain_all_(&w->drain);
}

#endif
