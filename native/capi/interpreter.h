/* SPDX-License-Identifier: Apache-2.0
 * Which Python belongs to this library.
 */
#ifndef ACLPY_CAPI_INTERPRETER_H
#define ACLPY_CAPI_INTERPRETER_H

enum { CAPI_PATH = 4096 };

struct capi_interpreter {
  char executable[CAPI_PATH];
  char library[CAPI_PATH]; /* shared libpython */
  char home[CAPI_PATH];    /* PYTHONHOME */
};

/* NULL, or why there is none (a static text, or one of the calling thread). */
const char *capi_interpreter_find(struct capi_interpreter *found);

#endif
