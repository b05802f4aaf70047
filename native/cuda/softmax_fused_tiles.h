/* SPDX-License-Identifier: Apache-2.0
 * The fused softmax over an axis that is not the last: lanes beside each other take columns beside each other.
 */
#ifndef ACLPY_CUDA_SOFTMAX_FUSED_TILES_H
#define ACLPY_CUDA_SOFTMAX_FUSED_TILES_H

#include "softmax_fused.h"
#include "softmax_tiles.h"

using FusedTile = Tile<f32>; /* one column a lane, whatever the type */

/* What the block's threads have seen of the lane's column, elements [first, last). */
__device__ inline Seen<f32> fused_tile_scan(const Fused &a, const FusedTile &t, i64 first, i64 last) {
  constexpr int STEPS = ACLPY_TILE_STEPS;
  const int bytes = bytes_of_type(a.post.source);
  const u8 *x = (const u8 *)a.p.first;
  Seen<f32> seen;
  for (i64 i = first + t.part; t.count && i < last; i += (i64)t.parts * STEPS) {
    u32 raw[STEPS];
#pragma unroll
    for (int k = 0; k < STEPS; ++k) {
      const i64 at = i + (i64)k * t.parts;
      raw[k] = at < last ? raw_of(bytes, x, t.at[0] + at * a.p.inner) : 0u;
    }
    float v[STEPS];
#pragma unroll
    for (int k = 0; k < STEPS; ++k) {
      v[k] = i + (i64)k * t.parts < last ? decoded(a.post.source, raw[k]) : -ACLPY_INFINITY;
    }
    seen.template add<STEPS>(v);
  }
  tile_join<f32>(t, &seen);
  return seen;
}

__device__ inline void fused_tile_write(const Fused &a, const FusedTile &t, i64 first, i64 last, Normal by) {
  for (i64 i = first + t.part; t.count && i < last; i += t.parts) {
    const i64 at = t.at[0] + i * a.p.inner;
    const float x = load_element(a.post.source, (const u8 *)a.p.first, at);
    float v = normalised(a, kept_of(a, x, by.shift), by.factor);
    apply_post_ops<1>(a.post, a.operands, at, 0, 1, &v);
    store_element(a.post.target, (u8 *)a.p.out, at, v);
  }
}

__device__ inline void fused_tile(const Fused &a) {
  for (i64 tile = blockIdx.x; tile < tiles_of<f32>(a.p); tile += gridDim.x) {
    const FusedTile t = tile_of<f32>(a.p, tile);
    fused_tile_write(a, t, 0, a.p.n, normal_of(a, fused_tile_scan(a, t, 0, a.p.n)));
  }
}

__device__ inline void fused_tile_partial(const Fused &a) {
  for (i64 item = blockIdx.x; item < tiles_of<f32>(a.p) * a.p.chunks; item += gridDim.x) {
    const FusedTile t = tile_of<f32>(a.p, item / a.p.chunks);
    const i64 chunk = item % a.p.chunks, first = chunk * a.p.chunk;
    const Seen<f32> seen = fused_tile_scan(a, t, first, smaller(a.p.n, first + a.p.chunk));
    if (t.part != 0 || t.count == 0) continue;
    chunk_values(a.p, 0)[t.column * a.p.chunks + chunk] = (double)seen.max;
    chunk_values(a.p, 1)[t.column * a.p.chunks + chunk] = seen.sum;
  }
}

__device__ inline void fused_tile_chunks(const Fused &a) {
  for (i64 item = blockIdx.x; item < tiles_of<f32>(a.p) * a.p.chunks; item += gridDim.x) {
    const FusedTile t = tile_of<f32>(a.p, item / a.p.chunks);
    const i64 first = item % a.p.chunks * a.p.chunk;
    Normal by = {0.0f, 0.0f};
    if (t.count) by = {(float)row_values(a.p, 0)[t.column], (float)row_values(a.p, 1)[t.column]};
    fused_tile_write(a, t, first, smaller(a.p.n, first + a.p.chunk), by);
  }
}

/* maximum + ln(sum(exp(x - maximum))). A row of only -inf gives NaN, or 0 where such rows count as zeros. */
__device__ inline float stats_of(const Fused &a, const Seen<f32> &seen) {
  if (seen.sum == 0.0) return a.flags & ACLPY_FUSED_ZERO_ROWS ? 0.0f : not_a_number();
  return (float)((double)seen.max + log(seen.sum));
}
__device__ inline void stats_row(const Fused &a) {
  for (i64 at = blockIdx.x; at < a.p.outer; at += gridDim.x) {
    const Row row = row_at(a, at * a.p.n, a.p.n);
    const Seen<f32> seen = fused_scan(a.post.source, row.x, row.n);
    if (threadIdx.x == 0) ((float *)a.p.out)[at] = stats_of(a, seen);
  }
}
__device__ inline void stats_tile(const Fused &a) {
  for (i64 tile = blockIdx.x; tile < tiles_of<f32>(a.p); tile += gridDim.x) {
    const FusedTile t = tile_of<f32>(a.p, tile);
    const Seen<f32> seen = fused_tile_scan(a, t, 0, a.p.n);
    if (t.part == 0 && t.count) ((float *)a.p.out)[t.column] = stats_of(a, seen);
  }
}
__device__ inline void stats_combine(const Fused &a) {
  for (i64 row = blockIdx.x; row < rows_of(a.p); row += gridDim.x) {
    const Seen<f32> seen = combined(a.p, row);
    if (threadIdx.x == 0) ((float *)a.p.out)[row] = stats_of(a, seen);
  }
}

#endif
