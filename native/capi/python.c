/* SPDX-License-Identifier: Apache-2.0
 * Finding the planner: in the Python that runs this process, or in one that is started for it.
 *
 * Everything of Python is looked up by name, so the library has no Python symbol and serves every version. The stable
 * part of the C API is enough. The interpreter is never finalised: threads of the host may be inside at any time.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aclpy_status.h"
#include "capi.h"
#include "foreign.h"
#include "interpreter.h"
#include "process.h"

static _Atomic(aclpy_planner) planner_;
static pthread_mutex_t start_ = PTHREAD_MUTEX_INITIALIZER;

void aclpy_planner_install(aclpy_planner planner) { atomic_store(&planner_, planner); }

/* The functions that are needed, as every CPython since 3.10 has them. */
struct api_ {
  int (*is_initialized)(void);
  void (*initialize)(int signals);
  void *(*save_thread)(void);
  int (*ensure)(void);
  void (*release)(int state);
  void *(*import)(const char *name);
  void (*decref)(void *object);
  void (*print_error)(void), (*clear_error)(void);
  void (*set_program_name)(const wchar_t *name); /* gone one day; PYTHONHOME does as well */
  wchar_t *(*decode)(const char *text, size_t *size);
  void (*before_fork)(void), (*after_fork_parent)(void), (*after_fork_child)(void);
  int (*has_lock)(void); /* may be missing */
};

static bool load_(void *library, struct api_ *api) {
  /* dlsym gives void *, which POSIX lets stand for functions; the copy keeps the compiler quiet about it. */
#define FIND(member, name)                              \
  do {                                                  \
    void *found_ = dlsym(library, name);                \
    memcpy(&api->member, &found_, sizeof(api->member)); \
  } while (0)
  FIND(is_initialized, "Py_IsInitialized");
  FIND(initialize, "Py_InitializeEx");
  FIND(save_thread, "PyEval_SaveThread");
  FIND(ensure, "PyGILState_Ensure");
  FIND(release, "PyGILState_Release");
  FIND(import, "PyImport_ImportModule");
  FIND(decref, "Py_DecRef");
  FIND(print_error, "PyErr_Print");
  FIND(clear_error, "PyErr_Clear");
  FIND(set_program_name, "Py_SetProgramName");
  FIND(decode, "Py_DecodeLocale");
  FIND(before_fork, "PyOS_BeforeFork");
  FIND(after_fork_parent, "PyOS_AfterFork_Parent");
  FIND(after_fork_child, "PyOS_AfterFork_Child");
  FIND(has_lock, "PyGILState_Check");
#undef FIND
  return api->is_initialized != NULL && api->initialize != NULL && api->save_thread != NULL && api->ensure != NULL &&
         api->release != NULL && api->import != NULL && api->decref != NULL && api->print_error != NULL &&
         api->clear_error != NULL;
}

/* ---- an interpreter of our own --------------------------------------------------------------------------------- */

static struct api_ own_;         /* what was started here */
static atomic_bool own_begun_;   /* that one is, or is being started */
static atomic_bool own_ready_;   /* own_ is written */
static _Thread_local bool busy_; /* this thread starts it or imports, and may fork on the way */

/* What the thread that forks holds meanwhile. */
static _Thread_local bool held_, entered_;
static _Thread_local int forking_;

/* Whether this thread runs in the Python that was started here. */
static bool has_own_lock_(void) { return atomic_load(&own_ready_) && own_.has_lock != NULL && own_.has_lock() != 0; }

/* Nobody may be starting Python or importing the planner: in the child what that thread has locked would stay locked.
 * A thread with Python's lock is not made to wait, for an import needs that. */
static void before_fork_(void) {
  held_ = entered_ = false;
  if (busy_) return;
  if (has_own_lock_()) {
    held_ = pthread_mutex_trylock(&start_) == 0;
  } else {
    held_ = pthread_mutex_lock(&start_) == 0;
  }
  if (!atomic_load(&own_ready_) || own_.before_fork == NULL) return;
  forking_ = own_.ensure();
  own_.before_fork();
  entered_ = true;
}

static void after_fork_parent_(void) {
  if (entered_) {
    if (own_.after_fork_parent != NULL) own_.after_fork_parent();
    own_.release(forking_);
  }
  if (held_) pthread_mutex_unlock(&start_);
}

/* Here is no thread state of Python but this one, and it has to stay: the interpreter's first state is part of it, and
 * CPython 3.11 makes that but once. So the lock is given back without it. */
