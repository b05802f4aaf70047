/* SPDX-License-Identifier: Apache-2.0
 * Forks under a sanitizer: its allocator does not survive one while another thread allocates, as each does while it
 * starts and ends, so a child would wait for a lock that nobody holds.
 */
#ifndef ACLPY_TESTS_FORK_SUPPORT_H
#define ACLPY_TESTS_FORK_SUPPORT_H

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

/* Whether the thread sleeps, or is no more. Its state stands behind its name, which is in brackets. */
static inline bool thread_sleeps_(const char *id) {
  char path[64], text[256] = "";
  (void)snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", id);
  int file = open(path, O_RDONLY);
  if (file < 0) return true;
  ssize_t length = read(file, text, sizeof text - 1);
  CHECK(close(file) == 0);
  const char *name_end = strrchr(text, ')');
  return length <= 0 || name_end == NULL || name_end[1] == '\0' || strchr("SDZX", name_end[2]) != NULL;
}

/* Whether all threads but one, the caller, do. */
static inline bool others_sleep_(void) {
  DIR *threads = opendir("/proc/self/task");
  if (threads == NULL) return true;
  int awake = 0;
  for (struct dirent *entry; (entry = readdir(threads)) != NULL;) {
    if (entry->d_name[0] != '.' && !thread_sleeps_(entry->d_name)) awake++;
  }
  CHECK(closedir(threads) == 0);
  return awake <= 1;
}

/* For callers whose other threads come to rest; after a minute without, it forks as it is. */
static inline pid_t fork_at_rest(void) {
  const time_t end = time(NULL) + 60;
  while (SANITIZED && !others_sleep_() && time(NULL) < end) (void)sched_yield();
  return fork();
}

#endif
