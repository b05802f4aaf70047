/* SPDX-License-Identifier: Apache-2.0
 * Just enough JSON for the configuration file of aclInit: is it well formed, and what is one of its values.
 */
#ifndef ACLPY_ENGINE_JSON_H
#define ACLPY_ENGINE_JSON_H

#include <stdbool.h>
#include <stddef.h>

/* True when the text is one JSON object with nothing behind it. */
bool eng_json_is_object(const char *text);
/* Copies the scalar at outer or outer.inner (inner may be NULL) without quotes. False when there is none. */
bool eng_json_value(const char *text, const char *outer, const char *inner, char *value, size_t room);

#endif
