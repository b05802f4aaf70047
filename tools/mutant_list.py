# SPDX-License-Identifier: Apache-2.0
"""The planted faults: what is changed, and the tests that have to notice."""

from __future__ import annotations

from mutant import Mutant
from mutant_cuda import CUDA_MUTANTS
from mutant_fused import FUSED_MUTANTS

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
KNOWN = ("tests/unit/test_known_plans.py",)
START = ("tests/unit/test_capi_start.py",)

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
        "C remembers plans beyond a change of the settings",
        "native/capi/known_plans.c",
        " || known->era != capi_plans_era()",
        "",
        KNOWN,
    ),
    Mutant(
        "a forked child of a C host loses the last thread state of its Python",
        "native/capi/python.c",
        "if (forking_ == WAS_UNLOCKED) {",
        "if (0) {",
        START,
    ),
    Mutant(
        "C takes a remembered plan of another call",
        "native/capi/known_plans.c",
        "memcmp(known->key, call->key, (size_t)call->n_key * sizeof(*call->key)) != 0",
        "known->key[1] != call->key[1]",
        KNOWN,
    ),
    Mutant(
        "C remembers nothing",
        "native/capi/known_plans.c",
        "return eng_handle_acquire(ENG_PLAN, known->plan);",
        "return NULL;",
        KNOWN,
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
        "desc.storage_numel == desc.numel + desc.offset",
        "desc.storage_numel >= desc.numel + desc.offset",
        (*WORKSPACE, *EXECUTOR),
    ),
    Mutant(
        "the offset of a view is lost",
        "aclnn_py/plan/recipe.py",
        "self._slots[name], -1, desc.offset * dtype.itemsize)",
        "self._slots[name], -1, 0)",
        VIEWS,
    ),
    Mutant(
        "tensors with strides of their own count as dense",
        "native/cffi/calls.c",
        "!known || stride != numel || size < 0",
        "!known || size < 0",
        ("tests/unit/test_tensor_facts.py",),
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
        "if recipe.device_copy or recipe.runs_on_ai_cpu:",
        "if recipe.device_copy:",
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
        "        _hazards(steps),\n",
        "        (),\n",
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
        "results that wait for the next exponentials are not written at the end",
        "native/kernels/backward_rows.h",
        "  FN(waiting_end)(&w, high, low, streaming);\n",
        "",
        OPERATORS,
    ),
    Mutant(
        "of four vectors of logarithms one is not looked at",
        "native/simd/avx512.h",
        "(_mm512_castps_si512(v[2]), _mm512_castps_si512(v[3]));\n  const __m512i least",
        "(_mm512_castps_si512(v[3]), _mm512_castps_si512(v[3]));\n  const __m512i least",
        NUMBERS,
        "avx512",
    ),
    Mutant(
        "sums of products are made in coarse units",
        "native/simd/products.h",
        "#define ACLPY_ANCHOR 0x1.8p10f",
        "#define ACLPY_ANCHOR 0x1.8p16f",
        NUMBERS,
    ),
    Mutant(
        "of sixteen powers of two one is a little too large",
        "native/simd/powers.h",
        "P(3, 0x3f91c3d3u)",
        "P(3, 0x3f91c3f3u)",
        NUMBERS,
        "avx512",
    ),
    Mutant(
        "of eight powers of two one is a little too large",
        "native/simd/powers.h",
        "P(1, 0x3f8b95c2u)",
        "P(1, 0x3f8b95e2u)",
        NUMBERS,
        "avx2",
    ),
    Mutant(
        "of a double's powers of two one is a little too large",
        "native/simd/powers.h",
        "0x1.2387a6e756238p+0",
        "0x1.2387a6e757238p+0",
        NUMBERS,
        "avx512",
    ),
    Mutant(
        "a far exponent of eighths is taken as one of quarters",
        "native/simd/avx2.h",
        "_mm256_srli_epi32(_mm256_castps_si256(shifted), 3)",
        "_mm256_srli_epi32(_mm256_castps_si256(shifted), 2)",
        NUMBERS,
        "avx2",
    ),
    Mutant(
        "of four vectors below the largest one is not looked at",
        "native/simd/avx2.h",
        "_mm256_max_epu32(_mm256_castps_si256(v[2]), _mm256_castps_si256(v[3]))",
        "_mm256_max_epu32(_mm256_castps_si256(v[2]), _mm256_castps_si256(v[2]))",
        NUMBERS,
        "avx2",
    ),
    Mutant(
        "of four vectors of doubles the lower halves decide",
        "native/simd/avx2.h",
        "_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi32(all, least))) == 0",
        "_mm256_movemask_pd(_mm256_castsi256_pd("
        "_mm256_slli_epi64(_mm256_cmpgt_epi32(all, least), 32))) == 0",
        NUMBERS,
        "avx2",
    ),
    Mutant(
        "bfloat16 in pairs is rounded down",
        "native/simd/bf16_avx2.h",
        "_mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd)",
        "_mm256_add_epi32(bits, _mm256_and_si256(odd, _mm256_setzero_si256()))",
        NUMBERS,
        "avx2",
    ),
    Mutant(
        "the largest word is the largest of those with a sign",
        "native/simd/words.h",
        "return _mm256_blendv_epi8(a, b, _mm256_srai_epi16(a, 15));",
        "return (void)b, a;",
        NUMBERS,
        "avx2",
    ),
    Mutant(
        "eight rows at once: sums of products that do not hold are taken",
        "native/kernels/backward_few.h",
        "other |= (uint32_t)!V(products_hold)(&s.products) << r;",
        "other |= 0u;",
        NUMBERS,
        "avx2",
    ),
    Mutant(
        "sixteen rows at once: sums of products that do not hold are taken",
        "native/kernels/backward_many.h",
        "if (V(products_hold)(&s.products)) continue;",
        "if (r >= 0) continue;",
        NUMBERS,
        "avx512",
    ),
    Mutant(
        "what is left of a row of bfloat16 loses its last element",
        "native/simd/bf16_pairs.h",
        "  const __mmask32 mask = aclpy_mask32_(n);\n  __m512i both;",
        "  const __mmask32 mask = aclpy_mask32_(n - (n < 32));\n  __m512i both;",
        OPERATORS,
        "avx512",
    ),
    Mutant(
        "sums of pairs of columns stay in pairs",
        "native/kernels/backward_tiles.h",
        "  if (!logarithm) V(dot_order)(product, ORDER);\n",
        "",
        NUMBERS,
        "avx2",
    ),
    Mutant(
        "turned rows: the last vector of a row begins behind the one before",
        "native/kernels/turned.h",
        "{ return aclpy_max_i64(0, aclpy_min_i64(c, n - LANES)); }",
        "{ return n < LANES ? 0 : c; }",
        NUMBERS,
        "avx2",
    ),
    Mutant(
        "turned rows: infinite results keep a product's sum",
        "native/simd/turned.h",
        "  return _mm256_and_ps(_mm256_cmp_ps(v32_sub(of, of), v32_set1(0), _CMP_EQ_OQ), v);",
        "  return (void)of, v;",
        NUMBERS,
        "avx2",
    ),
    Mutant(
        "gradients: a product is added before it is rounded",
        "native/simd/accumulate.h",
        "exact ? v32_fma(v, w, d.sum) : v32_add(d.sum, v32_mul(v, w));\n",
        "exact || 1 ? v32_fma(v, w, d.sum) : v32_add(d.sum, v32_mul(v, w));\n",
        NUMBERS,
    ),
    Mutant(
        "sums of doubles lose what they round off",
        "native/simd/accumulate.h",
        "  a.all = next;\n  a.rest = v64_add(a.rest, lost);\n",
        "  a.all = next;\n  a.rest = v64_mul(lost, v64_set1(0.0));\n",
        ("tests/conformance/test_double_sums.py",),
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
    Mutant(
        "a tensor that moves lets its own memory go",
        "aclnn_py/core/tensor.py",
        "owner if home is None else _Moved(home, owner)",
        "owner",
        ("tests/unit/test_statuses_executor.py",),
    ),
    *FUSED_MUTANTS,
    *CUDA_MUTANTS,
)
