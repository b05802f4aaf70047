/* SPDX-License-Identifier: Apache-2.0
 * Text into a buffer.
 */
#include "text.h"

#include <stdio.h>

size_t eng_text_list(char *to, size_t room, const char *format, va_list values) {
  if (room == 0) return 0;
  int wanted = vsnprintf(to, room, format, values);
  if (wanted < 0) {
    to[0] = 0;
    return 0;
  }
  return (size_t)wanted < room ? (size_t)wanted : room - 1;
}

size_t eng_text(char *to, size_t room, const char *format, ...) {
  va_list values;
  va_start(values, format);
  size_t length = eng_text_list(to, room, format, values);
  va_end(values);
  return length;
}
