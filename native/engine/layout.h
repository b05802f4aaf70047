/* SPDX-License-Identifier: Apache-2.0
 * Layouts: interned descriptions of tensors. Equal descriptions are one object with one id.
 */
#ifndef ACLPY_ENGINE_LAYOUT_H
#define ACLPY_ENGINE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

struct eng_layout {
  uint64_t id; /* never reused; odd when the memory is a foreign device's, for which calls are planned apart */
  uint64_t hash;
  uint32_t users;                   /* tensors; the rest below is under the table's lock, too */
  struct eng_layout *chain;         /* same bucket */
  struct eng_layout *older, *newer; /* list of unused ones */
  /* What counts as the description. */
  uint32_t words;
  int64_t word[]; /* dtype, format, offset, view rank, storage rank, foreign, view dims, strides, storage dims */
};

enum { ENG_LAYOUT_FIXED = 6, ENG_LAYOUT_WORDS = ENG_LAYOUT_FIXED + 3 * 25 };

enum { ENG_LAYOUT_FOREIGN = 5 };

static inline uint64_t eng_layout_view_rank(const struct eng_layout *layout) { return (uint64_t)layout->word[3]; }
static inline uint64_t eng_layout_storage_rank(const struct eng_layout *layout) { return (uint64_t)layout->word[4]; }
static inline const int64_t *eng_layout_view_dims(const struct eng_layout *layout) {
  return layout->word + ENG_LAYOUT_FIXED;
}
static inline const int64_t *eng_layout_strides(const struct eng_layout *layout) {
  return eng_layout_view_dims(layout) + eng_layout_view_rank(layout);
}
static inline const int64_t *eng_layout_storage_dims(const struct eng_layout *layout) {
  return eng_layout_strides(layout) + eng_layout_view_rank(layout);
}

/* The layout of this description, with one more user; NULL without memory. */
struct eng_layout *eng_layout_intern(const int64_t *word, uint32_t words);
/* One user less. Unused layouts are kept, up to a limit, so that their ids stay the same. */
void eng_layout_leave(struct eng_layout *layout);

void eng_layouts_before_fork(void);
void eng_layouts_after_fork(bool child);

#endif
