/* SPDX-License-Identifier: Apache-2.0
 * A set of plan ids with the order of their last use: open addressing over entries that are also a linked list.
 */
#include "vendor_cache.h"

#include <stdlib.h>
#include <string.h>

#include "settings.h"
#include "thread.h"

enum { EVICTED_AT_ONCE = 30, FIRST_ENTRIES = 64, NONE = -1 };

struct entry_ {
  uint64_t plan;
  int32_t older, newer;
};

struct eng_vendor_cache {
  struct entry_ *entries; /* `used` of them, densely */
  int32_t *table;         /* entry of each place, NONE where empty; twice as many places as entries */
  int32_t used, capacity, oldest, newest;
};

static uint32_t place_(const struct eng_vendor_cache *cache, uint64_t plan) {
  uint32_t mask = (uint32_t)cache->capacity * 2 - 1;
  return (uint32_t)((plan * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & mask;
}

/* The place that holds the plan, or the empty one where it would go. */
static uint32_t probe_(const struct eng_vendor_cache *cache, uint64_t plan) {
  uint32_t mask = (uint32_t)cache->capacity * 2 - 1;
  uint32_t place = place_(cache, plan);
  while (cache->table[place] != NONE && cache->entries[cache->table[place]].plan != plan) place = (place + 1) & mask;
  return place;
}

static void detach_(struct eng_vendor_cache *cache, int32_t index) {
  struct entry_ *entry = &cache->entries[index];
  if (entry->older != NONE) cache->entries[entry->older].newer = entry->newer;
  if (entry->newer != NONE) cache->entries[entry->newer].older = entry->older;
  if (cache->oldest == index) cache->oldest = entry->newer;
  if (cache->newest == index) cache->newest = entry->older;
}

static void attach_newest_(struct eng_vendor_cache *cache, int32_t index) {
  struct entry_ *entry = &cache->entries[index];
  entry->older = cache->newest;
  entry->newer = NONE;
  if (cache->newest != NONE) cache->entries[cache->newest].newer = index;
  cache->newest = index;
  if (cache->oldest == NONE) cache->oldest = index;
}

static void rebuild_table_(struct eng_vendor_cache *cache) {
  memset(cache->table, 0xff, sizeof(*cache->table) * 2 * (size_t)cache->capacity);
  for (int32_t i = 0; i < cache->used; i++) cache->table[probe_(cache, cache->entries[i].plan)] = i;
}

static bool grow_(struct eng_vendor_cache *cache) {
  int32_t capacity = cache->capacity == 0 ? FIRST_ENTRIES : cache->capacity * 2;
  int32_t *table = malloc(sizeof(*table) * 2 * (size_t)capacity);
  struct entry_ *entries = realloc(cache->entries, sizeof(*entries) * (size_t)capacity);
  if (entries != NULL) cache->entries = entries;
  if (table == NULL || entries == NULL) {
    free(table);
    return false;
  }
  free(cache->table);
  cache->table = table;
  cache->capacity = capacity;
  rebuild_table_(cache);
  return true;
}

/* Takes the entry out; the last one moves into its place. The table needs a rebuild afterwards. */
static void drop_(struct eng_vendor_cache *cache, int32_t index) {
  detach_(cache, index);
  int32_t last = --cache->used;
  if (index == last) return;
  cache->entries[index] = cache->entries[last];
  const struct entry_ *moved = &cache->entries[index];
  if (moved->older != NONE) cache->entries[moved->older].newer = index;
  if (moved->newer != NONE) cache->entries[moved->newer].older = index;
  if (cache->oldest == last) cache->oldest = index;
  if (cache->newest == last) cache->newest = index;
}

static struct eng_vendor_cache *own_(bool create) {
  struct eng_thread *self = eng_self();
  if (self->vendor_cache == NULL && create) {
    eng_thread_attach();
    self->vendor_cache = calloc(1, sizeof(*self->vendor_cache));
    if (self->vendor_cache != NULL) self->vendor_cache->oldest = self->vendor_cache->newest = NONE;
  }
  return self->vendor_cache;
}

static int32_t find_(const struct eng_vendor_cache *cache, uint64_t plan) {
  return cache == NULL || cache->used == 0 ? NONE : cache->table[probe_(cache, plan)];
}

static bool enabled_(void) { return atomic_load_explicit(&eng_settings.vendor_cache, memory_order_relaxed); }

static void touch_(struct eng_vendor_cache *cache, int32_t index) {
  if (cache->newest == index) return;
  detach_(cache, index);
  attach_newest_(cache, index);
}

bool eng_vendor_cache_has(uint64_t plan) {
  if (!enabled_()) return false;
  struct eng_vendor_cache *cache = own_(false);
  int32_t index = find_(cache, plan);
  if (index == NONE) return false;
  touch_(cache, index);
  return true;
}

void eng_vendor_cache_put(uint64_t plan) {
  int64_t limit = atomic_load_explicit(&eng_settings.vendor_limit, memory_order_relaxed);
  if (!enabled_() || limit <= 0) return;
  struct eng_vendor_cache *cache = own_(true);
  if (cache == NULL) return; /* without memory the call is simply not remembered */
  int32_t index = find_(cache, plan);
  if (index != NONE) {
    touch_(cache, index);
    return;
  }
  if (cache->used >= limit) {
    for (int i = 0; i < EVICTED_AT_ONCE && cache->used > 0; i++) drop_(cache, cache->oldest);
    while (cache->used >= limit) drop_(cache, cache->oldest);
    rebuild_table_(cache);
  }
  if (cache->used == cache->capacity && !grow_(cache)) return;
  index = cache->used++;
  cache->entries[index].plan = plan;
  cache->table[probe_(cache, plan)] = index;
  attach_newest_(cache, index);
}

void eng_vendor_cache_remove(uint64_t plan) {
  struct eng_vendor_cache *cache = own_(false);
  int32_t index = find_(cache, plan);
  if (index == NONE) return;
  drop_(cache, index);
  rebuild_table_(cache);
}

void eng_vendor_cache_free(struct eng_vendor_cache *cache) {
  if (cache == NULL) return;
  free(cache->entries);
  free(cache->table);
  free(cache);
}
