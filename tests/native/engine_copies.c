/* SPDX-License-Identifier: Apache-2.0
 * The larger forms of copying and filling, every way to allocate, registered host memory, questions about memory.
 */
#include "aclpy_status.h"
#include "check.h"
#include "engine.h"

enum { H2H = 0, H2D = 1, D2H = 2, D2D = 3, DEFAULT = 4, BUFFERED = 5 };
static const size_t ROWS_LIMIT = (size_t)5 * 1024 * 1024;

static uintptr_t device_, pinned_;
static unsigned char pageable_[256];
static aclpy_handle stream_;

static unsigned char *bytes(uintptr_t address) { return (unsigned char *)address; }
static uintptr_t host(void) { return (uintptr_t)pageable_; }

static void park_stream(struct park *park) {
  CHECK_EQUAL(aclpy_submit(0, stream_, "park", park_run, park_drop, park, 0), 0);
  latch_wait(&park->begun, 1);
}

static void allocating(void) {
  static const struct {
    int32_t form;
    uint64_t reserved; /* for 33 bytes on a chip with 32 bytes of padding, and on one without */
    uint64_t on_950;
  } rows[] = {{ACLPY_MALLOC_PLAIN, 96, 64},          {ACLPY_MALLOC_ALIGN32, 64, 64},
              {ACLPY_MALLOC_CACHED, 96, 64},         {ACLPY_MALLOC_WITH_CFG, 33, 33},
              {ACLPY_MALLOC_TASK_SCHEDULER, 33, 33}, {ACLPY_MALLOC_HOST, 64, 64},
              {ACLPY_MALLOC_HOST_WITH_CFG, 33, 33},  {ACLPY_MALLOC_MANAGED, 33, 33}};
  for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
    int32_t form = rows[i / 2].form;
    bool is_host = form == ACLPY_MALLOC_HOST || form == ACLPY_MALLOC_HOST_WITH_CFG;
    CHECK_EQUAL(aclpy_set_soc(i % 2 ? "Ascend950" : "Ascend910B"), 0);
    uintptr_t address = 0;
    uint64_t before = aclpy_memory_in_use();
    CHECK_EQUAL(aclpy_malloc_form(0, form, 33, 1, NULL, 0, &address), 0);
    CHECK_EQUAL(address % 64, 0);
    CHECK_EQUAL(aclpy_memory_in_use() - before, i % 2 ? rows[i / 2].on_950 : rows[i / 2].reserved);
    CHECK_EQUAL(is_host ? aclpy_free(address) : aclpy_free_host(address), 107000);
    CHECK_EQUAL(aclpy_free_synchronized(0, address, !is_host), 107000);
    CHECK_EQUAL(aclpy_free_synchronized(0, address, is_host), 0);
    CHECK_EQUAL(aclpy_free_synchronized(0, address, is_host), 107000);
    CHECK_EQUAL(aclpy_malloc_form(0, form, 0, 1, NULL, 0, &address), 100000);
    CHECK_EQUAL(aclpy_malloc_form(0, form, 8, 1, NULL, 0, NULL), 100000);
    CHECK_EQUAL(aclpy_malloc_form(0, form, SIZE_MAX, 1, NULL, 0, &address), 100000);
    CHECK_EQUAL(aclpy_malloc_form(0, form, SIZE_MAX / 2, 1, NULL, 0, &address), 207001);
  }
  CHECK_EQUAL(aclpy_set_soc("Ascend910B"), 0);
  uintptr_t address = 0;
  aclpy_malloc_attribute attribute = {2, 0};
  CHECK_EQUAL(aclpy_malloc_form(0, ACLPY_MALLOC_WITH_CFG, 8, 0, &attribute, 1, &address), 0);
  CHECK_EQUAL(aclpy_free(address), 0);
  attribute.value = 9;
  CHECK_EQUAL(aclpy_malloc_form(0, ACLPY_MALLOC_WITH_CFG, 8, 0, &attribute, 1, &address), 107001);
  attribute.type = 4;
  CHECK_EQUAL(aclpy_malloc_form(0, ACLPY_MALLOC_WITH_CFG, 8, 0, &attribute, 1, &address), 100000);
  CHECK_EQUAL(aclpy_malloc_form(0, ACLPY_MALLOC_WITH_CFG, 8, 0, NULL, 1, &address), 100000);
  CHECK_EQUAL(aclpy_malloc_form(0, ACLPY_MALLOC_MANAGED, 8, 0, NULL, 0, &address), 100000);
  CHECK_EQUAL(aclpy_malloc_form(0, 99, 8, 0, NULL, 0, &address), 100000);
  CHECK_EQUAL(aclpy_free_synchronized(0, 0, 0), 100000);
}