static void after_fork_child_(void) {
  enum { WAS_UNLOCKED = 1 }; /* PyGILState_UNLOCKED */
  if (entered_) {
    if (own_.after_fork_child != NULL) own_.after_fork_child();
    if (forking_ == WAS_UNLOCKED) {
      (void)own_.save_thread();
    } else {
      own_.release(forking_);
    }
  }
  if (!busy_) pthread_mutex_init(&start_, NULL);
}

/* Under the lock. */
static const char *start_python_(void) {
  struct capi_interpreter found;
  const char *problem = capi_interpreter_find(&found);
  if (problem != NULL) return problem;
  void *library = dlopen(found.library, RTLD_NOW | RTLD_GLOBAL);
  if (library == NULL) return dlerror();
  struct api_ api;
  if (!load_(library, &api)) return "the Python library lacks functions that CPython 3.10 has";
  if (api.is_initialized()) return NULL;
  static wchar_t *volatile program; /* Python wants it to stay, though nothing else reads it */
  program = api.decode != NULL ? api.decode(found.executable, NULL) : NULL;
  if (api.set_program_name != NULL && program != NULL) {
    api.set_program_name(program);
  } else {
    (void)setenv("PYTHONHOME", found.home, 0);
  }
  api.initialize(0); /* the host's signals stay the host's */
  (void)api.save_thread();
  own_ = api;
  atomic_store(&own_ready_, true);
  return NULL;
}

/* ---- the planner ------------------------------------------------------------------------------------------------ */

static int32_t refuse_(const char *function, const char *problem) {
  static atomic_bool told;
  if (!atomic_exchange(&told, true)) {
    (void)fprintf(stderr,
                  "aclnn_py: %s cannot plan: %s. Set ACLNN_PY_PYTHON to a Python that has aclnn-py installed; "
                  "`aclnn-py info` tells more.\n",
                  function, problem);
  }
  return aclpy_fail(ACLPY_ACL_ERROR_INTERNAL_ERROR, function, "", "a Python with aclnn-py to plan in",
                    "set ACLNN_PY_PYTHON to one; `aclnn-py info` tells whether it has a shared library", "%s", problem);
}

static bool import_(const struct api_ *api) {
  static atomic_bool told;
  int state = api->ensure();
  void *module = api->import("aclnn_py.dialects.capi");
  if (module != NULL) {
    api->decref(module);
  } else if (atomic_exchange(&told, true)) {
    api->clear_error(); /* every phase 1 tries again, and would fill the screen */
  } else {
    api->print_error();
  }
  api->release(state);
  return module != NULL;
}

/* The planner of a Python that others run, too. Without the lock: this thread may hold Python's, which whoever has that
 * lock may need. */
static const char *join_(void) {
  struct api_ api;
  if (!load_(RTLD_DEFAULT, &api)) return "Python was started, but its functions are not visible";
  return import_(&api) ? "aclnn_py belongs to another copy of this library"
                       : "that Python could not import aclnn_py (its error is above)";
}

/* The planner of a Python that runs here for nothing else: one thread at a time, so that others fork before or after.
 */
static const char *begin_(void) {
  struct api_ api;
  const char *problem = NULL;
  pthread_mutex_lock(&start_);
  busy_ = true;
  if (!load_(RTLD_DEFAULT, &api) || !api.is_initialized()) {
    atomic_store(&own_begun_, true);
    problem = start_python_();
  }
  if (problem == NULL && atomic_load_explicit(&planner_, memory_order_acquire) == NULL) problem = join_();
  busy_ = false;
  pthread_mutex_unlock(&start_);
  return problem;
}

aclpy_planner capi_planner(const char *function) {
  aclpy_planner planner = atomic_load_explicit(&planner_, memory_order_acquire);
  if (planner != NULL) return planner;
  struct api_ api;
  const bool others = !atomic_load(&own_begun_) && load_(RTLD_DEFAULT, &api) && api.is_initialized();
  const char *problem = others || has_own_lock_() ? join_() : begin_();
  planner = atomic_load_explicit(&planner_, memory_order_acquire);
  if (planner == NULL) (void)refuse_(function, problem);
  return planner;
}

/* A device that Python implements, before any plan is needed: with ACLNN_PY_BACKEND=cuda. */
static int32_t start_backend_(const char *function) {
  return capi_planner(function) == NULL ? aclpy_error_last()->status : ACLPY_ACL_SUCCESS;
}

__attribute__((constructor)) static void offer_(void) {
  eng_fork_guard(); /* before ours, which may wait for a thread that needs what that one locks: the last runs first */
  if (pthread_atfork(before_fork_, after_fork_parent_, after_fork_child_) != 0) abort(); /* as engine/process.c */
  eng_foreign_starter_install(start_backend_);
}
