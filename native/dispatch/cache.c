/* SPDX-License-Identifier: Apache-2.0
 * Sizes of this machine's caches: the kernel's description in sysfs, else sysconf or sysctl, else a modest guess.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif

#include "kernel.h"

enum { L2_GUESS = 512 * 1024, LAST_GUESS = 8 * 1024 * 1024 };
/* A virtual machine is told of a socket's whole last level, which it shares with processors that it does not see: what
 * exceeds this for each that it sees is theirs. (Few processors have more for each core: those with stacked caches.) */
enum { LAST_PER_PROCESSOR = 16 * 1024 * 1024 };

/* Reads one line of cpu0's cache `index`; 0 where there is none. */
static int read_line_(int index, const char *leaf, char *text, size_t size) {
  char path[96];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, leaf);
  FILE *file = fopen(path, "r");
  if (file == NULL) return 0;
  const int found = fgets(text, (int)size, file) != NULL;
  fclose(file);
  return found;
}

/* Bytes of the data cache at `level`, or with level 0 of the highest level; 0 where sysfs does not say. */
static int64_t from_sysfs_(int level) {
  int64_t best = 0;
  int best_level = 0;
  for (int index = 0; index < 16; ++index) {
    char text[32];
    int here = 0;
    long long amount = 0;
    char unit = 'K';
    if (!read_line_(index, "level", text, sizeof text)) break;
    if (sscanf(text, "%d", &here) != 1) continue;
    if (!read_line_(index, "type", text, sizeof text) || strncmp(text, "Instruction", 11) == 0) continue;
    if (!read_line_(index, "size", text, sizeof text) || sscanf(text, "%lld%c", &amount, &unit) < 1) continue;
    if ((level != 0 && here != level) || here <= best_level || amount <= 0) continue;
    best = (int64_t)amount * (unit == 'M' ? 1024 * 1024 : unit == 'K' ? 1024 : 1);
    best_level = here;
  }
  return best;
}

static int64_t from_system_(int last) {
#if defined(__APPLE__)
  int64_t bytes = 0;
  size_t size = sizeof bytes;
  if (last && sysctlbyname("hw.l3cachesize", &bytes, &size, NULL, 0) == 0 && bytes > 0) return bytes;
  size = sizeof bytes;
  if (sysctlbyname("hw.l2cachesize", &bytes, &size, NULL, 0) == 0) return bytes;
  return 0;
#elif defined(_SC_LEVEL2_CACHE_SIZE) && defined(_SC_LEVEL3_CACHE_SIZE)
  const long l3 = last ? sysconf(_SC_LEVEL3_CACHE_SIZE) : 0;
  return l3 > 0 ? (int64_t)l3 : (int64_t)sysconf(_SC_LEVEL2_CACHE_SIZE);
#else
  (void)last;
  return 0;
#endif
}

static int64_t found_(int level, int64_t guess) {
  int64_t bytes = from_sysfs_(level);
  if (bytes <= 0) bytes = from_system_(level == 0);
  return bytes > 0 ? bytes : guess;
}

static int64_t share_(int64_t last_level) {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  const int64_t most = (processors > 0 ? processors : 1) * (int64_t)LAST_PER_PROCESSOR;
  return last_level < most ? last_level : most;
}

static int64_t find_l2_(void) { return found_(2, L2_GUESS); }
static int64_t find_last_level_(void) { return share_(found_(0, LAST_GUESS)); }

/* Two threads that ask at once store the same answer. */
static int64_t remembered_(_Atomic int64_t *kept, int64_t (*find)(void)) {
  int64_t bytes = atomic_load_explicit(kept, memory_order_relaxed);
  if (bytes > 0) return bytes;
  bytes = find();
  atomic_store_explicit(kept, bytes, memory_order_relaxed);
  return bytes;
}

int64_t aclpy_cache_bytes_l2(void) {
  static _Atomic int64_t kept;
  return remembered_(&kept, find_l2_);
}

static _Atomic int64_t last_level_;

int64_t aclpy_cache_bytes_last_level(void) { return remembered_(&last_level_, find_last_level_); }

void aclpy_cache_set_last_level(int64_t bytes) { atomic_store_explicit(&last_level_, bytes, memory_order_relaxed); }