/* Bytes that begin just before an allocation and reach into it: nothing is read or written. */
static void before_an_allocation(void) {
  for (int on_host = 0; on_host < 2; on_host++) {
    const uintptr_t ours = on_host ? pinned_ : device_, other = on_host ? device_ : host();
    const int32_t to = on_host ? D2H : H2D, from = on_host ? H2D : D2H;
    unsigned char kept[256];
    memcpy(kept, bytes(ours), 256);
    for (size_t back = 1; back <= 16; back += 15) {
      const uintptr_t at = ours - back;
      CHECK_EQUAL(aclpy_memcpy(0, at, 64, other, 64, to), 107000);
      CHECK_EQUAL(aclpy_memcpy(0, other, 64, at, 64, from), 107000);
      CHECK_EQUAL(aclpy_memset(0, at, 300, 0xAB, 300), 107000); /* from before it to behind it */
      CHECK_EQUAL(aclpy_memcpy_async(0, at, 64, other, 64, to, stream_), 107000);
      CHECK_EQUAL(aclpy_memset_async(0, at, 64, 0xAB, 64, stream_), 107000);
      CHECK_EQUAL(aclpy_memcpy_2d(0, at, 16, other, 16, 8, 4, to), 107000);
    }
    CHECK(memcmp(kept, bytes(ours), 256) == 0);
  }
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream_), 0);
}

/* The program's own memory may be registered in part. */
static void around_registered_memory(void) {
  void *pages = NULL;
  uintptr_t on_device = 0, large = 0;
  CHECK(posix_memalign(&pages, 4096, 3 * 4096) == 0);
  memset(pages, 5, 3 * 4096);
  const uintptr_t at = (uintptr_t)pages;
  CHECK_EQUAL(aclpy_malloc(0, 3 * 4096, 0, &large), 0);
  CHECK_EQUAL(aclpy_host_register(0, at + 4096, 4096, 0, &on_device), 0);
  CHECK_EQUAL(aclpy_memcpy(0, large, 3 * 4096, at, 3 * 4096, H2D), 0);
  CHECK_EQUAL(bytes(large)[3 * 4096 - 1], 5);
  CHECK_EQUAL(aclpy_host_unregister(at + 4096), 0);
  CHECK_EQUAL(aclpy_free(large), 0);
  free(pages);
}

