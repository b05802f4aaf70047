/* SPDX-License-Identifier: Apache-2.0
 * Which ready lane runs next.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "schedule_lane.h"
#include "text.h"

enum { CHANGE_OF = 8 }; /* one in so many steps gives a ranked lane a new rank */

uint64_t eng_policy_draw(struct eng_policy *policy) { /* splitmix64 */
  uint64_t z = policy->random += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static bool read_seed_(struct eng_policy *policy, const char *text) {
  if (*text < '0' || *text > '9') return false;
  char *end = NULL;
  errno = 0;
  policy->random = strtoull(text, &end, 10);
  if (errno != 0 || *end != 0) return false;
  policy->kind = ENG_POLICY_SEED;
  uint64_t style = eng_policy_draw(policy);
  policy->chance = (uint32_t)(style & 3);
  policy->ranked = (style >> 2 & 1) != 0;
  return true;
}

bool eng_policy_read(struct eng_policy *policy, const char *text) {
  static const char *const names[] = {"eager", "lazy", "reverse"};
  *policy = (struct eng_policy){0};
  eng_text(policy->name, sizeof(policy->name), "%s", text);
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    if (strcmp(text, names[i]) != 0) continue;
    policy->kind = (int)i; /* in the order of the kinds */
    return true;
  }
  if (read_seed_(policy, text)) return true;
  if (!eng_trail_valid(text)) return false;
  policy->kind = ENG_POLICY_REPLAY;
  eng_text(policy->name, sizeof(policy->name), "replay");
  eng_trail_open(&policy->replay, text);
  return true;
}

/* ---- choosing ---- */

static struct eng_lane *first_ready_(struct eng_lane *lanes) {
  while (lanes != NULL && !eng_lane_ready(lanes)) lanes = lanes->next;
  return lanes;
}

/* The lane itself, or whoever it needs, as far as that can be told; else any. */
static struct eng_lane *needed_(struct eng_lane *lanes, struct eng_lane *lane) {
  uint32_t steps = 0;
  for (const struct eng_lane *one = lanes; one != NULL; one = one->next) steps++;
  for (; lane != NULL && steps > 0; steps--) {
    if (eng_lane_ready(lane)) return lane;
    lane = lane->busy ? NULL : eng_lane_supplier(lanes, lane);
  }
  return first_ready_(lanes);
}

static struct eng_lane *latest_(struct eng_lane *lanes) {
  struct eng_lane *best = NULL;
  for (struct eng_lane *lane = lanes; lane != NULL; lane = lane->next) {
    if (eng_lane_ready(lane) && (best == NULL || lane->stamp > best->stamp)) best = lane;
  }
  return best;
}

static struct eng_lane *ranked_(struct eng_policy *policy, struct eng_lane *lanes) {
  struct eng_lane *best = NULL;
  for (struct eng_lane *lane = lanes; lane != NULL; lane = lane->next) {
    if (eng_lane_ready(lane) && (best == NULL || lane->rank > best->rank)) best = lane;
  }
  if (eng_policy_draw(policy) % CHANGE_OF == 0) best->rank = eng_policy_draw(policy);
  return best;
}

static struct eng_lane *any_(struct eng_policy *policy, struct eng_lane *lanes) {
  uint64_t n = 0;
  for (struct eng_lane *lane = lanes; lane != NULL; lane = lane->next) n += eng_lane_ready(lane);
  uint64_t pick = eng_policy_draw(policy) % n;
  for (struct eng_lane *lane = lanes; lane != NULL; lane = lane->next) {
    if (eng_lane_ready(lane) && pick-- == 0) return lane;
  }
  return NULL;
}

static struct eng_lane *drawn_(struct eng_policy *policy, struct eng_lane *lanes, bool may_stop) {
  if (may_stop && eng_policy_draw(policy) % 4 >= policy->chance) return NULL;
  return policy->ranked ? ranked_(policy, lanes) : any_(policy, lanes);
}

/* The next decision of a replay; where it does not fit, or is at its end, the schedule goes on lazily. */
static bool replayed_(struct eng_policy *policy, struct eng_lane *lanes, bool may_stop, struct eng_lane **chosen,
                      bool *diverged) {
  int64_t sign;
  *chosen = NULL;
  bool more = eng_trail_next(&policy->replay, &sign);
  if (more && sign == ENG_TRAIL_STOP && may_stop) return true;
  for (struct eng_lane *lane = lanes; more && lane != NULL; lane = lane->next) {
    if (lane->number != sign || !eng_lane_ready(lane)) continue;
    *chosen = lane;
    return true;
  }
  *diverged = more;
  policy->kind = ENG_POLICY_LAZY;
  return false;
}

struct eng_lane *eng_policy_choose(struct eng_policy *policy, struct eng_lane *lanes, struct eng_lane *first,
                                   bool may_stop, bool *diverged) {
  struct eng_lane *chosen;
  *diverged = false;
  if (policy->kind == ENG_POLICY_REPLAY && replayed_(policy, lanes, may_stop, &chosen, diverged)) return chosen;
  switch (policy->kind) {
    case ENG_POLICY_EAGER:
      return needed_(lanes, first);
    case ENG_POLICY_REVERSE:
      return may_stop ? NULL : latest_(lanes);
    case ENG_POLICY_SEED:
      return drawn_(policy, lanes, may_stop);
    case ENG_POLICY_LAZY:
    case ENG_POLICY_REPLAY:
    default:
      return may_stop ? NULL : needed_(lanes, first);
  }
}
