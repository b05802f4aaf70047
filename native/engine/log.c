/* SPDX-License-Identifier: Apache-2.0
 * Lines of the log, the program's and the library's own, and how much of them is shown.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aclpy_status.h"
#include "engine.h"
#include "failure.h"
#include "log.h"
#include "text.h"

enum { DEBUG = 0, ERROR = 3, LOG_BYTES = 1024 };

/* ASCEND_GLOBAL_LOG_LEVEL as the vendor reads it: 0 shows everything, 3 only errors, and so by default; 4 nothing. */
static int32_t threshold_(void) {
  const char *text = getenv("ASCEND_GLOBAL_LOG_LEVEL");
  return text != NULL && text[0] >= '0' && text[0] <= '4' && text[1] == 0 ? text[0] - '0' : ERROR;
}

int32_t aclpy_app_log(int32_t level, const char *function, const char *file, uint32_t line, const char *text) {
  static const char *const names[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
  if (text == NULL) return eng_fail_null("aclAppLog", "fmt");
  if (level < DEBUG || level > ERROR) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, "aclAppLog", "logLevel", "0 (debug) to 3 (error)",
                      "pass ACL_DEBUG, ACL_INFO, ACL_WARNING or ACL_ERROR", "%" PRId32, level);
  }
  if (level < threshold_()) return ACLPY_ACL_SUCCESS;
  char cut[LOG_BYTES];
  eng_text(cut, sizeof(cut), "%s", text);
  fprintf(stderr, "[%s] %s:%" PRIu32 " %s: %s\n", names[level], file == NULL ? "" : file, line,
          function == NULL ? "" : function, cut);
  return ACLPY_ACL_SUCCESS;
}

void eng_log_error(const char *function, const char *text) {
  if (ERROR >= threshold_()) fprintf(stderr, "[ERROR] %s: %s\n", function, text);
}
