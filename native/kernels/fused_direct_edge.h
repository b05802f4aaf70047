/* SPDX-License-Identifier: Apache-2.0
 * Ends and beginnings of the rows of fused_direct_rows.h, where all operations are cheap: what does not fill a quad, or
 * lies before the first line, by vectors of which a part counts. Where they are lines, from registers at once; else by
 * way of memory.
 */
#ifndef ACLPY_KERNELS_FUSED_DIRECT_EDGE_H
#define ACLPY_KERNELS_FUSED_DIRECT_EDGE_H

#include "../simd/seam.h"
#include "fused_direct_make.h"

#if ACLPY_SEAMS
enum { ACLPY_EDGE_VECTORS = ACLPY_DIRECT_PART / v32_LANES };

/* v = elements [at, at + n), done, and whatever behind them; all loads stay within their rows. */
ACLPY_INLINE void direct_edge_values_(const fused_direct *d, v32 *v, int64_t n, int vectors) {
  const v32 factor = v32_set1(d->folded ? d->factor * d->fold.gain : d->factor);
  const uint64_t lanes = aclpy_lanes_(n);
  for (int64_t k = 0; k < vectors; ++k) {
    v[k] = v32_mul(ldm_f32(d->e + d->at + k * v32_LANES, lanes >> 16 * k, 0.0f), factor);
  }
  for (int64_t s = 0; s < d->steps_now; ++s) {
    _Alignas(64) float each[ACLPY_DIRECT_PART];
    aclpy_post_step step = d->now[s];
    for (int64_t k = 0; k < vectors && step.operand.each != NULL; ++k) {
      const float *from = step.operand.each + d->at + k * v32_LANES;
      v32_store(each + k * v32_LANES, ldm_f32(from, lanes >> 16 * k, 1.0f));
    }
    if (step.operand.each != NULL) step.operand.each = each;
    aclpy_easy_step_(&step, v, 0, vectors);
  }
}

/* The lines of four vectors of results, narrower ones in `line`. */
ACLPY_INLINE const __m512i *direct_edge_lines_(int64_t target, const v32 *v, __m512i *line) {
  switch (target) {
    case ACLPY_TYPE_FLOAT16:
      for (int k = 0; k < 2; ++k)
        line[k] = aclpy_line_of_halves_(aclpy_f16_pack_(v[2 * k]), aclpy_f16_pack_(v[2 * k + 1]));
      break;
    case ACLPY_TYPE_BF16:
      if (!ACLPY_LIKELY(aclpy_bf16_quad_(v, &line[0], &line[1]))) {
        for (int k = 0; k < 2; ++k)
          line[k] = aclpy_line_of_halves_(aclpy_bf16_pack_(v[2 * k]), aclpy_bf16_pack_(v[2 * k + 1]));
      }
      break;
    case ACLPY_TYPE_INT8:
    case ACLPY_TYPE_UINT8:
      line[0] = _mm512_castps_si512(v32_to_bytes(v, target == ACLPY_TYPE_INT8, 0));
      break;
    default:
      return (const __m512i *)(const void *)v;
  }
  return line;
}

/* The line that the row before began, which `rest`, bytes in memory of elements of `to` bytes, ends. */
ACLPY_INLINE void direct_edge_close_(fused_direct *d, unsigned char *line, __m512i rest, int64_t to) {
  aclpy_seam seam = {_mm512_load_si512(d->seam), d->held};
  d->held = 0;
  if (to > 1) {
    aclpy_seam_close(&seam, line, rest);
    return;
  }
  _mm512_storeu_si512(d->seam + seam.held, rest);
  _mm512_stream_si512((__m512i *)(void *)line, _mm512_load_si512(d->seam));
}

/* `bytes` of a line to y; past the caches a whole one, and what is not waits for the row that follows. */
ACLPY_INLINE void direct_edge_put_(fused_direct *d, unsigned char *y, __m512i line, int64_t bytes, int past) {
  if (past && bytes >= 64) {
    _mm512_stream_si512((__m512i *)(void *)y, line);
  } else if (past && d->seamed && d->follows) {
    _mm512_store_si512(d->seam, line);
    d->held = bytes;
  } else {
    _mm512_mask_storeu_epi8(y, ~UINT64_C(0) >> (64 - aclpy_min_i64(bytes, 64)), line);
  }
}