static void rectangles(void) {
  for (int i = 0; i < 256; i++) pageable_[i] = (unsigned char)i;
  memset(bytes(device_), 0, 256);
  CHECK_EQUAL(aclpy_memcpy_2d(0, device_, 16, host(), 32, 8, 4, H2D), 0);
  for (size_t row = 0; row < 4; row++) {
    CHECK_EQUAL(bytes(device_)[row * 16], row * 32);
    CHECK_EQUAL(bytes(device_)[row * 16 + 7], row * 32 + 7);
    CHECK_EQUAL(bytes(device_)[row * 16 + 8], 0);
  }
  static const struct {
    int32_t status;
    size_t dst_pitch, src_pitch, width, height;
    int32_t kind;
  } rows[] = {{0, 0, 0, 0, 4, 99},
              {0, 0, 0, 4, 0, 99},
              {100000, 16, 16, 8, 4, H2H},
              {100000, 16, 16, 8, 4, BUFFERED},
              {100000, 7, 16, 8, 4, H2D},
              {100000, 16, 7, 8, 4, H2D},
              {107000, 16, 16, 8, 5 * 1024 * 1024 + 1, H2D},
              {107000, 6000000, 6000000, 5000001, 1, H2D},
              {107000, 64, 8, 8, 5, H2D}, /* runs past the allocation */
              {107000, SIZE_MAX / 2, 8, 8, 4, H2D},
              {0, 16, 16, 8, 4, DEFAULT}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    CHECK_EQUAL(aclpy_memcpy_2d(0, device_, rows[i].dst_pitch, host(), rows[i].src_pitch, rows[i].width, rows[i].height,
                                rows[i].kind),
                rows[i].status);
    CHECK_EQUAL(aclpy_memcpy_2d_async(0, device_, rows[i].dst_pitch, pinned_, rows[i].src_pitch, rows[i].width,
                                      rows[i].height, rows[i].kind, stream_),
                rows[i].status);
  }
  CHECK(rows[6].height > ROWS_LIMIT);
  CHECK_EQUAL(aclpy_memcpy_2d(0, 0, 16, host(), 16, 8, 4, H2D), 100000);
  CHECK_EQUAL(aclpy_memcpy_2d(0, device_, 16, 0, 16, 8, 4, H2D), 100000);
  CHECK_EQUAL(aclpy_memcpy_2d(0, device_, 16, device_ + 64, 16, 8, 4, D2D), 207000);
  CHECK_EQUAL(aclpy_memcpy_2d_async(0, pinned_, 16, pinned_ + 128, 16, 8, 4, DEFAULT, stream_), 207000);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream_), 0);

  struct park park = PARK; /* in stream order, also from device to device */
  memset(bytes(pinned_), 7, 64);
  memset(bytes(device_), 0, 256);
  park_stream(&park);
  CHECK_EQUAL(aclpy_memcpy_2d_async(0, device_, 16, pinned_, 16, 16, 4, H2D, stream_), 0);
  CHECK_EQUAL(aclpy_memcpy_2d_async(0, device_ + 128, 16, device_, 16, 8, 4, D2D, stream_), 0);
  CHECK_EQUAL(bytes(device_)[0], 0);
  latch_add(&park.go);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream_), 0);
  CHECK_EQUAL(bytes(device_)[128 + 3 * 16 + 7], 7);
  CHECK_EQUAL(bytes(device_)[128 + 3 * 16 + 8], 0);
  CHECK_EQUAL(aclpy_memcpy_2d_async(0, host(), 16, device_, 16, 16, 4, D2H, stream_), 0); /* pageable: now */
  CHECK_EQUAL(pageable_[5], 7);
}

static void patterns(void) {
  uint32_t value = 0x01020304;
  CHECK_EQUAL(aclpy_memset_d32(0, 0, 0, value, 0), 0);
  CHECK_EQUAL(aclpy_memset_d32(0, 0, 8, value, 2), 100000);
  CHECK_EQUAL(aclpy_memset_d32(0, device_ + 2, 8, value, 2), 107000);
  CHECK_EQUAL(aclpy_memset_d32(0, device_, 8, value, 3), 107000);
  CHECK_EQUAL(aclpy_memset_d32(0, device_, SIZE_MAX, value, SIZE_MAX / 4), 107000);
  CHECK_EQUAL(aclpy_memset_d32(0, ((uintptr_t)pageable_ + 3) & ~(uintptr_t)3, 8, value, 2), 107000);
  CHECK_EQUAL(aclpy_memset_d32(0, device_ + 8, 8, value, 2), 0);
  CHECK_EQUAL(*(uint32_t *)(device_ + 12), value);
  struct park park = PARK;
  park_stream(&park);
  CHECK_EQUAL(aclpy_memset_d32_async(0, device_, 12, 9, 3, stream_), 0);
  CHECK_EQUAL(aclpy_memset_d32_async(0, device_ + 1, 12, 9, 3, stream_), 107000);
  CHECK_EQUAL(aclpy_memset_d32_async(0, 0, 12, 9, 3, stream_), 100000);
  CHECK_EQUAL(*(uint32_t *)(device_ + 8), value);
  latch_add(&park.go);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream_), 0);
  CHECK_EQUAL(*(uint32_t *)(device_ + 8), 9);
}

