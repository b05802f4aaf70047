/* SPDX-License-Identifier: Apache-2.0
 * Template: backward of softmax and log-softmax over an axis before the last one. ACLPY_T names the instance.
 *
 * The first pass sums by column; where the tile would not stay in cache (rows a large power of two apart) it also
 * copies both operands into dense scratch, from which the second pass reads.
 */
#include "../simd/instance.h"

/* Where pass 2 reads from. */
typedef struct FN(dense) {
  REAL *g;
  REAL *y;
} FN(dense);

ACLPY_INLINE void FN(tile_sum)(const aclpy_geometry *geometry, const aclpy_tile *t, const STORED *g, const STORED *y,
                               const FN(dense) * dense, double *sum, int logarithm, int copy) {
  REAL part[ACLPY_TILE_PAD] = {0};
  const int64_t ahead = aclpy_fetch_ahead(geometry, (int64_t)sizeof(STORED));
  memset(sum, 0, (size_t)geometry->stride * sizeof *sum);
  for (int64_t r = 0; r < t->rows; ++r) {
    const int64_t width = aclpy_tile_columns(geometry, t, r);
    const int64_t at = r * geometry->columns, to = r * geometry->stride;
    for (int64_t c = 0; c < width; c += LANES) {
      const VEC a = FN(tile_ld)(g + at + c, width - c, 0);
      VEC s = V(load)(part + c);
      if (ahead > 0) ACLPY_PREFETCH(g + at + c + ahead);
      if (ahead > 0) ACLPY_PREFETCH(y + at + c + ahead);
      if (copy) V(store)(dense->g + to + c, a);
      if (copy || !logarithm) {
        const VEC b = FN(tile_ld)(y + at + c, width - c, 0);
        if (copy) V(store)(dense->y + to + c, b);
        if (!logarithm) s = V(fma)(a, b, s);
      }
      if (logarithm) s = V(add)(a, s);
      V(store)(part + c, s);
    }
    if (r % ACLPY_TILE_BLOCK == ACLPY_TILE_BLOCK - 1) FN(tile_flush)(sum, part, geometry->stride);
  }
  FN(tile_flush)(sum, part, geometry->stride);
  aclpy_merge_sums(geometry, sum);
}

ACLPY_INLINE void FN(tile_out)(const aclpy_geometry *geometry, const aclpy_tile *t, const STORED *g, const STORED *y,
                               STORED *out, const REAL *sum, int logarithm, int streaming) {
  for (int64_t r = 0; r < t->rows; ++r) {
    const STORED *a = g + r * geometry->columns, *b = y + r * geometry->columns;
    STORED *to = out + r * geometry->columns;
    const int64_t n = aclpy_tile_columns(geometry, t, r);
    if (logarithm) {
#define FULL_(i) V(fnma)(V(exp)(LD(b + (i))), V(load)(sum + (i)), LD(a + (i)))
#define PART_(i, m) V(fnma)(V(exp)(LDN(b + (i), m, 0)), LDNR(sum + (i), m, 0), LDN(a + (i), m, 0))
      ACLPY_MAP(to, n, streaming, FULL_, PART_);
#undef FULL_
#undef PART_
    } else {
#define FULL_(i) V(mul)(LD(b + (i)), V(sub)(LD(a + (i)), V(load)(sum + (i))))
#define PART_(i, m) V(mul)(LDN(b + (i), m, 0), V(sub)(LDN(a + (i), m, 0), LDNR(sum + (i), m, 0)))
      ACLPY_MAP(to, n, streaming, FULL_, PART_);
#undef FULL_
#undef PART_
    }
  }
}

/* The same from dense scratch. */
ACLPY_INLINE void FN(tile_out_dense)(const aclpy_geometry *geometry, const aclpy_tile *t, const FN(dense) * dense,
                                     STORED *out, const REAL *sum, int logarithm, int streaming) {
  for (int64_t r = 0; r < t->rows; ++r) {
    const REAL *a = dense->g + r * geometry->stride, *b = dense->y + r * geometry->stride;
    STORED *to = out + r * geometry->columns;
    const int64_t n = aclpy_tile_columns(geometry, t, r);
    if (logarithm) {
#define FULL_(i) V(fnma)(V(exp)(V(load)(b + (i))), V(load)(sum + (i)), V(load)(a + (i)))
#define PART_(i, m) V(fnma)(V(exp)(LDNR(b + (i), m, 0)), LDNR(sum + (i), m, 0), LDNR(a + (i), m, 0))
      ACLPY_MAP(to, n, streaming, FULL_, PART_);
#undef FULL_
#undef PART_
    } else {
#define FULL_(i) V(mul)(V(load)(b + (i)), V(sub)(V(load)(a + (i)), V(load)(sum + (i))))
#define PART_(i, m) V(mul)(LDNR(b + (i), m, 0), V(sub)(LDNR(a + (i), m, 0), LDNR(sum + (i), m, 0)))
      ACLPY_MAP(to, n, streaming, FULL_, PART_);
#undef FULL_
#undef PART_
    }
  }
}

