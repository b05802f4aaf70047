/* SPDX-License-Identifier: Apache-2.0
 * Processors, where the system lets a thread choose.
 */
#include "processor.h"

#if defined(__linux__)
#include <sched.h>

int eng_processor(void) { return sched_getcpu(); }

void eng_processor_leave(int processor) {
  cpu_set_t all, others;
  if (processor < 0 || processor >= CPU_SETSIZE || sched_getaffinity(0, sizeof(all), &all) != 0) return;
  others = all;
  CPU_CLR((size_t)processor, &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof(others), &others) != 0) return;
  (void)sched_setaffinity(0, sizeof(all), &all); /* where it is now it stays for a while */
}
#else
int eng_processor(void) { return -1; }
void eng_processor_leave(int processor) { (void)processor; }
#endif
