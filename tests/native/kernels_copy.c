/* SPDX-License-Identifier: Apache-2.0
 * copy_strided: random layouts of rank 0 to 25 (permuted, padded, negative, zero strides) and chosen transposes
 * against one-element-at-a-time copying; bytes between destination elements stay untouched.
 */
#include "kernels_run.h"

typedef struct layout {
  int64_t rank;
  int64_t dims[25], from[25], to[25];   /* bytes */
  int64_t from_low, from_high, to_high; /* byte range relative to element 0 */
  int lined;                            /* the source begins at a line */
} layout;

/* Strides of a memory order `order` (slowest first) with `pad` extra elements after some dims. */
static int64_t order_strides_(const layout *l, const int *order, int64_t element, int pads, int64_t *strides) {
  int64_t step = element;
  for (int64_t i = l->rank - 1; i >= 0; --i) {
    strides[order[i]] = step;
    step *= l->dims[order[i]] > 0 ? l->dims[order[i]] : 1;
    if (pads && random_below(3) == 0) step += element * random_below(3);
  }
  return step;
}

static void shuffle_(int *order, int64_t n) {
  for (int64_t i = n - 1; i > 0; --i) {
    const int64_t j = random_below(i + 1);
    const int t = order[i];
    order[i] = order[j];
    order[j] = t;
  }
}

static void ranges_(layout *l) {
  l->from_low = l->from_high = l->to_high = 0;
  for (int64_t i = 0; i < l->rank; ++i) {
    const int64_t reach = (l->dims[i] - 1) * l->from[i];
    if (l->dims[i] == 0) continue;
    if (reach < 0) l->from_low += reach;
    if (reach > 0) l->from_high += reach;
    l->to_high += (l->dims[i] - 1) * l->to[i];
  }
}

static void random_layout_(layout *l, int64_t element) {
  int from_order[25], to_order[25];
  l->rank = random_below(20) == 0 ? 25 : random_below(6);
  l->lined = 0;
  int64_t elements = 1;
  for (int64_t i = 0; i < l->rank; ++i) {
    from_order[i] = to_order[i] = (int)i;
    const int64_t most = elements > 4000 ? 1 : l->rank > 8 ? 3 : 40;
    l->dims[i] = random_below(100) == 0 ? 0 : 1 + random_below(most);
    elements *= l->dims[i] > 0 ? l->dims[i] : 1;
  }
  if (random_below(3)) shuffle_(from_order, l->rank);
  if (random_below(3) == 0) shuffle_(to_order, l->rank);
  order_strides_(l, from_order, element, random_below(2) != 0, l->from);
  order_strides_(l, to_order, element, random_below(2) != 0, l->to);
  for (int64_t i = 0; i < l->rank; ++i) {
    if (random_below(6) == 0) l->from[i] = 0;
    if (random_below(6) == 0) l->from[i] = -l->from[i];
  }
  ranges_(l);
}

/* [a, b] read column by column; row pitches may be padded. */
static void transpose_layout_(layout *l, int64_t a, int64_t b, int64_t element, int64_t outer, int64_t pad) {
  const int64_t dims[3] = {outer, a, b};
  l->rank = 3;
  l->lined = 0;
  memcpy(l->dims, dims, sizeof dims);
  l->from[0] = a * b * element;
  l->from[1] = element;
  l->from[2] = a * element;
  l->to[2] = element;
  l->to[1] = (b + pad) * element;
  l->to[0] = l->to[1] * a;
  ranges_(l);
}

static void naive_(const layout *l, const unsigned char *from, unsigned char *to, int64_t element) {
  int64_t at[25] = {0};
  for (int64_t i = 0; i < l->rank; ++i) {
    if (l->dims[i] == 0) return;
  }
  for (;;) {
    int64_t s = 0, d = 0;
    for (int64_t i = 0; i < l->rank; ++i) s += at[i] * l->from[i], d += at[i] * l->to[i];
    element_copy(to + d, from + s, element);
    int64_t i = l->rank - 1;
    for (; i >= 0 && ++at[i] == l->dims[i]; --i) at[i] = 0;
    if (i < 0) return;
  }
}