static void batches(void) {
  const aclpy_copy_place in = {1, 0, 0, 0}, out = {0, 0, 1, 0}, inside = {1, 0, 1, 0};
  const size_t zero = 0, far = 5, both[2] = {0, 1}, reversed[2] = {1, 0};
  const aclpy_copy_place mixed[2] = {in, out};
  size_t blamed = 0;
  for (int i = 0; i < 256; i++) bytes(pinned_)[i] = (unsigned char)i;
  aclpy_copy copies[2] = {{device_, 64, pinned_ + 10, 4}, {device_ + 64, 64, pinned_ + 20, 4}};
  aclpy_copy none[1] = {{0, 0, 0, 0}};
  CHECK_EQUAL(aclpy_memcpy_batch(0, NULL, 0, NULL, NULL, 0, &blamed), 0);
  CHECK_EQUAL(aclpy_memcpy_batch(0, none, 1, NULL, NULL, 0, &blamed), 0); /* all sizes 0: before any other check */
  CHECK_EQUAL(aclpy_memcpy_batch(0, NULL, 1, &in, &zero, 1, &blamed), 100000);
  CHECK_EQUAL(aclpy_memcpy_batch(0, copies, 2, NULL, &zero, 1, &blamed), 100000);
  CHECK_EQUAL(aclpy_memcpy_batch(0, copies, 2, &in, NULL, 1, &blamed), 100000);
  CHECK_EQUAL(aclpy_memcpy_batch(0, copies, 2, &in, &zero, 0, &blamed), 100000);
  CHECK_EQUAL(aclpy_memcpy_batch(0, copies, 2, &in, &far, 1, &blamed), 100000);
  CHECK_EQUAL(aclpy_memcpy_batch(0, copies, 2, mixed, reversed, 2, &blamed), 100000);
  CHECK_EQUAL(aclpy_memcpy_batch(0, copies, 2, mixed, both, 2, &blamed), 107000); /* one direction only */
  CHECK_EQUAL(aclpy_memcpy_batch(0, copies, 2, &inside, &zero, 1, &blamed), 107000);
  CHECK_EQUAL(aclpy_memcpy_batch(0, copies, 2, &out, &zero, 1, &blamed), 107000);
  CHECK_EQUAL(blamed, 0);
  copies[1].dst_max = 3;
  CHECK_EQUAL(aclpy_memcpy_batch(0, copies, 2, &in, &zero, 1, &blamed), 107000);
  CHECK_EQUAL(blamed, 1);
  copies[1].dst_max = 64;
  copies[1].src = 0;
  CHECK_EQUAL(aclpy_memcpy_batch_async(0, copies, 2, &in, &zero, 1, &blamed, stream_), 100000);
  CHECK_EQUAL(blamed, 1);
  copies[1].src = pinned_ + 20;
  copies[1].dst = device_ + 254;
  CHECK_EQUAL(aclpy_memcpy_batch_async(0, copies, 2, &in, &zero, 1, NULL, stream_), 107000);
  copies[1].dst = device_ + 64;
  CHECK_EQUAL(aclpy_memcpy_batch(0, copies, 2, &in, &zero, 1, &blamed), 0);
  CHECK_EQUAL(blamed == SIZE_MAX, 1);
  CHECK(bytes(device_)[0] == 10 && bytes(device_)[64 + 3] == 23);

  enum { MANY = 40 }; /* more holds than a task has room for */
  aclpy_copy many[MANY];
  for (size_t i = 0; i < MANY; i++) many[i] = (aclpy_copy){pinned_ + i, 1, device_ + 64, i == 7 ? 0 : 1};
  memset(bytes(pinned_), 0, MANY);
  struct park park = PARK;
  park_stream(&park);
  CHECK_EQUAL(aclpy_memcpy_batch_async(0, many, MANY, &out, &zero, 1, &blamed, stream_), 0);
  CHECK_EQUAL(bytes(pinned_)[39], 0);
  latch_add(&park.go);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream_), 0);
  CHECK(bytes(pinned_)[39] == 20 && bytes(pinned_)[7] == 0);
  aclpy_copy loose = {host(), 8, device_, 4};
  CHECK_EQUAL(aclpy_memcpy_batch_async(0, &loose, 1, &out, &zero, 1, &blamed, stream_), 0);
  CHECK_EQUAL(pageable_[0], 10);
}

