/* SPDX-License-Identifier: Apache-2.0
 * Element-wise passes over a row of an instance: y[i] = f(i), streamed past the caches where asked.
 *
 * FULL(i) gives the vector of elements i.., PART(i, m) the same with only the first m lanes read. Whole lines only are
 * streamed: one of which a part is streamed and a part is stored costs a trip to memory, some 300 ns. Element-wise work
 * has the same bits wherever the vectors begin.
 */
#ifndef ACLPY_KERNELS_ROW_MAP_H
#define ACLPY_KERNELS_ROW_MAP_H

#include "../simd/seam.h"
#include "define.h"

/* Elements from p to the next 64-byte line, at most n. */
ACLPY_INLINE int64_t aclpy_to_line(const void *p, int64_t size, int64_t n) {
  const int64_t bytes = (int64_t)(-(uintptr_t)p & 63u);
  return aclpy_min_i64(bytes / size, n);
}

/* Asks for the `bytes` (whole lines) that lie some way behind p: while one thread computes, the processor alone does
 * not look far enough ahead. Rows follow each other, so the way may lead into the next one. */
enum { ACLPY_AHEAD_BYTES = 4096 };
ACLPY_INLINE void aclpy_fetch(const void *p, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += 64) ACLPY_PREFETCH((uintptr_t)p + (uintptr_t)(ACLPY_AHEAD_BYTES + at));
}
/* The same into the first-level cache, for loops short enough that what they fetch is still there when they need it. On
 * Intel's cores, whose figures all others have, too, 6 KiB take 1.5 times as long once the tensors lie in memory
 * indeed, nearer ones more in the last level (NOTES-rows.md); AMD's were measured to want them. */
enum { ACLPY_NEAR_BYTES = 2560, ACLPY_NEAR_BYTES_AMD = 6144, ACLPY_NEAR_BYTES_ZEN_5 = 8192 };
ACLPY_INLINE int64_t aclpy_near_bytes(int core) {
  return core == ACLPY_CORE_ANY ? ACLPY_NEAR_BYTES : ACLPY_NEAR_BYTES_AMD;
}
ACLPY_INLINE void aclpy_fetch_at(const void *p, int64_t ahead, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += 64) ACLPY_PREFETCH_NEAR((uintptr_t)p + (uintptr_t)(ahead + at));
}
/* The same for any number of `bytes`, at one of two distances that are constants: with AVX2 rows of less than a quad
 * feel the difference (gradients of 50 columns 1.06 times as long, not 1.12). */
ACLPY_INLINE void aclpy_fetch_rest(const void *p, int64_t near, int64_t bytes) {
  if (near == ACLPY_NEAR_BYTES) {
    aclpy_fetch_at(p, ACLPY_NEAR_BYTES, bytes);
  } else {
    aclpy_fetch_at(p, ACLPY_NEAR_BYTES_AMD, bytes);
  }
}
/* What lies in the second-level cache, into the first-level one, a moment before it is needed. */
enum { ACLPY_SOON_BYTES = 512 };
ACLPY_INLINE void aclpy_fetch_soon(const void *p, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += 64) ACLPY_PREFETCH_NEAR((uintptr_t)p + (uintptr_t)(ACLPY_SOON_BYTES + at));
}

/* Results past the caches, and how what is read beside them is fetched: rows of up to ACLPY_AHEAD_BYTES into the first
 * level, longer ones in two stages; or all into the first level, which on Zen 5 takes four fifths of the time. */
enum { ACLPY_STREAM = 1, ACLPY_STREAM_NEAR = 2 };

/* Which way the maxima of a row are taken while the row before it is worked on. Where a turn touches more than the
 * first-level cache holds, from the end: the next turn then begins with what this one has read last. */
