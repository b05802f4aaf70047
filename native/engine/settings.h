/* SPDX-License-Identifier: Apache-2.0
 * Switches of the engine: read from the environment when the library loads, changed by aclpy_set_*.
 */
#ifndef ACLPY_ENGINE_SETTINGS_H
#define ACLPY_ENGINE_SETTINGS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine.h"

enum { ENG_EMULATED_DEVICES = 64, ENG_MAX_DEVICES = 72, ENG_MAX_THREADS = 1024 }; /* 64 and 8 foreign ones */

struct eng_settings {
  atomic_bool strict;           /* ACLNN_PY_STRICT */
  atomic_bool inline_runs;      /* ACLNN_PY_INLINE: small kernels may run on the calling thread */
  atomic_bool vendor_cache;     /* off with DISABLE_L2_CACHE */
  _Atomic int64_t vendor_limit; /* ACLNN_CACHE_LIMIT */
  atomic_int threads;           /* ACLNN_PY_THREADS or the affinity mask */
  int32_t devices;          /* those that ASCEND_RT_VISIBLE_DEVICES leaves of ACLNN_PY_DEVICES; fixed after loading */
  int32_t physical_devices; /* ACLNN_PY_DEVICES */
  int32_t visible[ENG_MAX_DEVICES]; /* physical number of each device */
  bool foreign;                     /* ACLNN_PY_BACKEND=cuda: every device is a foreign one; fixed after loading */
  _Atomic uint64_t device_memory;   /* ACLNN_PY_DEVICE_MEMORY; 0: what the machine has */
};

extern struct eng_settings eng_settings;

static inline bool eng_strict(void) { return atomic_load_explicit(&eng_settings.strict, memory_order_relaxed); }

#endif
