/* SPDX-License-Identifier: Apache-2.0
 * Writing and reading trails.
 */
#include "trail.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "text.h"

enum { LETTERS = 52, LONGEST = 1 << 20, SIGN_BYTES = 48, LARGEST_LANE = 1 << 20 };

static const char head_[] = "r1:";
static const char letters_[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* ---- writing ---- */

static size_t format_(char *to, int64_t sign, uint64_t times) {
  size_t n;
  if (sign == ENG_TRAIL_STOP) {
    n = eng_text(to, SIGN_BYTES, ".");
  } else if (sign < LETTERS) {
    n = eng_text(to, SIGN_BYTES, "%c", letters_[sign]);
  } else {
    n = eng_text(to, SIGN_BYTES, "<%" PRId64 ">", sign);
  }
  return times > 1 ? n + eng_text(to + n, SIGN_BYTES - n, "%" PRIu64, times) : n;
}

static bool grow_(struct eng_trail *trail) {
  if (trail->length + SIGN_BYTES <= trail->room) return true;
  size_t room = trail->room == 0 ? 256 : 2 * trail->room;
  char *text = room > LONGEST || eng_fault(ENG_RESOURCE_OBJECT) ? NULL : realloc(trail->text, room);
  if (text == NULL) return false;
  trail->text = text;
  trail->room = room;
  return true;
}

void eng_trail_add(struct eng_trail *trail, int64_t sign) {
  if (trail->times > 0 && trail->sign == sign) {
    trail->times++;
    return;
  }
  if (trail->times > 0) {
    if (trail->incomplete || !grow_(trail)) {
      trail->incomplete = true;
    } else {
      trail->length += format_(trail->text + trail->length, trail->sign, trail->times);
    }
  }
  trail->sign = sign;
  trail->times = 1;
}

static void append_(char *to, size_t room, size_t *at, const char *text, size_t length) {
  for (size_t i = 0; i < length; i++, (*at)++) {
    if (*at + 1 < room) to[*at] = text[i];
  }
}

size_t eng_trail_text(const struct eng_trail *trail, char *text, size_t room) {
  char last[SIGN_BYTES];
  size_t n = trail->times > 0 ? format_(last, trail->sign, trail->times) : 0, at = 0;
  append_(text, room, &at, head_, sizeof(head_) - 1);
  append_(text, room, &at, trail->text, trail->length);
  append_(text, room, &at, last, n);
  if (room > 0) text[at < room ? at : room - 1] = 0;
  return at;
}

void eng_trail_clear(struct eng_trail *trail) {
  free(trail->text);
  *trail = (struct eng_trail){0};
}

/* ---- reading ---- */

/* A number without sign, at most `most`; -1 for anything else. */
static int64_t number_(const char **at, int64_t most) {
  int64_t value = -1;
  for (; **at >= '0' && **at <= '9'; (*at)++) {
    value = (value < 0 ? 0 : value) * 10 + (**at - '0');
    if (value > most) return -1;
  }
  return value;
}

/* The sign at *at with its count; false at the end and where there is none. */
static bool sign_(const char **at, int64_t *sign, uint64_t *times) {
  const char *letter = **at == 0 ? NULL : strchr(letters_, **at);
  if (letter != NULL) {
    *sign = letter - letters_;
    (*at)++;
  } else if (**at == '.') {
    *sign = ENG_TRAIL_STOP;
    (*at)++;
  } else if (**at == '<') {
    (*at)++;
    *sign = number_(at, LARGEST_LANE);
    if (*sign < 0 || **at != '>') return false;
    (*at)++;
  } else {
    return false;
  }
  *times = 1;
  if (**at < '0' || **at > '9') return true;
  int64_t count = number_(at, INT64_MAX / 16);
  *times = (uint64_t)count;
  return count > 0;
}

bool eng_trail_valid(const char *text) {
  if (strncmp(text, head_, sizeof(head_) - 1) != 0) return false;
  const char *at = text + sizeof(head_) - 1;
  int64_t sign;
  uint64_t times;
  while (*at != 0) {
    if (!sign_(&at, &sign, &times)) return false;
  }
  return true;
}

void eng_trail_open(struct eng_trail_reader *reader, const char *text) {
  *reader = (struct eng_trail_reader){.at = text + sizeof(head_) - 1};
}

bool eng_trail_next(struct eng_trail_reader *reader, int64_t *sign) {
  if (reader->left == 0 && !sign_(&reader->at, &reader->sign, &reader->left)) return false;
  reader->left--;
  *sign = reader->sign;
  return true;
}
