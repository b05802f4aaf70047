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
#undef FIND
  return api->is_initialized != NULL && api->initialize != NULL && api->save_thread != NULL && api->ensure != NULL &&
         api->release != NULL && api->import != NULL && api->decref != NULL && api->print_error != NULL &&
         api->clear_error != NULL;
}

/* ---- an interpreter of our own --------------------------------------------------------------------------------- */

static struct api_ own_; /* what was started here */
static int forking_;     /* the state that the forking thread holds */

static void before_fork_(void) {
  pthread_mutex_lock(&start_);
  if (own_.ensure == NULL || own_.before_fork == NULL) return;
  forking_ = own_.ensure();
  own_.before_fork();
}

static void after_fork_(void (*adjust)(void)) {
  if (own_.ensure != NULL && adjust != NULL) {
    adjust();
    own_.release(forking_);
  }
}

static void after_fork_parent_(void) {
  after_fork_(own_.after_fork_parent);
  pthread_mutex_unlock(&start_);
}

static void after_fork_child_(void) {
  after_fork_(own_.after_fork_child);
  pthread_mutex_init(&start_, NULL);
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
  if (pthread_atfork(before_fork_, after_fork_parent_, after_fork_child_) != 0) return "no memory for fork handlers";
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

aclpy_planner capi_planner(const char *function) {
  aclpy_planner planner = atomic_load_explicit(&planner_, memory_order_acquire);
  if (planner != NULL) return planner;
  struct api_ api;
  if (!load_(RTLD_DEFAULT, &api) || !api.is_initialized()) {
    pthread_mutex_lock(&start_);
    const char *problem = load_(RTLD_DEFAULT, &api) && api.is_initialized() ? NULL : start_python_();
    pthread_mutex_unlock(&start_);
    if (problem != NULL) {
      (void)refuse_(function, problem);
      return NULL;
    }
    if (!load_(RTLD_DEFAULT, &api)) {
      (void)refuse_(function, "Python was started, but its functions are not visible");
      return NULL;
    }
  }
  /* Outside of the lock: a thread that imports may hold Python's lock for long, and others may fork meanwhile. */
  bool imported = import_(&api);
  planner = atomic_load_explicit(&planner_, memory_order_acquire);
  if (planner == NULL) {
    (void)refuse_(function, imported ? "aclnn_py belongs to another copy of this library"
                                     : "that Python could not import aclnn_py (its error is above)");
  }
  return planner;
}

/* A device that Python implements, before any plan is needed: with ACLNN_PY_BACKEND=cuda. */
static int32_t start_backend_(const char *function) {
  return capi_planner(function) == NULL ? aclpy_error_last()->status : ACLPY_ACL_SUCCESS;
}

__attribute__((constructor)) static void offer_(void) { eng_foreign_starter_install(start_backend_); }
