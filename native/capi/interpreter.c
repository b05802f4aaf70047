/* SPDX-License-Identifier: Apache-2.0
 * Looks for the Python of the environment this library is installed in: $ACLNN_PY_PYTHON, else bin/python3 of the
 * folder above lib/pythonX.Y, else the pythonX.Y of that name on the search path. The interpreter itself is asked for
 * the place of its shared library.
 */
#include "interpreter.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "text.h"

extern char **environ;

/* Three lines: shared library (empty: there is none), executable, home. */
static const char question_[] =
    "import os, sys, sysconfig as s\n"
    "v = s.get_config_vars()\n"
    "names = [v.get('INSTSONAME'), v.get('LDLIBRARY')]\n"
    "folders = [v.get('LIBDIR'), os.path.join(sys.base_prefix, 'lib'), v.get('LIBPL'), sys.base_prefix]\n"
    "multi = v.get('MULTIARCH')\n"
    "folders += [os.path.join(f, multi) for f in folders[:2] if f and multi]\n"
    "paths = [os.path.join(f, n) for f in folders if f for n in names if n and ('.so' in n or '.dylib' in n or "
    "'.framework' in f or 'Python' == n[-6:])]\n"
    "print(next((p for p in paths if os.path.exists(p)), ''), sys.executable, sys.base_prefix, sep='\\n')\n";

static _Thread_local char problem_[2 * CAPI_PATH];

/* The variables of this process; none after clearenv(). */
static char **variables_(void) {
  static char *none[] = {NULL};
  return environ != NULL ? environ : none;
}

/* What such a command prints, or false where it fails. */
static bool ask_(const char *python, char *const arguments[], char *answer, size_t room) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return false;
  posix_spawn_file_actions_t actions;
  bool ok = posix_spawn_file_actions_init(&actions) == 0;
  size_t length = 0;
  pid_t child = 0;
  if (ok) {
    (void)posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0); /* PYTHONINSPECT reads */
    (void)posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
    (void)posix_spawn_file_actions_addclose(&actions, pipe_ends[0]);
    ok = posix_spawnp(&child, python, &actions, NULL, arguments, variables_()) == 0;
    (void)posix_spawn_file_actions_destroy(&actions);
  }
  (void)close(pipe_ends[1]);
  while (ok && length + 1 < room) {
    ssize_t got = read(pipe_ends[0], answer + length, room - 1 - length);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    length += (size_t)got;
  }
  answer[length] = 0;
  (void)close(pipe_ends[0]);
  int ended = 0;
  while (ok && waitpid(child, &ended, 0) < 0 && errno == EINTR) continue;
  return ok && WIFEXITED(ended) && WEXITSTATUS(ended) == 0;
}

static const char *line_(char **rest, char *to) {
  char *text = *rest;
  char *end = strchr(text, '\n');
  if (end != NULL) {
    *end = 0;
    *rest = end + 1;
  } else {
    *rest = text + strlen(text);
  }
  (void)eng_text(to, CAPI_PATH, "%s", text);
  return to;
}

/* An interpreter that cannot start ends its process, so variables that may be the reason are tried in another one. */
static bool starts_(const char *python) {
  static const char prefix[] = "PYTHON";
  bool any = false;
  for (char **variable = variables_(); *variable != NULL; variable++) {
    any = any || strncmp(*variable, prefix, sizeof(prefix) - 1) == 0;
  }
  char *const nothing[] = {(char *)python, "-S", "-s", "-c", "", NULL};
  char answer[1];
  return !any || ask_(python, nothing, answer, sizeof(answer));
}

static const char *describe_(const char *python, struct capi_interpreter *found) {
  char answer[3 * CAPI_PATH];
  char *const question[] = {(char *)python, "-I", "-S", "-c", (char *)question_, NULL};
  if (!ask_(python, question, answer, sizeof(answer))) {
    (void)eng_text(problem_, sizeof(problem_), "%s did not answer", python);
    return problem_;
  }
  if (!starts_(python)) {
    (void)eng_text(problem_, sizeof(problem_), "%s does not start with the variables PYTHON... as they are set",
                   python);
    return problem_;
  }
  char *rest = answer;
  (void)line_(&rest, found->library);
  (void)line_(&rest, found->executable);
  (void)line_(&rest, found->home);
  if (found->library[0] != 0) return NULL;
  (void)eng_text(problem_, sizeof(problem_), "%s has no shared library (libpython)", python);
  return problem_;
}

/* "<prefix>/lib/python3.11/site-packages/aclnn_native/libaclnn_py.so" -> "<prefix>/bin/python3", "python3.11". */
static bool candidates_(char *beside, char *by_name) {
  Dl_info info;
  char path[PATH_MAX];
  if (dladdr((const void *)(uintptr_t)&capi_interpreter_find, &info) == 0 || info.dli_fname == NULL) return false;
  if (realpath(info.dli_fname, path) == NULL) return false;
  char *name = strstr(path, "/python3.");
  for (char *next = name; next != NULL; next = strstr(name + 1, "/python3.")) name = next;
  if (name == NULL) return false;
  char *end = strchr(name + 1, '/');
  if (end == NULL) return false;
  *end = 0;
  (void)eng_text(by_name, CAPI_PATH, "%s", name + 1);
  *name = 0;
  char *lib = strrchr(path, '/');
  if (lib == NULL) return false;
  *lib = 0;
  (void)eng_text(beside, CAPI_PATH, "%s/bin/python3", path);
  return true;
}

const char *capi_interpreter_find(struct capi_interpreter *found) {
  const char *chosen = getenv("ACLNN_PY_PYTHON");
  if (chosen != NULL && chosen[0] != 0) return describe_(chosen, found);
  char beside[CAPI_PATH], by_name[CAPI_PATH];
  if (!candidates_(beside, by_name)) return "this library lies outside of any Python environment";
  if (access(beside, X_OK) == 0) return describe_(beside, found);
  return describe_(by_name, found);
}
