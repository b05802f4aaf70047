/* SPDX-License-Identifier: Apache-2.0
 * Launches: kept with the plan, found by step and device, never changed once they can be found.
 */
#include "launch.h"

#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "fault.h"
#include "foreign.h"
#include "foreign_table.h"
#include "plan.h"
#include "stream.h"

struct eng_prepared {
  struct eng_prepared *before; /* of an earlier table: somebody may still look at it */
  unsigned era;
  int32_t n_kernels, n_words, n_places, scratch_place;
  uint64_t scratch_bytes;
  aclpy_launch_kernel kernels[ACLPY_LAUNCH_KERNELS];
  int32_t places[ACLPY_LAUNCH_PLACES];
  int64_t words[];
};

static size_t count_(const struct eng_plan *plan) { return (size_t)plan->n_steps * ACLPY_FOREIGN_DEVICES; }

bool eng_launches_prepare(struct eng_plan *plan) {
  if ((plan->flags & ACLPY_PLAN_FOREIGN) == 0 || plan->n_steps == 0) return true;
  plan->launches = eng_object_zalloc(count_(plan) * sizeof(*plan->launches));
  return plan->launches != NULL;
}

void eng_launches_free(struct eng_plan *plan) {
  for (size_t i = 0; plan->launches != NULL && i < count_(plan); i++) {
    struct eng_prepared *launch = atomic_load_explicit(&plan->launches[i], memory_order_relaxed);
    while (launch != NULL) {
      struct eng_prepared *before = launch->before;
      free(launch);
      launch = before;
    }
  }
  free(plan->launches);
}

/* NULL for a plan that keeps none, and for a step that stands in for others. */
static struct eng_prepared *_Atomic *place_(const struct eng_plan *plan, const aclpy_step_desc *step, int32_t device) {
  if (plan->launches == NULL || step < plan->steps || step >= plan->steps + plan->n_steps) return NULL;
  int32_t index = eng_foreign_index(device);
  if (index < 0 || index >= ACLPY_FOREIGN_DEVICES) return NULL;
  return &plan->launches[(step - plan->steps) * ACLPY_FOREIGN_DEVICES + index];
}

const struct eng_prepared *eng_launch_find(const struct eng_plan *plan, const aclpy_step_desc *step,
                                           const struct eng_stream *stream) {
  if (plan->launches == NULL || !stream->foreign) return NULL;
  struct eng_prepared *_Atomic *place = place_(plan, step, stream->device);
  const struct eng_prepared *launch = place == NULL ? NULL : atomic_load_explicit(place, memory_order_acquire);
  if (launch == NULL || !eng_driver_serves(stream) || launch->era != atomic_load(&eng_foreign_era)) return NULL;
  const struct eng_device_queue *queue = &stream->device_queue;
  bool scratch = launch->scratch_bytes == 0 || (!queue->recording && queue->scratch_bytes >= launch->scratch_bytes);
  return scratch ? launch : NULL;
}

bool eng_launch_run(const struct eng_prepared *launch, const struct eng_stream *stream, unsigned char *const *addr,
                    int32_t *status) {
  int64_t words[ACLPY_LAUNCH_WORDS];
  memcpy(words, launch->words, (size_t)launch->n_words * sizeof(*words));
  for (int32_t i = 0; i < launch->n_places; i++) {
    int32_t place = launch->places[i];
    if (place == launch->scratch_place) {
      words[i] = launch->scratch_bytes == 0 ? 0 : (int64_t)stream->device_queue.scratch;
    } else if (place != 0) {
      words[i] = (int64_t)(uintptr_t)addr[place - 1];
    }
  }
  return eng_driver_launch(stream, launch->kernels, launch->n_kernels, words, status);
}

/* ---- keeping ---- */

static bool sound_(const aclpy_launch_desc *desc, int32_t n_operands) {
  if (desc->n_kernels < 0 || desc->n_kernels > ACLPY_LAUNCH_KERNELS || desc->n_words < 1 ||
      desc->n_words > ACLPY_LAUNCH_WORDS || desc->n_places < 0 || desc->n_places > ACLPY_LAUNCH_PLACES ||
      desc->n_places > desc->n_words) {
    return false;
  }
  for (int32_t i = 0; i < desc->n_places; i++) {
    if (desc->places[i] < 0 || desc->places[i] > n_operands + 1) return false;
  }
  return true;
}

static struct eng_prepared *copy_(const aclpy_launch_desc *desc, int32_t n_operands) {
  struct eng_prepared *launch = eng_object_zalloc(sizeof(*launch) + (size_t)desc->n_words * sizeof(launch->words[0]));
  if (launch == NULL) return NULL;
  launch->era = atomic_load(&eng_foreign_era);
  launch->n_kernels = desc->n_kernels;
  launch->n_words = desc->n_words;
  launch->n_places = desc->n_places;
  launch->scratch_place = n_operands + 1;
  launch->scratch_bytes = desc->scratch_bytes;
  for (int32_t i = 0; i < desc->n_kernels; i++) launch->kernels[i] = desc->kernels[i];
  for (int32_t i = 0; i < desc->n_places; i++) launch->places[i] = desc->places[i];
  memcpy(launch->words, desc->words, (size_t)desc->n_words * sizeof(launch->words[0]));
  return launch;
}

int32_t aclpy_launching_step(const aclpy_launch_desc *desc) {
  const struct eng_step_place *at = eng_self()->launching_step;
  const struct eng_stream *stream = eng_self()->launching;
  if (desc == NULL || at == NULL || stream == NULL || !sound_(desc, at->step->n_operands)) return 0;
  struct eng_prepared *_Atomic *place = place_(at->plan, at->step, stream->device);
  if (place == NULL) return 0;
  struct eng_prepared *known = atomic_load_explicit(place, memory_order_acquire);
  if (known != NULL && known->era == atomic_load(&eng_foreign_era)) return 1; /* another thread's call, or scratch */
  struct eng_prepared *launch = copy_(desc, at->step->n_operands);
  if (launch == NULL) return 0; /* so the next run calls again */
  launch->before = known;
  if (!atomic_compare_exchange_strong(place, &launch->before, launch)) free(launch);
  return 1;
}
