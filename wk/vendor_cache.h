/* SPDX-License-Identifier: Apache-2.0
 * The vendor's executor cache, emulated by one flag for each (thread, plan).
 *
 * The flag is set when phase 2 of a cacheable, non-repeatable executor returned 0: that is what the vendor calls a
 * completed phase 2, since its host calls return before the device is done. Phase 1 reads it. The cache holds a
 * bounded number of plans; when it is full the 30 used least recently go.
 */
#ifndef ACLPY_ENGINE_VENDOR_CACHE_H
#define ACLPY_ENGINE_VENDOR_CACHE_H

#include <stdbool.h>
#include <stdint.h>

struct eng_vendor_cache;

bool eng_vendor_cache_has(uint64_t plan);
void eng_vendor_cache_put(uint64_t plan);
void eng_vendor_cache_remove(uint64_t plan);
void eng_vendor_cache_free(struct eng_vendor_cache *cache);

#endif