/* Elements [at, at + n) of a row: what they come to, where it belongs. */
ACLPY_INLINE void direct_edge_store_(const aclpy_fused *f, fused_direct *d, const __m512i *line, int64_t n) {
  const int64_t bytes = n * f->to;
  unsigned char *y = d->y + d->at * f->to;
  const int past = f->streaming && d->at > 0;
  d->at += n;
  if (d->held > 0) {
    direct_edge_close_(d, y + bytes - 64, line[0], f->to);
    return;
  }
  for (int k = 0; k < 4; ++k) {
    if (64 * k < bytes) direct_edge_put_(d, y + 64 * k, line[k], bytes - 64 * k, past);
  }
}

/* Beginnings of floats are less than a vector. */
ACLPY_APART void direct_edge_vector_(const aclpy_fused *f, fused_direct *d, int64_t n) {
  v32 v;
  direct_edge_values_(d, &v, n, 1);
  direct_edge_store_(f, d, (const __m512i *)(const void *)&v, n);
}
ACLPY_INLINE void direct_edge_(const aclpy_fused *f, fused_direct *d, int64_t n) {
  v32 v[ACLPY_EDGE_VECTORS];
  __m512i line[2];
  if (f->post.target == ACLPY_TYPE_FLOAT && n <= v32_LANES) {
    direct_edge_vector_(f, d, n);
    return;
  }
  direct_edge_values_(d, v, n, ACLPY_EDGE_VECTORS);
  direct_edge_store_(f, d, direct_edge_lines_(f->post.target, v, line), n);
}
#else
/* t = elements [at, at + n), done, as long as a vector's loads stay within their rows. */
ACLPY_INLINE void direct_edge_steps_(const fused_direct *d, float *t, int64_t n) {
  _Alignas(64) float each[ACLPY_DIRECT_PART];
  const v32 factor = v32_set1(d->folded ? d->factor * d->fold.gain : d->factor);
  for (int64_t i = 0; i < n; i += v32_LANES) {
    v32_store(t + i, v32_mul(ldn_f32(d->e + d->at + i, aclpy_min_i64(v32_LANES, n - i), 0.0f), factor));
  }
  for (int64_t k = 0; k < d->steps_now; ++k) {
    aclpy_post_step step = d->now[k];
    for (int64_t i = 0; i < n && step.operand.each != NULL; i += v32_LANES) {
      v32_store(each + i, ldn_f32(step.operand.each + d->at + i, aclpy_min_i64(v32_LANES, n - i), 1.0f));
    }
    if (step.operand.each != NULL) step.operand.each = each;
    aclpy_post_easy(&step, 1, t, aclpy_ceil_div(n, v32_LANES) * v32_LANES);
  }
}

/* Elements [at, at + n) of a row. */
ACLPY_INLINE void direct_edge_(const aclpy_fused *f, fused_direct *d, int64_t n) {
  _Alignas(64) float t[ACLPY_DIRECT_PART];
  const unsigned char *from = (const unsigned char *)(const void *)t;
  const int past = f->streaming && d->at > 0;
  const int64_t bytes = n * f->to, whole = past ? bytes / 64 * 64 : 0;
  unsigned char *y = d->y + d->at * f->to;
  direct_edge_steps_(d, t, n);
  d->at += n;
  if (f->post.target == ACLPY_TYPE_FLOAT && !past) {
    for (int64_t i = 0; i < n; i += v32_LANES) {
      stn_f32((float *)(void *)y + i, v32_load(t + i), aclpy_min_i64(v32_LANES, n - i));
    }
    return;
  }
  if (f->post.target != ACLPY_TYPE_FLOAT) {
    aclpy_store_run(f->post.target, t, d->stored, n, 0);
    from = d->stored;
  }
  for (int64_t k = 0; k < whole; k += v32_LANES * (int64_t)sizeof(float)) {
    nt_f32((float *)(void *)(y + k), v32_load((const float *)(const void *)(from + k)));
  }
  memcpy(y + whole, from + whole, (size_t)(bytes - whole));
}
#endif

#endif
