/* SPDX-License-Identifier: Apache-2.0
 * WAIT and RECORD tasks: what is waited for and what is changed, be it an event, a notify, a count or a value.
 */
#ifndef ACLPY_ENGINE_MARK_H
#define ACLPY_ENGINE_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "task.h"

/* A notify: a flag, or a counter, with a number. */
struct eng_notify;

bool eng_mark_ready(const struct eng_task *task);
int32_t eng_mark_wait(struct eng_stream *stream, const struct eng_task *task);
void eng_mark_record(struct eng_task *task);
const char *eng_mark_name(const struct eng_task *task);

/* The comparisons and changes themselves. */
enum { ENG_CMP_GREATER_EQUAL = 0, ENG_CMP_EQUAL = 1, ENG_CMP_AND = 2, ENG_CMP_NOR = 3, ENG_CMP_MODES };
bool eng_value_matches(uint64_t now, uint64_t value, uint32_t mode);

bool eng_notify_is_set(struct eng_object *notify);
bool eng_notify_take(struct eng_object *notify); /* true: it was set, and is not any more */
void eng_notify_set(struct eng_object *notify);
bool eng_count_matches(struct eng_object *notify, uint32_t mode, uint32_t value);
void eng_count_change(struct eng_object *notify, uint32_t mode, uint32_t value, bool reset);

/* Seconds of a stream's wait, 0 = for ever, as nanoseconds. */
int64_t eng_wait_span_ns(uint32_t seconds);
/* aclrtSetOpWaitTimeout. */
uint32_t eng_op_wait_seconds(void);

#endif
