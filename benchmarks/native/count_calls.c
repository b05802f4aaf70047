/* SPDX-License-Identifier: Apache-2.0
 * Counts the instructions of a program's main thread, one at a time under ptrace, between its SIGSTOPs (Linux, x86-64).
 *
 *   count_calls <stretches> <program> <arguments...>
 * prints for each stretch between two SIGSTOPs a line an object: stretch, instructions, locked ones, file. After the
 * last one the program is killed.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 1024, NAME = 256 };

struct range {
  uint64_t start, end;
  int64_t all, locked;
  char name[NAME];
};

static struct range ranges_[MOST];
static int n_ranges_;

/* What is mapped where, read anew at each stretch; the counts start at 0. */
static int read_maps_(pid_t child) {
  char path[64], line[1024];
  snprintf(path, sizeof path, "/proc/%d/maps", (int)child);
  FILE *maps = fopen(path, "r");
  if (!maps) return 0;
  for (n_ranges_ = 0; n_ranges_ < MOST && fgets(line, sizeof line, maps);) {
    struct range *range = &ranges_[n_ranges_];
    char rights[8] = "", name[NAME] = "";
    const int read =
        sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s %255s", &range->start, &range->end, rights, name);
    if (read < 3 || rights[2] != 'x') continue;
    const char *last = strrchr(name, '/');
    snprintf(range->name, sizeof range->name, "%s", read < 4 ? "?" : last ? last + 1 : name);
    range->all = range->locked = 0;
    n_ranges_++;
  }
  fclose(maps);
  return 1;
}

/* A locked instruction: the prefix, or an exchange with memory, which is locked without it. */
static int is_locked_(uint64_t word) {
  const unsigned char *byte = (const unsigned char *)&word;
  if (*byte == 0xf0) return 1;
  while ((*byte & 0xf0) == 0x40 || *byte == 0x66) byte++;
  return (byte[0] == 0x86 || byte[0] == 0x87) && byte[1] < 0xc0;
}

static void count_(pid_t child) {
  struct user_regs_struct registers;
  if (ptrace(PTRACE_GETREGS, child, NULL, &registers)) return;
  static int last;
  int found = last;
  if (registers.rip < ranges_[found].start || registers.rip >= ranges_[found].end) {
    for (found = 0; found < n_ranges_; found++) {
      if (registers.rip >= ranges_[found].start && registers.rip < ranges_[found].end) break;
    }
    if (found == n_ranges_) return;
    last = found;
  }
  ranges_[found].all++;
  ranges_[found].locked += is_locked_((uint64_t)ptrace(PTRACE_PEEKTEXT, child, (void *)(uintptr_t)registers.rip, NULL));
}

static int parent_(pid_t child, int stretches) {
  int stretch = -1; /* before the first SIGSTOP the child runs freely */
  for (int status = 0;;) {
    if (waitpid(child, &status, 0) != child) return 4;
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    if (!WIFSTOPPED(status)) return 4;
    int deliver = 0;
    if (WSTOPSIG(status) == SIGTRAP) {
      if (stretch >= 0) count_(child);
    } else if (WSTOPSIG(status) == SIGSTOP) {
      for (int i = 0; stretch >= 0 && i < n_ranges_; i++) {
        const struct range *range = &ranges_[i];
        if (range->all) printf("%d %" PRId64 " %" PRId64 " %s\n", stretch, range->all, range->locked, range->name);
      }
      if (++stretch == stretches) return kill(child, SIGKILL) ? 4 : 0;
      if (!read_maps_(child)) return 4;
    } else {
      deliver = WSTOPSIG(status);
    }
    if (ptrace(stretch < 0 ? PTRACE_CONT : PTRACE_SINGLESTEP, child, NULL, (void *)(intptr_t)deliver)) return 4;
  }
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const pid_t child = fork();
  if (child < 0) return 4;
  if (child > 0) return parent_(child, atoi(argv[1]));
  if (ptrace(PTRACE_TRACEME, 0, NULL, NULL)) return 4;
  execvp(argv[2], argv + 2);
  return 4;
}
