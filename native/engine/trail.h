/* SPDX-License-Identifier: Apache-2.0
 * Trails: the decisions of a schedule as text. "r1:", then a sign for each decision, with a count where it repeats:
 * a letter for the lane whose next task ran (a-z, A-Z, then <52>), a dot for "no more at this submit".
 */
#ifndef ACLPY_ENGINE_TRAIL_H
#define ACLPY_ENGINE_TRAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ENG_TRAIL_STOP = -1 }; /* otherwise the lane's number */

struct eng_trail {
  char *text; /* what is finished */
  size_t length, room;
  int64_t sign; /* the latest one, and how often it has come */
  uint64_t times;
  bool incomplete; /* there was no memory for a part, or it is longer than anybody wants */
};

void eng_trail_add(struct eng_trail *trail, int64_t sign);
/* As snprintf: the whole text's length. */
size_t eng_trail_text(const struct eng_trail *trail, char *text, size_t room);
void eng_trail_clear(struct eng_trail *trail);

struct eng_trail_reader {
  const char *at;
  int64_t sign;
  uint64_t left;
};

/* Whether the text is a trail. */
bool eng_trail_valid(const char *text);
void eng_trail_open(struct eng_trail_reader *reader, const char *text);
/* False at the end. */
bool eng_trail_next(struct eng_trail_reader *reader, int64_t *sign);

#endif
