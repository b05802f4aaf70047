/* SPDX-License-Identifier: Apache-2.0
 * A recursive-descent reader that builds nothing: it walks the text and looks for at most one value.
 */
#include "json.h"

#include <ctype.h>
#include <string.h>

enum { DEEPEST = 64, KEY_BYTES = 64 };

struct reader_ {
  const char *at;
  const char *want[2]; /* path looked for */
  int want_depth;
  int matched; /* leading keys of the path that enclose the current place */
  char *value;
  size_t room;
  bool found;
};

static void skip_(struct reader_ *r) {
  while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r') r->at++;
}

static bool take_(struct reader_ *r, char c) {
  skip_(r);
  if (*r->at != c) return false;
  r->at++;
  return true;
}

/* A string, copied as far as it fits; escapes are kept as they are. */
static bool string_(struct reader_ *r, char *to, size_t room) {
  if (!take_(r, '"')) return false;
  size_t used = 0;
  for (; *r->at != '"'; r->at++) {
    if ((unsigned char)*r->at < 0x20) return false; /* the end of the text, too */
    if (*r->at == '\\') {
      if (strchr("\"\\/bfnrtu", r->at[1]) == NULL || r->at[1] == 0) return false;
      if (to != NULL && used + 1 < room) to[used++] = *r->at;
      r->at++;
    }
    if (to != NULL && used + 1 < room) to[used++] = *r->at;
  }
  r->at++;
  if (to != NULL) to[used] = 0;
  return true;
}

static bool digits_(struct reader_ *r) {
  if (!isdigit((unsigned char)*r->at)) return false;
  while (isdigit((unsigned char)*r->at)) r->at++;
  return true;
}

static bool number_(struct reader_ *r) {
  if (*r->at == '-') r->at++;
  if (!digits_(r)) return false;
  if (*r->at == '.') {
    r->at++;
    if (!digits_(r)) return false;
  }
  if (*r->at == 'e' || *r->at == 'E') {
    r->at++;
    if (*r->at == '+' || *r->at == '-') r->at++;
    if (!digits_(r)) return false;
  }
  return true;
}

static bool word_(struct reader_ *r) {
  static const char *const words[] = {"true", "false", "null"};
  for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
    size_t length = strlen(words[i]);
    if (strncmp(r->at, words[i], length) != 0) continue;
    r->at += length;
    return true;
  }
  return false;
}

static bool any_(struct reader_ *r, int depth);

static bool scalar_(struct reader_ *r, bool wanted) {
  skip_(r);
  if (*r->at == '"') {
    bool good = string_(r, wanted ? r->value : NULL, r->room);
    r->found = r->found || (good && wanted);
    return good;
  }
  const char *start = r->at;
  if (!(isalpha((unsigned char)*r->at) ? word_(r) : number_(r))) return false;
  size_t length = (size_t)(r->at - start);
  if (wanted && length < r->room) {
    memcpy(r->value, start, length);
    r->value[length] = 0;
    r->found = true;
  }
  return true;
}

static bool member_(struct reader_ *r, int depth) {
  char key[KEY_BYTES];
  if (!string_(r, key, sizeof(key)) || !take_(r, ':')) return false;
  bool on_path = r->matched == depth && depth < r->want_depth && strcmp(key, r->want[depth]) == 0;
  if (on_path) r->matched++;
  skip_(r);
  bool nested = *r->at == '{' || *r->at == '[';
  bool good = nested ? any_(r, depth + 1) : scalar_(r, on_path && r->matched == r->want_depth);
  if (on_path) r->matched--;
  return good;
}

static bool array_(struct reader_ *r, int depth) {
  if (take_(r, ']')) return true;
  do {
    skip_(r);
    bool nested = *r->at == '{' || *r->at == '[';
    if (!(nested ? any_(r, depth + 1) : scalar_(r, false))) return false;
  } while (take_(r, ','));
  return take_(r, ']');
}

/* An object or an array; keys inside arrays are never on the path, since its depth is passed by. */
static bool any_(struct reader_ *r, int depth) {
  if (depth > DEEPEST) return false;
  if (take_(r, '[')) {
    int matched = r->matched;
    r->matched = -1;
    bool good = array_(r, depth);
    r->matched = matched;
    return good;
  }
  if (!take_(r, '{')) return false;
  if (take_(r, '}')) return true;
  do {
    if (!member_(r, depth)) return false;
  } while (take_(r, ','));
  return take_(r, '}');
}

static bool read_(struct reader_ *r) {
  skip_(r);
  if (*r->at != '{' || !any_(r, 0)) return false;
  skip_(r);
  return *r->at == 0;
}

bool eng_json_is_object(const char *text) {
  struct reader_ reader = {.at = text};
  return read_(&reader);
}

bool eng_json_value(const char *text, const char *outer, const char *inner, char *value, size_t room) {
  struct reader_ reader = {
      .at = text, .want = {outer, inner}, .want_depth = inner == NULL ? 1 : 2, .value = value, .room = room};
  return read_(&reader) && reader.found;
}
