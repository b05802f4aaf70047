/* SPDX-License-Identifier: Apache-2.0
 * Recent messages of a thread, as aclGetRecentErrMsg hands them out.
 */
#ifndef ACLPY_ENGINE_MESSAGE_H
#define ACLPY_ENGINE_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

struct eng_messages;

void eng_messages_free(struct eng_messages *messages);
/* One box for the whole process instead of one for each thread (err_msg_mode "1" of aclInit's file). */
void eng_messages_set_process_wide(bool on);
/* Removes the newest message if the calling thread put it there: it goes on as a failure that surfaces elsewhere. */
void eng_messages_take_back(void);
/* Codes of messages that their status does not tell: EZ and this number. */
enum { ENG_MESSAGE_DTYPE = 1006, ENG_MESSAGE_NULL = 1011, ENG_MESSAGE_INDEX = 1012 };
/* The calling thread's next message has this code. */
void eng_message_code_next(int32_t code);
void eng_messages_before_fork(void);
void eng_messages_after_fork(bool child);

#endif