/* Kind 5: the host buffer is free again when the call returns; with kind 1 it is not. */
static void buffered_copies(void) {
  struct park park = PARK;
  bytes(pinned_)[0] = 1;
  bytes(pinned_)[8] = 1;
  park_stream(&park);
  CHECK_EQUAL(aclpy_memcpy_async(0, device_, 1, pinned_, 1, BUFFERED, stream_), 0);
  CHECK_EQUAL(aclpy_memcpy_async(0, device_ + 8, 1, pinned_ + 8, 1, H2D, stream_), 0);
  bytes(pinned_)[0] = 2;
  bytes(pinned_)[8] = 2;
  latch_add(&park.go);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream_), 0);
  CHECK_EQUAL(bytes(device_)[0], 1);
  CHECK_EQUAL(bytes(device_)[8], 2);
  CHECK_EQUAL(aclpy_fail_after("memory", 1), 0);
  CHECK_EQUAL(aclpy_memcpy_async(0, device_, 1, pinned_, 1, BUFFERED, stream_), 207001);
}

/* A host function that would unregister what a task behind it uses. */
struct inside {
  struct park park;
  uintptr_t at;
  int32_t status;
};
static int32_t unregister_inside(void *arg) {
  struct inside *self = arg;
  (void)park_run(&self->park);
  self->status = aclpy_host_unregister(self->at);
  return 0;
}

static void refused_inside(uintptr_t at) {
  struct inside self = {PARK, at, 0};
  CHECK_EQUAL(aclpy_submit(0, stream_, "inside", unregister_inside, park_drop, &self, 0), 0);
  latch_wait(&self.park.begun, 1);
  CHECK_EQUAL(aclpy_memcpy_async(0, device_, 8, at, 8, H2D, stream_), 0);
  latch_add(&self.park.go);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream_), 0);
  CHECK_EQUAL(self.status, ACLPY_ACL_ERROR_RT_INTERNAL_ERROR);
}

static void registered_host_memory(void) {
  void *page = NULL;
  uintptr_t on_device = 0;
  CHECK(posix_memalign(&page, 4096, 8192) == 0);
  uintptr_t at = (uintptr_t)page;
  memset(page, 3, 8192);
  aclpy_pointer attributes;
  CHECK_EQUAL(aclpy_host_register(0, 0, 8192, 0, &on_device), 100000);
  CHECK_EQUAL(aclpy_host_register(0, at, 0, 0, &on_device), 100000);
  CHECK_EQUAL(aclpy_host_register(0, at, 8192, 1, &on_device), 100000);
  CHECK_EQUAL(aclpy_host_register(0, at, 8192, 0, NULL), 100000);
  CHECK_EQUAL(aclpy_host_register(0, at + 64, 8192, 0, &on_device), 107000);
  CHECK_EQUAL(aclpy_host_register(0, 4096, 8192, 0, &on_device), 107000); /* no memory there */
  CHECK_EQUAL(aclpy_host_unregister(at), 507911);
  CHECK_EQUAL(aclpy_pointer_attributes(at, &attributes), 0);
  CHECK_EQUAL(attributes.location, 2);
  CHECK_EQUAL(aclpy_host_register(0, at, 8192, 0, &on_device), 0);
  CHECK_EQUAL(on_device, at);
  CHECK_EQUAL(aclpy_host_register(0, at + 4096, 4096, 0, &on_device), 507910);
  CHECK_EQUAL(aclpy_pointer_attributes(at + 8191, &attributes), 0);
  CHECK_EQUAL(attributes.location, 0);
  CHECK_EQUAL(aclpy_free_host(at), 107000);
  CHECK_EQUAL(aclpy_host_unregister(at + 4096), 507911);
  struct park park = PARK;
  park_stream(&park); /* as pinned memory: the copy does not wait for the stream */
  CHECK_EQUAL(aclpy_memcpy_async(0, device_, 8, at, 8, H2D, stream_), 0);
  latch_add(&park.go);
  CHECK_EQUAL(aclpy_host_unregister(at), 0); /* waits for the copy */
  CHECK_EQUAL(bytes(device_)[7], 3);
  CHECK_EQUAL(aclpy_host_unregister(at), 507911);
  CHECK_EQUAL(aclpy_host_device_pointer(at, &on_device, 0), 507911);
  CHECK_EQUAL(aclpy_host_register_flags(0, at, 8192, 0), 100000);
  CHECK_EQUAL(aclpy_host_register_flags(0, at, 8192, 1), 100000);
  CHECK_EQUAL(aclpy_host_register_flags(0, at, 8192, 4), 207000);
  CHECK_EQUAL(aclpy_host_register_flags(0, at, 8192, 0x10000000), 0);
  CHECK_EQUAL(aclpy_host_device_pointer(at, &on_device, 0), 107000); /* not mapped */
  CHECK_EQUAL(aclpy_host_unregister(at), 0);
  CHECK_EQUAL(aclpy_host_register_flags(0, at, 8192, 2 | 8), 0);
  CHECK_EQUAL(aclpy_host_device_pointer(at, &on_device, 1), 100000);
  CHECK_EQUAL(aclpy_host_device_pointer(0, &on_device, 0), 100000);
  CHECK_EQUAL(aclpy_host_device_pointer(at, NULL, 0), 100000);
  CHECK_EQUAL(aclpy_host_device_pointer(at + 100, &on_device, 0), 0);
  CHECK_EQUAL(on_device, at + 100);
  CHECK_EQUAL(aclpy_host_unregister(0), 100000);
  refused_inside(at); /* and registered as before: */
  CHECK_EQUAL(aclpy_host_device_pointer(at, &on_device, 0), 0);
  CHECK_EQUAL(aclpy_host_unregister(at), 0);
  free(page);
}

