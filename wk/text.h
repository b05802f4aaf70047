/* SPDX-License-Identifier: Apache-2.0
 * Text into a buffer, cut where the buffer ends: for messages, where that is what is wanted.
 */
#ifndef ACLPY_ENGINE_TEXT_H
#define ACLPY_ENGINE_TEXT_H

#include <stdarg.h>
#include <stddef.h>

/* The number of bytes that are in `to` afterwards, without the 0. */
size_t eng_text(char *to, size_t room, const char *format, ...) __attribute__((format(printf, 3, 4)));
size_t eng_text_list(char *to, size_t room, const char *format, va_list values) __attribute__((format(printf, 3, 0)));

#endif
