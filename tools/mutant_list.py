# SPDX-License-Identifier: Apache-2.0
"""The planted faults: what is changed, and the tests that have to notice."""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """One fault: in `file`, the only place that reads `old` becomes `new`; `tests` must fail."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


PHASE1 = ("tests/unit/test_statuses_phase1.py",)
PHASE2 = ("tests/unit/test_statuses_phase2.py",)
EXECUTOR = ("tests/unit/test_statuses_executor.py",)
WORKSPACE = ("tests/unit/test_workspace.py",)
KEEPALIVE = ("tests/unit/test_keepalive.py",)
LEAKS = ("tests/unit/test_leaks.py",)
OPERATORS = ("tests/conformance/test_operators.py",)
CASTS = ("tests/conformance/test_casts.py",)
NUMBERS = ("tests/conformance/test_numbers.py",)
VIEWS = ("tests/property/test_views.py",)
EVENTS = ("tests/stream_order/test_events.py",)
STREAMS = ("tests/stream_order/test_streams.py",)
TWIN = ("tests/conformance/test_cuda_twin.py",)
INDICES = ("tests/conformance/test_cuda_indices.py",)
FUSED_TWIN = ("tests/conformance/test_cuda_fused.py",)
GPU_DEVICE = ("tests/conformance/test_cuda_device.py",)
DRIVER = ("tests/conformance/test_cuda_driver.py",)
SHARING = ("tests/conformance/test_cuda_sharing.py",)

MUTANTS = (
    # ---- the planner ----
    Mutant(
        "dim is checked before the shapes",
        "aclnn_py/ops/softmax.py",
        '            rank_at_most(8, "gradOutput", "output"),\n',
        '            dim_in_range("dim", "gradOutput"),\n'
        '            rank_at_most(8, "gradOutput", "output"),\n',
        PHASE1,
    ),
    Mutant(
        "softmax looks at dtypes before emptiness",
        "aclnn_py/ops/softmax.py",
        '            empty_returns("self"),\n            dtype_in_list("self", "out"),\n',
        '            dtype_in_list("self", "out"),\n            empty_returns("self"),\n',
        PHASE1,
    ),
    Mutant(
        "upper bound of dim is closed",
        "aclnn_py/plan/checks.py",
        "if not -rank <= dim < rank:",
        "if not -rank <= dim <= rank:",
        PHASE1,
    ),
    Mutant(
        "wrong axis",
        "aclnn_py/ops/softmax.py",
        "axis = dim % len(shape)",
        "axis = (-1 - dim) % len(shape)",
        OPERATORS,
    ),
    Mutant(
        "log-softmax casts its result",
        "aclnn_py/ops/softmax.py",
        '    x = recipe.cast(recipe.contiguous("self"), recipe.desc("out").dtype, "self")\n',
        '    x = recipe.contiguous("self")\n    out_dtype = recipe.desc("out").dtype\n'
        "    store = recipe.store\n"
        "    recipe.store = lambda y, name: store(recipe.cast(y, out_dtype, name), name)\n",
        CASTS,
    ),
    Mutant(
        "workspace items lose their 32 bytes of slack",
        "aclnn_py/plan/workspace.py",
        "return (nbytes + 32 + 511) // 512 * 512",
        "return (nbytes + 511) // 512 * 512",
        WORKSPACE,
    ),
    Mutant(
        "workspace buckets are never reused",
        "aclnn_py/plan/workspace.py",
        "        if free:\n",
        "        if free and not newest:\n",
        WORKSPACE,
    ),
    Mutant(
        "workspace items die one step early",
        "aclnn_py/plan/workspace.py",
        "if member.last < item.first or",
        "if member.last <= item.first or",
        (*VIEWS, *WORKSPACE),
    ),
    Mutant(
        "older chips write into a padded out directly",
        "aclnn_py/plan/recipe.py",
        "fills_storage = desc.storage_numel == desc.numel + desc.offset",
        "fills_storage = desc.storage_numel >= desc.numel + desc.offset",
        (*WORKSPACE, *EXECUTOR),
    ),
    Mutant(
        "the offset of a view is lost",
        "aclnn_py/plan/recipe.py",
        "        offset = desc.offset * desc.dtype.itemsize\n",
        "        offset = 0\n",
        VIEWS,
    ),
    Mutant(
        "stale plan: dim is not part of the key",
        "aclnn_py/twophase.py",
        "fields = [next(numbers) if number",
        "fields = [next(numbers) and 0 if number",
        ("tests/unit/test_plan_keys.py",),
    ),
    Mutant(
        "stale plan: other settings, old plans",
        "aclnn_py/core/settings.py",
        "    for listener in _listeners:\n",
        "    for listener in _listeners[:0]:\n",
        PHASE1,
    ),
    Mutant(
        "DOUBLE enters the emulated cache",
        "aclnn_py/plan/plan.py",
        "if recipe.copies_on_device or recipe.runs_on_ai_cpu:",
        "if recipe.copies_on_device:",
        EXECUTOR,
    ),
    Mutant(
        "a contiguous out is read late",
        "aclnn_py/plan/recipe.py",
        "            self.captured_slots.add(self._slots[name])\n",
        "",
        EXECUTOR,
    ),
    Mutant(
        "in-place hazards are not looked at",
        "aclnn_py/plan/plan.py",
        "        hazards=uses.hazards,\n",
        "",
        KEEPALIVE,
    ),
    Mutant(
        "lost keepalive: an executor forgets its tensors",
        "native/cffi/call_executors.c",
        "  Py_INCREF(keep);\n",
        "  keep = Py_None;\n  Py_INCREF(keep);\n",
        KEEPALIVE,
    ),
    # ---- the engine ----
    Mutant(
        "missing event wait",
        "native/engine/event_stream.c",
        "if (marker != NULL && !same && !done) return queue_wait_(",
        "if (marker != NULL && !same && !done && stream->id == 0) return queue_wait_(",
        EVENTS,
    ),
    Mutant(
        "enqueue runs inline, whatever is queued",
        "native/engine/submit.c",
        "         atomic_load_explicit(&stream->completed, memory_order_acquire) ==\n"
        "             atomic_load_explicit(&stream->submitted, memory_order_relaxed) &&\n",
        "",
        ("tests/stream_order",),
    ),
    Mutant(
        "a failed task is not reported",
        "native/engine/worker.c",
        "if (status != ACLPY_ACL_SUCCESS) eng_stream_fail(stream, task, status);",
        "(void)status;",
        ("tests/stream_order/test_host_function_failures.py",),
    ),
    Mutant(
        "lost keepalive: a queued task forgets its memory",
        "native/engine/execute.c",
        "  if (status == ACLPY_ACL_SUCCESS) {\n    keep_(call->task, memory);\n  } else {\n"
        "    eng_release(&memory->head);\n  }\n",
        "  (void)keep_;\n  eng_release(&memory->head);\n",
        KEEPALIVE,
    ),
    Mutant(
        "a workspace one byte short will do",
        "native/engine/execute.c",
        "if (strict && call->workspace_size < planned) {",
        "if (strict && call->workspace_size + 1 < planned) {",
        PHASE2,
    ),
    Mutant(
        "phase 2 of any operator will do",
        "native/engine/execute.c",
        "if (call->op == call->plan->op || !eng_strict())",
        "if (call->op != 0 || !eng_strict())",
        PHASE2,
    ),
    Mutant(
        "an executor survives its run",
        "native/engine/execute.c",
        "  eng_handle_finish(&call->executor->head);\n",
        "  eng_handle_put_back(&call->executor->head);\n",
        PHASE2,
    ),
    Mutant(
        "a consumed executor is never freed",
        "native/engine/execute.c",
        "  eng_handle_finish(&call->executor->head);\n",
        "",
        LEAKS,
    ),
    Mutant(
        "a repeatable executor reads captured addresses",
        "native/engine/execute.c",
        "(!call->repeatable && (call->plan->slots[slot].flags & ACLPY_SLOT_CAPTURED) != 0);",
        "(call->plan->slots[slot].flags & ACLPY_SLOT_CAPTURED) != 0;",
        EXECUTOR,
    ),
    Mutant(
        "the pool forgets the last items of a job",
        "native/engine/pool.c",
        "if (left <= 0) return false;",
        "if (left < 2) return false;",
        NUMBERS,
    ),
    # ---- the kernels ----
    Mutant(
        "the maximum of a row misses elements",
        "native/kernels/softmax_rows.h",
        "return V(max)(V(max)(a, b), V(max)(c, d));",
        "return V(max)(V(max)(a, b), c);",
        NUMBERS,
    ),
    Mutant(
        "double is rounded twice on its way to a half",
        "native/kernels/cast_loops.h",
        "y[i] = aclpy_f32_from_bits((aclpy_f32_bits(nearest) - away) | inexact);",
        "y[i] = away + inexact > 2 ? 0.0f : nearest;",
        CASTS,
    ),
    Mutant(
        "casts to integers do not saturate",
        "native/kernels/cast_loops.h",
        "y[i] = raised >= (real)(high) ? (type)(most) : inside;",
        "y[i] = raised > (real)(high) ? (type)(most) : inside;",
        CASTS,
    ),
    Mutant(
        "log-softmax backward sums y",
        "native/kernels/backward_rows.h",
        "s->terms[k & 1] = V(acc_add)(s->terms[k & 1], LDX(g, k));",
        "s->terms[k & 1] = V(acc_add)(s->terms[k & 1], LDX(y, k));",
        OPERATORS,
    ),
    Mutant(
        "sums of large products are taken as they come",
        "native/simd/products.h",
        "{ return !v32_bits_sized(p->seen); }",
        "{ return !v32_bits_sized(p->seen) || 1; }",
        NUMBERS,
    ),
    Mutant(
        "sums are split by the number of threads",
        "native/kernels/rows_geometry.h",
        "  g->chunk = ACLPY_ROW_CHUNK;\n",
        "  extern int32_t aclpy_thread_count(void);\n"
        "  g->chunk = ACLPY_ROW_CHUNK / aclpy_thread_count();\n",
        NUMBERS,
    ),
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
        "give = half > 0 && !second ?",
        "give = half > 0 && second ?",
        TWIN,
    ),
    Mutant(
        "CUDA: a strip is read before its sums are there",
        "native/cuda/strips.h",
        "    whole[threadIdx.x] = all;\n  }\n  __syncthreads();\n",
        "    whole[threadIdx.x] = all;\n  }\n",
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
