/* SPDX-License-Identifier: Apache-2.0
 * What a C host pays: start-up in this fresh process, then the medians of rounds of calls. Prints one JSON object.
 * "python" says whether Python was in the process before the first phase 1.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

aclnnStatus aclnnSoftmaxGetWorkspaceSize(const aclTensor *self, int64_t dim, aclTensor *out, uint64_t *workspaceSize,
                                         aclOpExecutor **executor);
aclnnStatus aclnnSoftmax(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

enum { ROUNDS = 101, CALLS = 1000, ROWS = 8, COLUMNS = 32 };

static double now_(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void check_(int status) {
  if (status == 0) return;
  const char *text = aclGetRecentErrMsg();
  (void)fprintf(stderr, "status %d\n%s\n", status, text == NULL ? "" : text);
  exit(1);
}

static int python_(void) {
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[4096];
  int found = 0;
  while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) found |= strstr(line, "libpython") != NULL;
  if (maps != NULL) (void)fclose(maps);
  return found;
}

static int compare_(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void print_(const char *name, double *rounds) {
  qsort(rounds, ROUNDS, sizeof(*rounds), compare_);
  printf("\"%s\": %.2f, ", name, rounds[ROUNDS / 2] / CALLS);
}

static aclTensor *tensor_(void *data) {
  static const int64_t dims[] = {ROWS, COLUMNS}, steps[] = {COLUMNS, 1};
  return aclCreateTensor(dims, 2, ACL_FLOAT, steps, 0, ACL_FORMAT_ND, dims, 2, data);
}

int main(void) {
  static double clock_ns[ROUNDS], tensor_ns[ROUNDS], device_ns[ROUNDS], context_ns[ROUNDS], count_ns[ROUNDS],
      stream_ns[ROUNDS];
  static double one_ns[ROUNDS], two_ns[ROUNDS];
  static aclOpExecutor *executors[CALLS];
  double start = now_();
  check_(aclInit(NULL));
  double init_ns = now_() - start;
  check_(aclrtSetDevice(0));
  aclrtStream stream = NULL;
  check_(aclrtCreateStream(&stream));
  void *x_data = NULL, *y_data = NULL;
  check_(aclrtMalloc(&x_data, sizeof(float) * ROWS * COLUMNS, ACL_MEM_MALLOC_HUGE_FIRST));
  check_(aclrtMalloc(&y_data, sizeof(float) * ROWS * COLUMNS, ACL_MEM_MALLOC_HUGE_FIRST));
  check_(aclrtMemset(x_data, sizeof(float) * ROWS * COLUMNS, 0, sizeof(float) * ROWS * COLUMNS));
  aclTensor *x = tensor_(x_data), *y = tensor_(y_data);
  uint64_t size = 0;
  int python = python_();
  start = now_();
  check_(aclnnSoftmaxGetWorkspaceSize(x, -1, y, &size, &executors[0]));
  double first_ns = now_() - start;
  check_(aclDestroyAclOpExecutor(executors[0]));
  int32_t device = 0, id = 0;
  uint32_t count = 0;
  aclrtContext context = NULL;
  for (int round = 0; round < ROUNDS; round++) {
    start = now_();
    for (int i = 0; i < CALLS; i++) (void)now_();
    clock_ns[round] = now_() - start;
    start = now_();
    for (int i = 0; i < CALLS; i++) check_(aclDestroyTensor(tensor_(x_data)));
    tensor_ns[round] = now_() - start;
    start = now_();
    for (int i = 0; i < CALLS; i++) check_(aclrtGetDevice(&device));
    device_ns[round] = now_() - start;
    start = now_();
    for (int i = 0; i < CALLS; i++) check_(aclrtGetCurrentContext(&context));
    context_ns[round] = now_() - start;
    start = now_();
    for (int i = 0; i < CALLS; i++) check_(aclrtGetDeviceCount(&count));
    count_ns[round] = now_() - start;
    start = now_();
    for (int i = 0; i < CALLS; i++) check_(aclrtStreamGetId(stream, &id));
    stream_ns[round] = now_() - start;
    start = now_();
    for (int i = 0; i < CALLS; i++) check_(aclnnSoftmaxGetWorkspaceSize(x, -1, y, &size, &executors[i]));
    one_ns[round] = now_() - start;
    start = now_();
    for (int i = 0; i < CALLS; i++) check_(aclnnSoftmax(NULL, size, executors[i], stream));
    two_ns[round] = now_() - start;
    check_(aclrtSynchronizeStream(stream));
  }
  printf("{");
  print_("clock_ns", clock_ns);
  print_("tensor_ns", tensor_ns);
  print_("aclrtGetDevice", device_ns);
  print_("aclrtGetCurrentContext", context_ns);
  print_("aclrtGetDeviceCount", count_ns);
  print_("aclrtStreamGetId", stream_ns);
  print_("phase_one_ns", one_ns);
  print_("phase_two_ns", two_ns);
  printf("\"init_ns\": %.0f, \"first_phase_one_ns\": %.0f, \"python\": %d}\n", init_ns, first_ns, python);
  return 0;
}