ACLPY_INLINE void FN(tile_sums_real)(const double *sum, REAL *real, int64_t n) {
  for (int64_t c = 0; c < n; ++c) real[c] = (REAL)sum[c];
}

ACLPY_INLINE void FN(tile_run)(const aclpy_geometry *geometry, const aclpy_tile *t, const FN(operands) * p,
                               const FN(dense) * dense, int logarithm) {
  double sum[ACLPY_TILE_PAD];
  REAL real[ACLPY_TILE_PAD];
  const STORED *g = p->g + t->offset, *y = p->y + t->offset;
  if (dense->g != NULL) {
    FN(tile_sum)(geometry, t, g, y, dense, sum, logarithm, 1);
    FN(tile_sums_real)(sum, real, geometry->stride);
    FN(tile_out_dense)(geometry, t, dense, p->out + t->offset, real, logarithm, p->streaming);
  } else {
    FN(tile_sum)(geometry, t, g, y, dense, sum, logarithm, 0);
    FN(tile_sums_real)(sum, real, geometry->stride);
    FN(tile_out)(geometry, t, g, y, p->out + t->offset, real, logarithm, p->streaming);
  }
}

/* Where the tile would not stay in cache, it is copied. */
ACLPY_INLINE int FN(tile_copies)(const aclpy_geometry *g) {
  return g->mode == ACLPY_TILES && aclpy_rows_collide(g, (int64_t)sizeof(STORED));
}

static void FN(tiles_run)(const aclpy_geometry *geometry, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                          REAL *scratch, int logarithm) {
  const FN(operands) p = FN(operands_of)(geometry, args);
  FN(dense) dense = {NULL, NULL};
  if (FN(tile_copies)(geometry)) {
    dense.g = scratch;
    dense.y = scratch + geometry->rows * geometry->stride;
  }
  for (int64_t i = begin; i < end; ++i) {
    const aclpy_tile t = aclpy_tile_of(geometry, i, 0);
    if (logarithm) {
      FN(tile_run)(geometry, &t, &p, &dense, 1);
    } else {
      FN(tile_run)(geometry, &t, &p, &dense, 0);
    }
  }
  if (p.streaming) aclpy_stream_fence();
}

/* Pass 0: sums by (outer, chunk, column); pass 1: totals by (outer, column), behind them; pass 2: write. */
static void FN(tile_chunks_run)(const aclpy_geometry *geometry, const aclpy_kernel_args *args, int32_t pass,
                                int64_t begin, int64_t end, int logarithm) {
  const FN(operands) p = FN(operands_of)(geometry, args);
  const FN(dense) none = {NULL, NULL};
  const int64_t inner = geometry->inner, chunks = geometry->chunks;
  double *partial = (double *)(void *)args->scratch;
  double *total = partial + geometry->outer * chunks * inner;
  for (int64_t i = begin; i < end; ++i) {
    double sum[ACLPY_TILE_PAD];
    if (pass == 1) {
      double s = 0.0;
      for (int64_t c = 0; c < chunks; ++c) s += partial[(i / inner * chunks + c) * inner + i % inner];
      total[i] = s;
      continue;
    }
    const aclpy_tile t = aclpy_tile_of(geometry, i, 1);
    const STORED *g = p.g + t.offset, *y = p.y + t.offset;
    if (pass == 0) {
      if (logarithm) {
        FN(tile_sum)(geometry, &t, g, y, &none, sum, 1, 0);
      } else {
        FN(tile_sum)(geometry, &t, g, y, &none, sum, 0, 0);
      }
      memcpy(partial + (t.outer * chunks + t.chunk) * inner + t.real, sum, (size_t)t.reals * sizeof *sum);
      continue;
    }
    REAL real[ACLPY_TILE_PAD];
    for (int64_t k = 0; k < geometry->group; ++k) {
      FN(tile_sums_real)(total + t.outer * inner + t.real, real + k * t.reals, t.reals);
    }
    FN(tile_out)(geometry, &t, g, y, p.out + t.offset, real, logarithm, p.streaming);
  }
  if (p.streaming) aclpy_stream_fence();
}