enum { ACLPY_TURN_BYTES = 48 * 1024 };
typedef struct aclpy_walk {
  uintptr_t now;    /* the quad whose turn it is */
  uintptr_t ahead;  /* what is fetched meanwhile; backwards, behind the beginning comes the end of the row after: */
  uintptr_t turn;   /* at this quad, or never, */
  uintptr_t around; /* so much is added */
  int64_t step;     /* to the next quad, bytes */
} aclpy_walk;
/* Of a row of such bytes, from its quad `from` on; `touched`: bytes in a turn; `ahead`: to what is fetched. */
ACLPY_INLINE aclpy_walk aclpy_walk_of(const void *row, int64_t bytes, int64_t quad, int64_t from, int64_t touched,
                                      int64_t ahead) {
  const uintptr_t begin = (uintptr_t)row, size = (uintptr_t)quad, near = (uintptr_t)ahead;
  aclpy_walk w = {begin + (uintptr_t)from * size, 0, 0, 0, quad};
  w.ahead = w.now + near;
  if (touched > ACLPY_TURN_BYTES && bytes >= quad) {
    w.now = begin + ((uintptr_t)bytes / size - 1 - (uintptr_t)from) * size;
    w.around = 2 * (uintptr_t)bytes;
    w.ahead = w.now - near + (w.now - begin < near ? w.around : 0);
    if (w.now - begin >= near) w.turn = begin + (near - 1) / size * size;
    w.step = -quad;
  }
  return w;
}
ACLPY_INLINE void aclpy_walk_on(aclpy_walk *w) {
  w->now += (uintptr_t)w->step;
  w->ahead += (uintptr_t)w->step;
  if (w->now == w->turn) w->ahead += w->around;
}

/* From this length on, rows are done one after the other where nothing is streamed: two of each operand at a time, at
 * equal places of their pages, are more than the first-level cache holds well. */
enum { ACLPY_ROW_LONG_BYTES = 8192 };
/* From this length on, results in the caches begin with what lies before a whole line, apart; shorter rows lose more by
 * the step than by stores that two lines share. */
enum { ACLPY_ROW_LINED_BYTES = 1024 };
/* Where rows are best done so, streams of logarithms' gradients are up to this length. */
enum { ACLPY_ROW_APART_BYTES = 16384 };
/* and the next row's sum of softmax's is begun before a row is written up to this one, in the caches. */
enum { ACLPY_ROW_LED_BYTES = 4096 };
/* On family 19h, shorter rows of gradients that share lines go through the caches. */
enum { ACLPY_ROW_SHARED_BYTES = 1400 };
/* On Intel's cores rows of logarithms past the caches come one by one from this length on, shorter ones in groups. */
enum { ACLPY_ROW_ALONE_BYTES = 400 };
/* On Zen 5, where loops are not paced, short rows of gradients are best done one after the other. */
enum { ACLPY_ROW_BRIEF_BYTES = 4096 };

/* Whether rows of results begin and end with lines, */
ACLPY_INLINE int aclpy_rows_lined(const void *y, int64_t pitch_bytes) {
  return ((uintptr_t)y | (uintptr_t)pitch_bytes) % 64 == 0;
}
/* or are so long that the lines they share are nothing to them. */
ACLPY_INLINE int aclpy_rows_well(const void *y, int64_t pitch_bytes, int64_t row_bytes) {
  return aclpy_rows_lined(y, pitch_bytes) || row_bytes >= ACLPY_ROW_LONG_BYTES;
}
/* Whether others are worth writing past the caches: a line that two rows share is read and written back for each, which
 * short rows feel. `least`: bytes of a row times those of an element. Where four vectors are less than a line, none is:
 * they would leave lines half written. */
enum { ACLPY_FAIR_FORWARD = 3000, ACLPY_FAIR_BACKWARD = 900 };
/* On Intel's cores the bytes of a row alone decide, of a forward launch. */
enum { ACLPY_FAIR_BYTES = 512 };
/* Where such lines are written whole, on Zen 5; on Intel's cores any row is. Groups of logarithms do not. */
enum { ACLPY_FAIR_SEAMED = 1600 };
ACLPY_INLINE int aclpy_rows_fair(int64_t row_bytes, int64_t element_bytes, int64_t quad_bytes, int64_t least) {
  return quad_bytes >= 64 && row_bytes * element_bytes >= least;
}
/* Whether lines that two rows share are written whole (simd/seam.h), measured on Zen 5 and on Intel's cores: rows that
 * follow each other without a gap and are longer than a line, so that no third row has a part of it. */
