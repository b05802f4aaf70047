/* SPDX-License-Identifier: Apache-2.0
 * A host program that opens the library at run time, by RTLD_LOCAL, and does what its argument says.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

static void *library_;

static void *symbol_(const char *name) {
  void *found = dlsym(library_, name);
  if (found == NULL) {
    printf("%s is missing\n", name);
    exit(3);
  }
  return found;
}

/* Calls by the real prototypes: `FIND(aclInit)` declares a pointer of that type. */
#define FIND(name)                             \
  __typeof__(name) *name##_ = NULL;            \
  do {                                         \
    void *found_ = symbol_(#name);             \
    memcpy(&name##_, &found_, sizeof(found_)); \
  } while (0)

typedef aclnnStatus (*plan_function)(const aclTensor *, int64_t, aclTensor *, uint64_t *, aclOpExecutor **);

static int python_(void) {
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[4096];
  int found = 0;
  while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) found |= strstr(line, "libpython") != NULL;
  if (maps != NULL) (void)fclose(maps);
  return found;
}

static const char *text_(void) {
  FIND(aclGetRecentErrMsg);
  const char *text = aclGetRecentErrMsg_();
  return text == NULL ? "" : text;
}

static aclTensor *tensor_(void *data) {
  static const int64_t dims[] = {2, 3}, steps[] = {3, 1};
  FIND(aclCreateTensor);
  return aclCreateTensor_(dims, 2, ACL_FLOAT, steps, 0, ACL_FORMAT_ND, dims, 2, data);
}

/* Status of one phase 1; the executor is destroyed. */
static int plan_(int64_t dim) {
  static const char name[] = "aclnnSoftmaxGetWorkspaceSize";
  plan_function plan = NULL;
  void *found = symbol_(name);
  memcpy(&plan, &found, sizeof(found));
  FIND(aclDestroyTensor);
  FIND(aclDestroyAclOpExecutor);
  aclTensor *x = tensor_(NULL), *y = tensor_(NULL);
  uint64_t size = 0;
  aclOpExecutor *executor = NULL;
  int status = plan(x, dim, y, &size, &executor);
  if (status != 0) printf("status %d\n%s\n", status, text_());
  if (status == 0) status = aclDestroyAclOpExecutor_(executor);
  if (status == 0 && aclDestroyAclOpExecutor_(executor) != 561000) status = -1;
  (void)aclDestroyTensor_(x);
  if (status == 0 && aclDestroyTensor_(x) != ACLNN_ERR_PARAM_INVALID) status = -2;
  (void)aclDestroyTensor_(y);
  return status;
}

static void *plan_thread_(void *result) {
  *(int *)result = plan_(-1);
  return NULL;
}

static int threads_(void) {
  enum { THREADS = 8 };
  pthread_t threads[THREADS];
  int results[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, plan_thread_, &results[i]);
  int all = 0;
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    all |= results[i];
  }
  return all;
}

static int fork_(void) {
  if (plan_(-1) != 0) return 1;
  pid_t child = fork();
  if (child == 0) _exit(plan_(0) == 0 ? 0 : 9);
  int ended = 0;
  (void)waitpid(child, &ended, 0);
  if (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0) return 2;
  return plan_(-1);
}

/* A child that plans, in the thread that forked and in another; and the parent afterwards. */
static int fork_and_plan_(void) {
  pid_t child = fork();
  if (child == 0) {
    (void)alarm(100); /* what hangs ends */
    _exit(plan_(0) == 0 && threads_() == 0 && plan_(-1) == 0 ? 0 : 9);
  }
  int ended = 0;
  (void)waitpid(child, &ended, 0);
  if (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0) return 2;
  return plan_(-1);
}

/* Forks in a thread that has not planned: another has, and has ended; */
static int fork_after_(void) {
  pthread_t thread;
  int result = 1;
  pthread_create(&thread, NULL, plan_thread_, &result);
  pthread_join(thread, NULL);
  return result == 0 ? fork_and_plan_() : result;
}

/* or one is in its first phase 1, has begun (or not yet) or is starting Python. */
static int fork_meanwhile_(int until_python) {
  pthread_t thread;
  int result = 1;
  pthread_create(&thread, NULL, plan_thread_, &result);
  while (until_python && !python_()) continue;
  const int forked = fork_and_plan_();
  pthread_join(thread, NULL);
  return forked | result;
}

/* Everything that needs no planning. */
static int runtime_(void) {
  FIND(aclInit);
  FIND(aclrtSetDevice);
  FIND(aclrtMalloc);
  FIND(aclrtMemcpy);
  FIND(aclrtFree);
  FIND(aclrtCreateStream);
  FIND(aclrtCreateEventExWithFlag);
  FIND(aclrtRecordEvent);
  FIND(aclrtSynchronizeEvent);
  FIND(aclrtDestroyEvent);
  FIND(aclrtDestroyStream);
  FIND(aclFinalize);
  void *memory = NULL;
  char text[] = "moved through the device", back[sizeof(text)] = "";
  aclrtStream stream = NULL;
  aclrtEvent event = NULL;
  int status = aclInit_(NULL) | aclrtSetDevice_(0) | aclrtCreateStream_(&stream);
  status |= aclrtMalloc_(&memory, sizeof(text), ACL_MEM_MALLOC_HUGE_FIRST);
  status |= aclrtMemcpy_(memory, sizeof(text), text, sizeof(text), ACL_MEMCPY_HOST_TO_DEVICE);
  status |= aclrtMemcpy_(back, sizeof(back), memory, sizeof(text), ACL_MEMCPY_DEVICE_TO_HOST);
  status |= aclrtCreateEventExWithFlag_(&event, ACL_EVENT_SYNC) | aclrtRecordEvent_(event, stream);
  status |= aclrtSynchronizeEvent_(event) | aclrtDestroyEvent_(event);
  status |= aclrtDestroyStream_(stream) | aclrtFree_(memory) | aclFinalize_();
  return status != 0 || strcmp(text, back) != 0;
}

int main(int count, char **arguments) {
  if (count != 3) return 4;
  library_ = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (library_ == NULL) {
    printf("%s\n", dlerror());
    return 5;
  }
  const char *what = arguments[2];
  int result = 6;
  if (strcmp(what, "plan") == 0) result = plan_(-1);
  if (strcmp(what, "refused") == 0) result = plan_(7) == ACLNN_ERR_PARAM_INVALID ? 0 : 1;
  if (strcmp(what, "broken") == 0) result = plan_(-1) == 500000 && plan_(-1) == 500000 ? 0 : 1;
  if (strcmp(what, "threads") == 0) result = threads_();
  if (strcmp(what, "fork") == 0) result = fork_();
  if (strcmp(what, "fork after") == 0) result = fork_after_();
  if (strcmp(what, "fork at once") == 0) result = fork_meanwhile_(0);
  if (strcmp(what, "fork meanwhile") == 0) result = fork_meanwhile_(1);
  if (strcmp(what, "no variables") == 0) result = clearenv() != 0 || plan_(-1) != 0;
  if (strcmp(what, "runtime") == 0) result = runtime_();
  printf("python %d\n", python_());
  return result;
}
