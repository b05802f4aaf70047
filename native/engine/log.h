/* SPDX-License-Identifier: Apache-2.0
 * What the library itself says in the log.
 */
#ifndef ENG_LOG_H
#define ENG_LOG_H

/* "[ERROR] function: text" on stderr, unless ASCEND_GLOBAL_LOG_LEVEL hides errors. */
void eng_log_error(const char *function, const char *text);

#endif
