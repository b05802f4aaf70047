# SPDX-License-Identifier: Apache-2.0
"""The planted faults of GPUs: kernels as host code, the backend over a stand-in for CuPy."""

from __future__ import annotations

from mutant import Mutant

TWIN = ("tests/conformance/test_cuda_twin.py",)
INDICES = ("tests/conformance/test_cuda_indices.py",)
FUSED_TWIN = ("tests/conformance/test_cuda_fused.py",)
GPU_DEVICE = ("tests/conformance/test_cuda_device.py",)
DRIVER = ("tests/conformance/test_cuda_driver.py",)
SHARING = ("tests/conformance/test_cuda_sharing.py",)

CUDA_MUTANTS = (
    # ---- the CUDA kernels, as host code ----
    Mutant(
        "CUDA: the warps of a block are joined without a barrier",
        "native/cuda/reduce.h",
        "  if (lane == 0) parts[threadIdx.x / ACLPY_LANES] = x;\n  __syncthreads();\n"
        "  return warp_sum(",
        "  if (lane == 0) parts[threadIdx.x / ACLPY_LANES] = x;\n  return warp_sum(",
        TWIN,
    ),
    Mutant(
        "CUDA: a row overwrites the sums of the one before",
        "native/cuda/reduce.h",
        "  x = warp_sum(x);\n  __syncthreads();\n",
        "  x = warp_sum(x);\n",
        TWIN,
    ),
    Mutant(
        "CUDA: lanes add the wrong lanes",
        "native/cuda/reduce.h",
        "x += __shfl_xor_sync(0xffffffffu, x, k);",
        "x += __shfl_xor_sync(0xffffffffu, x, k ^ 1);",
        TWIN,
    ),
    Mutant(
        "CUDA: the tail of a row reads one element more",
        "native/cuda/units.h",
        "if (i + k >= s.low && i + k < s.high) D::put(",
        "if (i + k >= s.low && i + k <= s.high) D::put(",
        TWIN,
    ),
    Mutant(
        "CUDA: the tail of a row writes one element more",
        "native/cuda/units.h",
        "if (i + k >= s.low && i + k < s.high) base[i + k]",
        "if (i + k >= s.low && i + k <= s.high) base[i + k]",
        TWIN,
    ),
    Mutant(
        "CUDA: a larger maximum leaves the sum as it is",
        "native/cuda/softmax.h",
        "    if (top > max) sum *= (double)exp_of(max - top);\n",
        "",
        TWIN,
    ),
    Mutant(
        "CUDA: the last chunk of a row is as long as the others",
        "native/cuda/softmax.h",
        "const i64 n = smaller(a.chunk, a.n - first);\n"
        "    const int lead = lead_of<D>(x, n, n + Unit<D>::N);\n    Seen<D> seen;",
        "const i64 n = a.chunk;\n"
        "    const int lead = lead_of<D>(x, n, n + Unit<D>::N);\n    Seen<D> seen;",
        TWIN,
    ),
    Mutant(
        "CUDA: two columns of a lane are always neighbours",
        "native/cuda/problem.h",
        "t.neighbours = N > 1 && a.inner % N == 0 && t.count == N;",
        "t.neighbours = N > 1 && t.count == N;",
        TWIN,
    ),
    Mutant(
        "CUDA: places of columns have 32 bits",
        "native/cuda/problem.h",
        "return outer * (a.n - 1) * a.inner + column;",
        "return (int)(outer * (a.n - 1) * a.inner + column);",
        INDICES,
    ),
    Mutant(
        "CUDA: rows of a column lie less than 2^31 elements apart",
        "native/cuda/softmax_tiles.h",
        "load_columns<D>(x, t, at * a.inner, at < last,",
        "load_columns<D>(x, t, (int)(at * a.inner), at < last,",
        INDICES,
    ),
    Mutant(
        "CUDA: what lies outside of a row counts as 0",
        "native/cuda/units.h",
        "lowest ? D::lowest(k) : 0u;",
        "0u;",
        TWIN,
    ),
    Mutant(
        "CUDA: the rest of a row that is kept in part is not added",
        "native/cuda/softmax.h",
        "    if (UNITS > 0) own += rescaled(rest.sum, (double)rest.max, (double)max);\n",
        "",
        TWIN,
    ),
    Mutant(
        "CUDA: lanes of a strip give what they keep",
        "native/cuda/strips.h",
        "second ? low : high, k));",
        "second ? high : low, k));",
        TWIN,
    ),
    Mutant(
        "CUDA: a strip is read before its sums are there",
        "native/cuda/strips.h",
        "whole[c] = finish(all);\n  }\n  __syncthreads();\n",
        "whole[c] = finish(all);\n  }\n",
        TWIN,
    ),
    Mutant(
        "CUDA: warps beyond a power of two are not counted",
        "native/cuda/strips.h",
        "while (sources < warps) sources *= 2;",
        "while (2 * sources <= warps) sources *= 2;",
        TWIN,
    ),
    Mutant(
        "CUDA: rows of a strip in shared memory are read before they are there",
        "native/cuda/softmax_strips_spare.h",
        "    wait_fetches();\n",
        "",
        TWIN,
    ),
    Mutant(
        "CUDA: rows of a strip in shared memory begin one too late",
        "native/cuda/strips_spare.h",
        "return t.row + (HELD + k) * ROWS;",
        "return t.row + (HELD + k) * ROWS + 1;",
        TWIN,
    ),
    Mutant(
        "CUDA: units in shared memory are read before they are there",
        "native/cuda/softmax_spare.h",
        "    wait_fetches();\n",
        "",
        TWIN,
    ),
    Mutant(
        "CUDA: rows that fill a block lose their end where they begin inside of a unit",
        "native/cuda/softmax_spare.h",
        "rest.room()",
        "a.n + Unit<D>::N",
        TWIN,
    ),
    Mutant(
        "CUDA: a gradient's operands share a place in shared memory",
        "native/cuda/backward_spare.h",
        "rest.fetch(2 * k + 1, p.y - lead,",
        "rest.fetch(2 * k, p.y - lead,",
        TWIN,
    ),
    Mutant(
        "CUDA: what lies beside a row in shared memory counts",
        "native/cuda/spare.h",
        "lowest ? D::lowest(0) : 0u, ",
        "0u, ",
        TWIN,
    ),
    Mutant(
        "CUDA: four bfloat16 that overflow together are infinite",
        "native/cuda/softmax_backward.h",
        "if (!D::TINY || isfinite(four)) {",
        "if (D::TINY || isfinite(four)) {",
        TWIN,
    ),
    Mutant(
        "CUDA: the program finds another context than it left",
        "native/engine/driver.c",
        "  if (visit->changed) (void)driver_.set_context(visit->before);\n",
        "  (void)visit;\n",
        DRIVER,
    ),
    Mutant(
        "CUDA: a kept launch has the addresses of its first call",
        "native/engine/launch.c",
        "      words[i] = (int64_t)(uintptr_t)addr[place - 1];\n",
        "      words[i] = (int64_t)(uintptr_t)addr[0];\n",
        DRIVER,
    ),
    Mutant(
        "CUDA: copies count elements with 32 bits",
        "native/cuda/copy.h",
        "if (a.elements <= 0xffffffffll) {",
        "if (a.elements > 0) {",
        INDICES,
    ),
    Mutant(
        "CUDA: a square is written out before it has been read in",
        "native/cuda/copy.h",
        "    __syncthreads();\n    for (int k = warp",
        "    for (int k = warp",
        TWIN,
    ),
    Mutant(
        "CUDA: a square is read in before the last one has been written out",
        "native/cuda/copy.h",
        "    __syncthreads(); /* before the next square is written */\n",
        "",
        TWIN,
    ),
    Mutant(
        "CUDA: exp lacks a term of its series",
        "native/cuda/exponential.h",
        "  series = fma(series, r, 1.0 / 5040.0);\n",
        "",
        TWIN,
    ),
    Mutant(
        "CUDA: sums of gradients lose their low part",
        "native/cuda/softmax_backward.h",
        "if (isfinite(high)) low = (float)(sum - (double)high);",
        "low = 0;",
        TWIN,
    ),
    Mutant(
        "CUDA: a repeated operand stays at its first element",
        "native/cuda/post_ops.h",
        "    spot.offset += step;\n",
        "    spot.offset += 0 * step;\n",
        FUSED_TWIN,
    ),
    Mutant(
        "CUDA: a repeated operand goes on beyond its dimension",
        "native/cuda/post_ops.h",
        "    --spot.left;\n",
        "",
        FUSED_TWIN,
    ),
    Mutant(
        "CUDA: places in operands have 32 bits",
        "native/cuda/post_ops.h",
        "return post.elements <= 0xffffffffll ? spot_as<u32>",
        "return post.elements > 0 ? spot_as<u32>",
        INDICES,
    ),
    Mutant(
        "CUDA: dropout does not scale what it keeps",
        "native/cuda/post_ops.h",
        "v[k] / (1.0f - probability_of(s[k]))",
        "v[k]",
        FUSED_TWIN,
    ),
    Mutant(
        "CUDA: clip lets NaN through",
        "native/cuda/post_ops.h",
        "below(beta, above(t, alpha))",
        "below(beta, above(alpha, t))",
        FUSED_TWIN,
    ),
    Mutant(
        "CUDA: both keys of Philox are raised alike",
        "native/cuda/dropout.h",
        "high += 0xbb67ae85u;",
        "high += 0x9e3779b9u;",
        FUSED_TWIN,
    ),
    Mutant(
        "CUDA: halves are rounded to integers away from zero",
        "native/cuda/elements.h",
        "(u32)(int)rintf(inside)",
        "(u32)(int)(inside < 0 ? inside - 0.5f : inside + 0.5f)",
        FUSED_TWIN,
    ),
    Mutant(
        "CUDA: exponentials are not rounded to the destination's type",
        "native/cuda/softmax_fused.h",
        "  if (a.rounded) kept = rounded_to(a.rounded, kept);\n",
        "",
        FUSED_TWIN,
    ),
    Mutant(
        "CUDA: rows of only -inf become NaN where they count as zeros",
        "native/cuda/softmax_fused.h",
        "return (a.flags & ACLPY_FUSED_ZERO_ROWS) && sum == 0.0 ? 0.0f : (float)(1.0 / sum);",
        "return (float)(1.0 / sum);",
        FUSED_TWIN,
    ),
    Mutant(
        "CUDA: the last chunk of a fused row is as long as the others",
        "native/cuda/softmax_fused.h",
        "smaller(a.p.chunk, a.p.n - first));",
        "a.p.chunk);",
        FUSED_TWIN,
    ),
    Mutant(
        "CUDA: subnormals are flushed",
        "aclnn_py/backends/cuda_programs.py",
        '"--ftz=false"',
        '"--ftz=true"',
        GPU_DEVICE,
    ),
    Mutant(
        "CUDA: a thread launches without a context",
        "runtime/aclnn_runtime/cuda_queues.py",
        ' or getattr(_thread, "has", None) != self._device',
        "",
        GPU_DEVICE,
    ),
    Mutant(
        "CUDA: memory of our own goes when a tensor over its way back does",
        "aclnn_py/core/cuda_arrays.py",
        "return _loans.get((int(info.base), int(info.identity)))",
        "return _Loan(int(info.base), int(info.identity))",
        SHARING,
    ),
)
