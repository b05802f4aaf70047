/* SPDX-License-Identifier: Apache-2.0
 * Half of a small job, handed in one line of memory to a pool thread that looks for work anyway.
 *
 * The pool's list costs both sides a dozen lines that go from one core's cache to the other's; of a job of some
 * microseconds that is as much as the help is worth. Here one line goes to the helper and comes back. There is one such
 * offer at a time in a process, to one helper that attends it; whoever finds it taken uses the list.
 *
 * Each side goes through its half in pieces, and then helps with what the other has not begun: cores may differ, and
 * threads be held up.
 */
#ifndef ACLPY_ENGINE_OFFER_H
#define ACLPY_ENGINE_OFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine.h"

/* Items [begin, end) of one pass. The caller's half is the first. */
struct eng_share {
  aclpy_kernel_run run;
  const aclpy_kernel_args *args;
  int64_t begin, end;
  size_t scratch_bytes;
  int32_t pass;
  int16_t processor; /* the caller's, or -1 */
  int8_t pieces;     /* of each half */
  int8_t spare;      /* so many of them are left to the half's owner */
  bool backwards;    /* the last one first */
};

/* Whether a helper attends, and no caller is there. It may be over the next moment. */
bool eng_offer_waits(void);
/* The caller. False: nobody attends. */
bool eng_offer_place(const struct eng_share *share);
/* By whoever placed it: its half, and of the other what the helper has not begun. */
void eng_offer_work(const struct eng_share *share, void *scratch);
/* After that: waits for the helper, if it has begun, and does what it leaves. */
void eng_offer_settle(const struct eng_share *share, void *scratch);

/* The helper. False: another one attends. */
bool eng_offer_attend(void);
/* Whether a caller is there; whether its offer is, too. */
bool eng_offer_engaged(void);
bool eng_offer_made(void);
/* Does what is offered, if it still is. */
void eng_offer_serve(void);
/* False: a caller is there; attend on. */
bool eng_offer_leave(void);

void eng_offer_after_fork(void); /* in the child */

#endif