static void questions(void) {
  uint64_t free_bytes = 0, total = 0;
  aclpy_pointer attributes;
  aclpy_usage usage[2];
  size_t rows = 0;
  aclpy_set_device_memory(1 << 20);
  CHECK_EQUAL(aclpy_memory_figures(0, 1, &free_bytes, &total), 0);
  CHECK_EQUAL(total, 1 << 20);
  CHECK_EQUAL(free_bytes, total - 256 - 32);
  uintptr_t more = 0;
  CHECK_EQUAL(aclpy_malloc(0, (size_t)free_bytes - 32 + 1, 0, &more), 207001);
  CHECK_EQUAL(aclpy_malloc(0, (size_t)free_bytes - 32, 0, &more), 0);
  CHECK_EQUAL(aclpy_memory_figures(0, 17, &free_bytes, &total), 0);
  CHECK_EQUAL(free_bytes, 0);
  CHECK_EQUAL(aclpy_malloc(0, 1, 0, &more), 207001);
  CHECK_EQUAL(aclpy_free(more), 0);
  CHECK_EQUAL(aclpy_memory_figures(0, 18, &free_bytes, &total), 107016);
  CHECK_EQUAL(aclpy_memory_figures(0, -1, &free_bytes, &total), 107016);
  CHECK_EQUAL(aclpy_memory_figures(0, 0, NULL, &total), 100000);
  CHECK_EQUAL(aclpy_memory_figures(0, 0, &free_bytes, NULL), 100000);
  CHECK_EQUAL(aclpy_memory_usage(0, usage, 2, &rows), 0);
  CHECK_EQUAL(rows, 1);
  CHECK_EQUAL(usage[0].now, 256 + 32);
  CHECK(usage[0].most >= 1 << 20);
  CHECK_EQUAL(aclpy_memory_usage(9, usage, 2, &rows), 107001);
  CHECK_EQUAL(aclpy_memory_usage(0, NULL, 2, &rows), 100000);
  CHECK_EQUAL(aclpy_memory_usage(0, usage, 0, &rows), 100000);
  aclpy_set_device_memory(0);
  CHECK_EQUAL(aclpy_pointer_attributes(0, &attributes), 100000);
  CHECK_EQUAL(aclpy_pointer_attributes(device_, NULL), 100000);
  CHECK_EQUAL(aclpy_pointer_attributes(device_ + 7, &attributes), 0);
  CHECK_EQUAL(attributes.location, 1);
  CHECK_EQUAL(attributes.id, 0);
  CHECK_EQUAL(aclpy_pointer_attributes(pinned_, &attributes), 0);
  CHECK_EQUAL(attributes.location, 0);
  CHECK_EQUAL(aclpy_malloc_form(0, ACLPY_MALLOC_MANAGED, 8, 1, NULL, 0, &more), 0);
  CHECK_EQUAL(aclpy_pointer_attributes(more, &attributes), 0);
  CHECK_EQUAL(attributes.location, 3);
  CHECK_EQUAL(aclpy_free(more), 0);
  CHECK_EQUAL(aclpy_pointer_attributes(more, &attributes), 0);
  CHECK_EQUAL(attributes.location, 2);
  CHECK_EQUAL(aclpy_memory_maintain(device_, 8, 0), 0);
  CHECK_EQUAL(aclpy_memory_maintain(0, 8, 0), 100000);
  CHECK_EQUAL(aclpy_memory_maintain(device_, 0, 1), 100000);
}

