# SPDX-License-Identifier: Apache-2.0
"""Faults in what operations after a softmax come to: bytes by one sum, a logarithm."""

from __future__ import annotations

from mutant import Mutant

BYTES = ("tests/conformance/test_fused_bytes.py",)

POWERS = ("tests/conformance/test_powers.py",)

COLUMNS = ("tests/conformance/test_fused_columns.py",)

FOLDS = ("tests/conformance/test_fused_folds.py",)

CUTS = ("tests/conformance/test_fused_softmax.py",)

FUSED_MUTANTS = (
    Mutant(
        "a scale behind an operation that reads its row where it lies is lost",
        "native/kernels/fused_fold.h",
        "last->operand.each != w->own) fold_own_(w, &last->operand.each);",
        "last->operand.each != w->own) w->taken = 1;",
        FOLDS,
    ),
    Mutant(
        "of several vectors behind a row's last quad all keep the first one's exponentials",
        "native/kernels/fused_direct_rows.h",
        "stm_f32(e + k * LANES, v[k], lanes)",
        "stm_f32(e + k * LANES, v[0], lanes)",
        CUTS,
    ),
    Mutant(
        "the line that two rows share is taken for a float shorter than what the first one left",
        "native/kernels/fused_direct_edge.h",
        "_mm512_load_si512(d->seam), d->held};",
        "_mm512_load_si512(d->seam), d->held - 4};",
        FOLDS,
    ),
    Mutant(
        "a row's end is done with the operands of its beginning",
        "native/kernels/fused_direct_edge.h",
        "step.operand.each + d->at + k",
        "step.operand.each + k",
        FOLDS,
    ),
    Mutant(
        "short rows of a group are all divided by the first one's sum",
        "native/kernels/fused_brief.h",
        "n, factor[r], &w.drain);",
        "n, factor[0], &w.drain);",
        FOLDS,
    ),
    Mutant(
        "what lies behind a row's end counts as zeros",
        "native/kernels/fused_direct_rows.h",
        "v32_sub(LDN(x, n, -INFINITY), shift)",
        "v32_sub(LDN(x, n, 0.0f), shift)",
        FOLDS,
    ),
    Mutant(
        "so does what lies behind the last of several vectors",
        "native/kernels/fused_direct_rows.h",
        "LDM(x + k * LANES, lanes >> 16 * k, -INFINITY)",
        "LDM(x + k * LANES, lanes >> 16 * k, 0.0f)",
        CUTS,
    ),
    Mutant(
        "of a shared line of bytes the second row's part begins a byte early",
        "native/kernels/fused_direct_edge.h",
        "_mm512_storeu_si512(d->seam + seam.held, rest);",
        "_mm512_storeu_si512(d->seam + seam.held - 1, rest);",
        FOLDS,
    ),
    Mutant(
        "short rows take the fold where their factor forbids it",
        "native/kernels/fused_brief_steps.h",
        "factor <= s->limit;",
        "factor <= s->limit || n > 0;",
        FOLDS,
    ),
    Mutant(
        "exponentials are written where those of the row before still wait, behind its last quad",
        "native/kernels/fused_single_rows.h",
        "  if (d->at < f->g.n) direct_part_(f, d, f->g.n - d->at);\n"
        "  i = FN(direct_last)(f, t, i, way);\n",
        "  i = FN(direct_last)(f, t, i, way);\n"
        "  if (d->at < f->g.n) direct_part_(f, d, f->g.n - d->at);\n",
        FOLDS,
    ),
    Mutant(
        "the same, where rows are not of one kind",
        "native/kernels/fused_direct_rows.h",
        "    if (d->y != NULL) FN(direct_rest)(f, d, logarithm, target, functions, way);\n"
        "    i = FN(direct_last)(f, &r->t, i, way);\n",
        "    i = FN(direct_last)(f, &r->t, i, way);\n",
        FOLDS,
    ),
    Mutant(
        "the same, in the loop over quads of any operations",
        "native/kernels/fused_direct_rows.h",
        "    } else if (d->y != NULL) {\n"
        "      FN(direct_rest)(f, d, logarithm, target, functions, way);\n"
        "    }\n",
        "    }\n",
        FOLDS,
    ),
    Mutant(
        "of a group of rows the last, shorter one is taken for whole",
        "native/kernels/fused_tiles.h",
        "  return aclpy_min_i64(b->t.width, g->n * g->inner - (b->row + r) * g->columns);\n",
        "  return aclpy_min_i64(b->t.width, g->n * g->inner - 0 * r);\n",
        COLUMNS,
    ),
    Mutant(
        "values along the axis are those of the tile's first row",
        "native/kernels/fused_column_rows.h",
        "p->list[row] : p->value",
        "p->list[0] : p->value",
        COLUMNS,
    ),
    Mutant(
        "a fold that some columns do not allow is taken for all",
        "native/kernels/fused_tiles.h",
        "folded &= factor[k] <= c->fold.limit;",
        "folded &= factor[k] <= c->fold.limit || k > 0;",
        COLUMNS,
    ),
    Mutant(
        "the columns that a narrower tile lacks are not written",
        "native/kernels/fused_tiles.h",
        "  if (t->writes && t->common < before->t.width) column_rows_out_(&out, t->common);\n",
        "",
        COLUMNS,
    ),
    Mutant(
        "the next tile's elements are copied over some that are still to be read",
        "native/kernels/fused_column_source.h",
        "  LDQ(x + r * l->pitch + c, v);\n"
        "  if (next != NULL) TOPS_ROW(tops, next + r * l->lies + c);\n"
        "  if (into != NULL) FN(column_copy_quad)"
        "(next + r * l->lies + c, into + r * l->pitch + c);\n",
        "  if (next != NULL) TOPS_ROW(tops, next + r * l->lies + c);\n"
        "  if (into != NULL) FN(column_copy_quad)"
        "(next + r * l->lies + c, into + r * l->pitch + c);\n"
        "  LDQ(x + r * l->pitch + c, v);\n",
        COLUMNS,
    ),
    Mutant(
        "where no exponential waits, values along the axis are those of a block's first row",
        "native/kernels/fused_column_source.h",
        "column_form_apply_(&out, r, c, v);",
        "column_form_apply_(&out, 0, c, v);",
        COLUMNS,
    ),
    Mutant(
        "a minimum with one value is a clip",
        "native/kernels/fused_column_rows.h",
        "v[k] = v32_smaller(v[k], high);",
        "v[k] = aclpy_easy_clip_(v[k], v32_set1(-INFINITY), high);",
        COLUMNS,
    ),
    Mutant(
        "a logarithm of a softmax forgets the scale",
        "native/kernels/fused_powers.h",
        "(float)(p->after * aclpy_log_f64(p->before / sum)) : 0.0f",
        "(float)(p->after * aclpy_log_f64(1.0 / sum)) : 0.0f",
        POWERS,
    ),
    Mutant(
        "bytes next to halves are taken as they come",
        "native/kernels/fused_fixed.h",
        "error >= 0.99 * ACLPY_FIXED_PLACE * places",
        "error >= 99.0 * ACLPY_FIXED_PLACE * places",
        BYTES,
    ),
    Mutant(
        "of a row of operands half is looked at for what bytes hold",
        "native/kernels/fused_fixed.h",
        "at < n; at += ACLPY_DIRECT_QUAD",
        "at < n / 2; at += ACLPY_DIRECT_QUAD",
        BYTES,
    ),
    Mutant(
        "bytes beyond the largest wrap",
        "native/kernels/fused_fixed.h",
        "high > 255.4 - bias",
        "high > 1e9 - bias",
        BYTES,
    ),
    Mutant(
        "where bytes are done in turn after all, the next row's largest element is missed",
        "native/kernels/fused_direct_rows.h",
        "TOP_QUAD(&t->top, t->next + k);\n      return",
        "(void)k;\n      return",
        BYTES,
    ),
    Mutant(
        "rows after the first lose the power of two that went into their factor",
        "native/kernels/fused_single.h",
        "v32_set1(d->factor * d->fold.gain * lead)",
        "v32_set1(d->factor * d->fold.gain)",
        FOLDS,
    ),
    Mutant(
        "rows that may not be folded are done as the one before was",
        "native/kernels/fused_single.h",
        "s->calm == d->calm && d->folded && d->at",
        "s->calm == d->calm && d->at",
        FOLDS,
    ),
    Mutant(
        "rows after the first take their operands from the row's beginning",
        "native/kernels/fused_single.h",
        "= s->each + d->at;",
        "= s->each;",
        FOLDS,
    ),
    Mutant(
        "rows with operands of their own are taken for rows that see the same",
        "native/kernels/fused_direct_make.h",
        "d->still = d->still && !d->whole && d->moves[k] == NULL;",
        "d->still = d->still && !d->whole;",
        FOLDS,
    ),
    Mutant(
        "what a row of operands adds to bytes ends with its last whole vector",
        "native/kernels/fused_fixed.h",
        "for (int64_t i = 0; i < f->g.n; i += v32_LANES) {",
        "for (int64_t i = 0; i + v32_LANES <= f->g.n; i += v32_LANES) {",
        BYTES,
    ),
    Mutant(
        "quads of bytes that are done in turn take operands from before their place",
        "native/kernels/fused_single.h",
        "direct_steps_(d, v, s->e + i - d->e);",
        "direct_steps_(d, v, i);",
        BYTES,
    ),
    Mutant(
        "a loop that goes on in the middle of a row finds the largest of its end only",
        "native/kernels/row_map.h",
        "size - 1 - (uintptr_t)from) * size;",
        "size - 1) * size;",
        BYTES,
    ),
)
