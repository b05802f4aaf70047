/* SPDX-License-Identifier: Apache-2.0
 * Steps that are calls into the host's language, and whose plans are gone: their owner forgets them when it next asks.
 *
 * A plan ends with the last of its executors, queued tasks and graphs, on any thread and under any lock; a call from
 * there into the other language could wait for a lock that this thread holds.
 */
#ifndef ACLPY_ENGINE_RETIRED_H
#define ACLPY_ENGINE_RETIRED_H

#include <stdbool.h>

#include "engine.h"

/* What a plan with such steps sets aside when it is made, since its end cannot fail; NULL in `*made` where it has none.
 */
bool eng_retired_prepare(const aclpy_plan_desc *desc, aclpy_retired **made);

/* Hands over what was set aside; NULL is nothing. */
void eng_retire(aclpy_retired *plan);

#endif