static void data_buffers(void) {
  aclpy_handle buffer = 0;
  uintptr_t address = 0;
  size_t size = 0;
  CHECK_EQUAL(aclpy_data_buffer_create(device_, 8, NULL), 100000);
  CHECK_EQUAL(aclpy_data_buffer_create(device_, 8, &buffer), 0);
  CHECK_EQUAL(aclpy_data_buffer_get(buffer, &address, &size), 0);
  CHECK(address == device_ && size == 8);
  CHECK_EQUAL(aclpy_data_buffer_update(buffer, pinned_, 9), 0);
  CHECK_EQUAL(aclpy_data_buffer_get(buffer, &address, &size), 0);
  CHECK(address == pinned_ && size == 9);
  CHECK_EQUAL(aclpy_data_buffer_update(0, pinned_, 9), 100000);
  CHECK_EQUAL(aclpy_data_buffer_destroy(buffer), 0);
  CHECK_EQUAL(aclpy_data_buffer_destroy(buffer), 107017);
  CHECK_EQUAL(aclpy_data_buffer_destroy(0), 100000);
  CHECK_EQUAL(aclpy_data_buffer_get(buffer, &address, &size), 107017);
  CHECK_EQUAL(aclpy_data_buffer_get(0, &address, &size), 100000);
}

static float from_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

static void half_precision(void) {
  CHECK(aclpy_float16_to_float(0x7C00) == 65536.0f); /* the C API knows no infinity */
  CHECK(aclpy_float16_to_float(0x7E00) == 98304.0f);
  CHECK(aclpy_float16_to_float(0xC000) == -2.0f);
  CHECK(aclpy_float16_to_float(1) == 0x1p-24f);
  CHECK_EQUAL(aclpy_float_to_float16(from_bits(0x7FC00000)), 0x7BFF);
  CHECK_EQUAL(aclpy_float_to_float16(from_bits(0x7F800000)), 0x7BFF);
  CHECK_EQUAL(aclpy_float_to_float16(from_bits(0xFF800000)), 0xFBFF);
  CHECK_EQUAL(aclpy_float_to_float16(1e9f), 0x7BFF);
  CHECK_EQUAL(aclpy_float_to_float16(65519.996f), 0x7BFF);
  CHECK_EQUAL(aclpy_float_to_float16(0x1p-25f), 0);
  CHECK_EQUAL(aclpy_float_to_float16(0x1.8p-25f), 1);
  for (uint32_t half = 0; half < 0x10000; half++) { /* every finite one survives the way there and back */
    if ((half & 0x7C00) == 0x7C00) continue;
    CHECK_EQUAL(aclpy_float_to_float16(aclpy_float16_to_float((uint16_t)half)), half);
  }
}

int main(void) {
  CHECK_EQUAL(aclpy_set_device(0), 0);
  RUN(allocating);
  CHECK_EQUAL(aclpy_malloc(0, 256, 0, &device_), 0);
  CHECK_EQUAL(aclpy_malloc_host(0, 256, &pinned_), 0);
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream_), 0);
  memset(bytes(pinned_), 0, 256);
  RUN(before_an_allocation);
  RUN(around_registered_memory);
  RUN(rectangles);
  RUN(patterns);
  RUN(batches);
  RUN(buffered_copies);
  RUN(registered_host_memory);
  RUN(questions);
  RUN(data_buffers);
  RUN(half_precision);
  CHECK_EQUAL(aclpy_free(device_), 0);
  CHECK_EQUAL(aclpy_free_host(pinned_), 0);
  CHECK_EQUAL(aclpy_reset_device(0), 0);
  CHECK_EQUAL(aclpy_live_count("memory"), 0);
  CHECK_EQUAL(aclpy_memory_in_use(), 0);
  return 0;
}
