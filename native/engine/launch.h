/* SPDX-License-Identifier: Apache-2.0
 * What a step of a plan puts into a foreign device's queue, kept so that it can be put there again without the step's
 * call.
 */
#ifndef ACLPY_ENGINE_LAUNCH_H
#define ACLPY_ENGINE_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"

struct eng_prepared;
struct eng_plan;
struct eng_stream;

/* The step that a call is for. */
struct eng_step_place {
  const struct eng_plan *plan;
  const aclpy_step_desc *step;
};

/* Room for the launches of a plan for foreign devices. False: no memory. */
bool eng_launches_prepare(struct eng_plan *plan);
void eng_launches_free(struct eng_plan *plan);
/* What to run instead of the step's call; NULL where that is needed: the first time, and for more scratch memory. */
const struct eng_prepared *eng_launch_find(const struct eng_plan *plan, const aclpy_step_desc *step,
                                           const struct eng_stream *stream);
/* False: the step's call is needed after all. */
bool eng_launch_run(const struct eng_prepared *launch, const struct eng_stream *stream, unsigned char *const *addr,
                    int32_t *status);

#endif