ACLPY_INLINE int aclpy_rows_seamed(const void *y, int64_t pitch_bytes, int64_t row_bytes, int core) {
  return ACLPY_SEAMS && core != ACLPY_CORE_ZEN_3 && pitch_bytes == row_bytes && row_bytes >= 256 &&
         !aclpy_rows_lined(y, pitch_bytes);
}
/* Rows until one begins with a line; `most`: none of so many does. */
ACLPY_INLINE int64_t aclpy_rows_to_line(const void *y, int64_t row_bytes, int64_t most) {
  int64_t rows = 0;
  while (rows < most && ((uintptr_t)y + (uintptr_t)(rows * row_bytes)) % 64 != 0) ++rows;
  return rows;
}
/* Whether rows of more than a vector that share lines wait for each other in a buffer, past the caches: so many results
 * are whole lines. Shorter ones come in batches of their own. Measured on Intel's cores. `first`: where the first row's
 * results go. */
enum { ACLPY_ROWS_BATCH = 16 };
ACLPY_INLINE int aclpy_rows_gather(const void *first, int64_t pitch_bytes, int64_t row_bytes, int64_t vector_bytes,
                                   int core) {
  return core == ACLPY_CORE_ANY && row_bytes > vector_bytes && pitch_bytes == row_bytes &&
         !aclpy_rows_lined(first, row_bytes) &&
         aclpy_rows_to_line(first, row_bytes, ACLPY_ROWS_BATCH) < ACLPY_ROWS_BATCH;
}
/* The line that a row shares with the next is asked for while the row is being written: stores that are waiting for it
 * would hold up all behind them. */
ACLPY_INLINE void aclpy_fetch_shared(const void *end) {
  if ((uintptr_t)end % 64 != 0) ACLPY_PREFETCH_NEAR((uintptr_t)end);
}

/* Results go past the caches from so many bytes of all tensors on, where their lines are whole: a last level that is
 * nearly full keeps little of tensors that are read and written in turn. Gradients of rows, long rows in chunks, fused
 * tiles and chunks, and dense results whose lines are not whole (but on Intel's cores) do so only where the tensors are
 * larger than the last level. */
ACLPY_INLINE int64_t aclpy_stream_bytes(void) { return aclpy_cache_bytes_last_level() / 8 * 5; }

/* Up to so many vectors rows of a logarithm are done in groups. */
enum { ACLPY_ROW_SHORT = 16 };
/* The same of gradients. */
enum { ACLPY_ROW_GROUPED = 4 };

/* Elements of a gradient's rows that are converted only once. */
enum { ACLPY_ROW_KEPT = 1024 };

#define ACLPY_MAP(y, n, streaming, FULL, PART)                                                      \
  do {                                                                                              \
    STORED *const y_ = (y);                                                                         \
    const int64_t n_ = (n);                                                                         \
    int64_t i_ = 0;                                                                                 \
    if (streaming) {                                                                                \
      const int64_t line_ = 64 / (int64_t)sizeof(STORED);                                           \
      const int64_t head_ = aclpy_to_line(y_, (int64_t)sizeof(STORED), n_);                         \
      const int64_t whole_ = head_ + (n_ - head_) / line_ * line_;                                  \
      for (; i_ < head_; i_ += aclpy_min_i64(LANES, head_ - i_)) {                                  \
        STN(y_ + i_, PART(i_, aclpy_min_i64(LANES, head_ - i_)), aclpy_min_i64(LANES, head_ - i_)); \
      }                                                                                             \
      for (; i_ < whole_; i_ += LANES) NT(y_ + i_, FULL(i_));                                       \
    }                                                                                               \
    for (; i_ + LANES <= n_; i_ += LANES) ST(y_ + i_, FULL(i_));                                    \
    if (i_ < n_) STN(y_ + i_, PART(i_, n_ - i_), n_ - i_);                                          \
  } while (0)

#endif