static void check_(const aclpy_kernel *k, const layout *l, int64_t element) {
  int64_t params[1 + 3 * 25] = {l->rank};
  for (int64_t i = 0; i < l->rank; ++i) {
    params[1 + i] = l->dims[i];
    params[1 + l->rank + i] = l->from[i];
    params[1 + 2 * l->rank + i] = l->to[i];
  }
  const size_t unit = (size_t)(element == 16 ? 8 : element);
  buffer from = buffer_make((size_t)(l->from_high - l->from_low + element) + 64, unit);
  buffer to = buffer_make((size_t)(l->to_high + element) + 64, unit);
  if (l->to_high > 1024 * 1024) to.data += -(uintptr_t)to.data & 63u; /* lines of a transpose are streamed if aligned */
  to.bytes -= 64;
  if (l->lined) from.data += -(uintptr_t)from.data & 63u;
  from.bytes -= 64;
  buffer want = buffer_make(to.bytes, unit);
  fill_bytes(from.data, from.bytes);
  memset(to.data, 0x5a, to.bytes);
  memset(want.data, 0x5a, to.bytes);
  aclpy_kernel_args args = {{from.data - l->from_low, to.data}, NULL, params, 0};
  run_plan(k, &args, (int32_t)(1 + 3 * l->rank), PIECES);
  naive_(l, from.data - l->from_low, want.data, element);
  CHECK(memcmp(to.data, want.data, to.bytes) == 0, "%s %s rank %" PRId64, k->dtype, k->isa, l->rank);
  CHECK(buffer_guards_hold(&to), "%s %s: wrote outside", k->dtype, k->isa);
  buffer_free(&from);
  buffer_free(&to);
  buffer_free(&want);
}

/* Larger than the last-level cache, where lines are streamed: transposed (whole lines, then not) and sliced rows. */
static void check_streamed_(const aclpy_kernel *k, int64_t element) {
  const int64_t bytes = aclpy_cache_bytes_last_level() / 2, columns = 1024 / element * 5;
  const int64_t rows = bytes / (columns * element) / 64 * 64 + 67;
  layout l;
  if (bytes > 64 * 1024 * 1024) return;
  transpose_layout_(&l, rows, columns, element, 1, 0);
  check_(k, &l, element);
  transpose_layout_(&l, rows, columns + 3, element, 1, 0);
  check_(k, &l, element);
  l.from[1] = (columns + 5) * element;
  l.from[2] = element;
  l.from[0] = rows * l.from[1];
  ranges_(&l);
  check_(k, &l, element);
}

/* Blocks whose runs are some lines long and far apart, around the sizes from which these are read whole. */
static void check_runs_(const aclpy_kernel *k, int64_t element) {
  const int64_t line = 64 / element;
  const int64_t runs[] = {4 * line - 1, 4 * line, 4 * line + 1, 5 * line + 3, 7 * line, 8 * line, 8 * line + 1};
  const int64_t columns[] = {line - 1, line, line + 1, 3 * line + 5, 130};
  for (size_t i = 0; i < sizeof runs / sizeof *runs; ++i) {
    for (size_t j = 0; j < sizeof columns / sizeof *columns; ++j) {
      layout l;
      transpose_layout_(&l, runs[i], columns[j], element, 1, 3 * line);
      for (int lined = 0; lined < 2; ++lined) {
        l.from[2] = 1024 + (runs[i] + 5) * element;
        if (lined) l.from[2] = (l.from[2] + 63) / 64 * 64;
        l.lined = lined;
        l.from[0] = columns[j] * l.from[2];
        ranges_(&l);
        check_(k, &l, element);
      }
    }
  }
}

static void check_refusals_(const aclpy_kernel *k) {
  aclpy_kernel_shape shape;
  const int64_t rank[1 + 3 * 26] = {26}, negative[4] = {1, -2, 4, 4}, count[4] = {1, 2, 4, 4};
  const int64_t huge[7] = {2, INT64_MAX / 2, 4, 4, 4, 4, 4};
  CHECK(k->plan(rank, 1 + 3 * 26, &shape) == -1, "rank 26 accepted");
  CHECK(k->plan(negative, 4, &shape) == -1, "negative dim accepted");
  CHECK(k->plan(count, 3, &shape) == -1, "wrong count accepted");
  CHECK(k->plan(count, 0, &shape) == -1, "no parameters accepted");
  CHECK(k->plan(huge, 7, &shape) == -1, "overflow accepted");
}

int main(void) {
  int tested = 0;
  for (size_t index = 0;; ++index) {
    const aclpy_kernel *k = aclpy_kernel_at(index);
    if (k == NULL) break;
    if (strcmp(k->name, "copy_strided") != 0 || isa_bit(k) == 0) continue;
    ++tested;
    const int64_t element = atoi(k->dtype + 1);
    layout l;
    for (int i = 0; i < 600; ++i) {
      random_layout_(&l, element);
      check_(k, &l, element);
    }
    for (int64_t a = 1; a < 140; a += a < 4 || (a > 14 && a < 18) || (a > 62 && a < 66) ? 1 : 9) {
      transpose_layout_(&l, a, 77, element, 2, 0);
      check_(k, &l, element);
      transpose_layout_(&l, 64, a, element, 1, 3);
      check_(k, &l, element);
    }
    transpose_layout_(&l, 300, 257, element, 1, 0);
    check_(k, &l, element);
    check_runs_(k, element);
    if (element == 4 || strcmp(k->isa, "baseline") != 0) check_streamed_(k, element);
    check_refusals_(k);
  }
  CHECK(tested >= 5 && tested % 5 == 0, "%d copy kernels", tested);
  return finish("copy kernels");
}
