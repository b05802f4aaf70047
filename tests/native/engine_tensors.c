/* SPDX-License-Identifier: Apache-2.0
 * Tensors: what creation checks, interned layouts, changing one in place.
 */
#include "aclpy_status.h"
#include "check.h"
#include "engine.h"

static const int64_t dims[3] = {2, 3, 4}, row_major[3] = {12, 4, 1}, swapped[3] = {1, 2, 6};

static aclpy_handle make(const int64_t *strides, int64_t offset, int32_t dtype, uint64_t *layout) {
  aclpy_handle tensor = 0;
  CHECK_EQUAL(aclpy_tensor_create(dims, 3, dtype, strides, offset, 2, dims, 3, 0, &tensor, layout), 0);
  return tensor;
}

static void equal_descriptions_share_an_id(void) {
  uint64_t a, b, c, d, e, seen;
  aclpy_handle first = make(NULL, 0, 0, &a), second = make(row_major, 0, 0, &b);
  CHECK_EQUAL(a, b);
  aclpy_handle third = make(swapped, 0, 0, &c), fourth = make(NULL, 1, 0, &d), fifth = make(NULL, 0, 1, &e);
  CHECK(a != c && a != d && a != e && c != d);
  CHECK_EQUAL(aclpy_tensor_layout(third, &seen), 0);
  CHECK_EQUAL(seen, c);
  CHECK_EQUAL(aclpy_tensor_destroy(third), 0);
  third = make(swapped, 0, 0, &seen); /* unused layouts are kept */
  CHECK_EQUAL(seen, c);
  aclpy_handle all[] = {first, second, third, fourth, fifth};
  for (int i = 0; i < 5; i++) CHECK_EQUAL(aclpy_tensor_destroy(all[i]), 0);
}

static void old_layouts_are_forgotten_and_ids_are_not_reused(void) {
  enum { MANY = 70000 };
  uint64_t first = 0, last = 0, again = 0;
  int64_t one[1] = {0};
  for (int64_t i = 0; i < MANY; i++) {
    aclpy_handle tensor = 0;
    uint64_t id;
    one[0] = 1000000 + i;
    CHECK_EQUAL(aclpy_tensor_create(one, 1, 0, NULL, 0, 2, one, 1, 0, &tensor, &id), 0);
    CHECK(id > last);
    last = id;
    if (i == 0) first = id;
    CHECK_EQUAL(aclpy_tensor_destroy(tensor), 0);
  }
  aclpy_handle tensor = 0;
  one[0] = 1000000;
  CHECK_EQUAL(aclpy_tensor_create(one, 1, 0, NULL, 0, 2, one, 1, 0, &tensor, &again), 0);
  CHECK(again > last && again != first);
  CHECK_EQUAL(aclpy_tensor_destroy(tensor), 0);
}

static void creation_checks_little(void) {
  aclpy_handle tensor = 0;
  const int64_t odd[2] = {-1, INT64_MAX};
  CHECK_EQUAL(aclpy_tensor_create(odd, 2, 99, NULL, -5, -1, odd, 2, 0, &tensor, NULL), 0);
  CHECK_EQUAL(aclpy_tensor_destroy(tensor), 0);
  CHECK_EQUAL(aclpy_tensor_create(NULL, 0, 0, NULL, 0, 2, NULL, 0, 64, &tensor, NULL), 0);
  aclpy_tensor_desc desc;
  CHECK_EQUAL(aclpy_tensor_describe("aclGetViewShape", tensor, &desc), 0);
  CHECK_EQUAL(desc.view_rank, 0);
  CHECK_EQUAL(aclpy_tensor_destroy(tensor), 0);
  CHECK_EQUAL(aclpy_tensor_create(NULL, 1, 0, NULL, 0, 2, odd, 1, 0, &tensor, NULL), 161001);
  CHECK_EQUAL(aclpy_tensor_create(odd, 1, 0, NULL, 0, 2, NULL, 1, 0, &tensor, NULL), 161001);
  CHECK_EQUAL(aclpy_tensor_create(odd, 1, 0, NULL, 0, 2, odd, 1, 0, NULL, NULL), 161001);
  int64_t many[26] = {0};
  CHECK_EQUAL(aclpy_tensor_create(many, 26, 0, NULL, 0, 2, many, 1, 0, &tensor, NULL), 161002);
  CHECK_EQUAL(aclpy_tensor_create(many, 1, 0, NULL, 0, 2, many, 26, 0, &tensor, NULL), 161002);
  CHECK_EQUAL(aclpy_tensor_create(many, 25, 0, many, 0, 2, many, 25, 0, &tensor, NULL), 0);
  CHECK_EQUAL(aclpy_tensor_destroy(tensor), 0);
}

static void dead_tensors_are_refused(void) {
  aclpy_handle tensor = make(NULL, 0, 0, NULL);
  uintptr_t address;
  uint64_t layout;
  aclpy_tensor_desc desc;
  CHECK_EQUAL(aclpy_tensor_destroy(0), 0);
  CHECK_EQUAL(aclpy_tensor_destroy(tensor), 0);
  CHECK_EQUAL(aclpy_tensor_destroy(tensor), 161002);
  CHECK_CONTAINS(aclpy_error_last()->got, "destroyed already");
  CHECK_EQUAL(aclpy_tensor_describe("aclGetViewShape", tensor, &desc), 161002);
  CHECK_EQUAL(aclpy_tensor_layout(tensor, &layout), 161002);
  CHECK_EQUAL(aclpy_tensor_get_address(tensor, &address), 161002);
  CHECK_EQUAL(aclpy_tensor_set_address(tensor, 0), 161002);
  CHECK_EQUAL(aclpy_tensor_init(tensor, dims, 3, 0, NULL, 0, 2, dims, 3, 0, NULL), 161002);
  CHECK_EQUAL(aclpy_tensor_describe("aclGetViewShape", 0, &desc), 161001);
  CHECK_EQUAL(aclpy_tensor_set_address(0, 0), 161001);
  CHECK_EQUAL(aclpy_tensor_init(0, dims, 3, 0, NULL, 0, 2, dims, 3, 0, NULL), 161001);
  tensor = make(NULL, 0, 0, NULL);
  CHECK_EQUAL(aclpy_tensor_describe("aclGetViewShape", tensor, NULL), 161001);
  CHECK_EQUAL(aclpy_tensor_get_address(tensor, NULL), 161001);
  CHECK_EQUAL(aclpy_tensor_layout(tensor, NULL), 161001);
  CHECK_EQUAL(aclpy_tensor_set_address(tensor, 0), 0);
  CHECK_EQUAL(aclpy_tensor_destroy(tensor), 0);
}

static void init_keeps_what_is_left_out(void) {
  uint64_t before, after;
  aclpy_handle tensor = 0;
  CHECK_EQUAL(aclpy_tensor_create(dims, 3, 0, swapped, 5, 2, dims, 2, 640, &tensor, &before), 0);
  CHECK_EQUAL(aclpy_tensor_init(tensor, NULL, 0, 1, NULL, 7, 0, NULL, 0, 0, &after), 0);
  CHECK(before != after);
  aclpy_tensor_desc desc;
  uintptr_t address = 0;
  CHECK_EQUAL(aclpy_tensor_describe("aclGetViewShape", tensor, &desc), 0);
  CHECK_EQUAL(aclpy_tensor_get_address(tensor, &address), 0);
  CHECK_EQUAL(address, 640);
  CHECK_EQUAL(desc.dtype, 1);
  CHECK_EQUAL(desc.format, 0);
  CHECK_EQUAL(desc.offset, 7);
  CHECK_EQUAL(desc.view_rank, 3);
  CHECK_EQUAL(desc.storage_rank, 2);
  CHECK_EQUAL(desc.storage_dims[1], 3);
  for (int i = 0; i < 3; i++) {
    CHECK_EQUAL(desc.view_dims[i], dims[i]);
    CHECK_EQUAL(desc.view_strides[i], row_major[i]); /* strides NULL: row-major again */
  }
  const int64_t flat[1] = {24};
  CHECK_EQUAL(aclpy_tensor_init(tensor, flat, 1, 0, NULL, 0, 2, flat, 1, 128, &after), 0);
  CHECK_EQUAL(aclpy_tensor_get_address(tensor, &address), 0);
  CHECK_EQUAL(address, 128);
  CHECK_EQUAL(aclpy_tensor_describe("aclGetViewShape", tensor, &desc), 0);
  CHECK_EQUAL(desc.view_rank, 1);
  int64_t many[26] = {0};
  CHECK_EQUAL(aclpy_tensor_init(tensor, many, 26, 0, NULL, 0, 2, flat, 1, 128, &after), 161002);
  CHECK_EQUAL(aclpy_tensor_destroy(tensor), 0);
}

static void *churn(void *arg) {
  aclpy_handle shared = *(aclpy_handle *)arg;
  for (int64_t i = 0; i < 3000; i++) {
    const int64_t shape[2] = {i % 50, 7};
    aclpy_handle tensor = 0;
    aclpy_tensor_desc desc;
    CHECK_EQUAL(aclpy_tensor_create(shape, 2, 0, NULL, 0, 2, shape, 2, 0, &tensor, NULL), 0);
    CHECK_EQUAL(aclpy_tensor_describe("aclGetViewShape", tensor, &desc), 0);
    CHECK_EQUAL(desc.view_dims[0], i % 50);
    CHECK_EQUAL(aclpy_tensor_destroy(tensor), 0);
    CHECK_EQUAL(aclpy_tensor_init(shared, shape, 2, 0, NULL, 0, 2, shape, 2, 64, NULL), 0);
    CHECK_EQUAL(aclpy_tensor_describe("aclGetViewShape", shared, &desc), 0);
    CHECK_EQUAL(desc.view_dims[1], 7);
    CHECK_EQUAL(desc.view_strides[0], 7);
  }
  return NULL;
}

static void threads_change_tensors_at_once(void) {
  const int64_t shape[2] = {7, 7};
  aclpy_handle shared = 0;
  CHECK_EQUAL(aclpy_tensor_create(shape, 2, 0, NULL, 0, 2, shape, 2, 0, &shared, NULL), 0);
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) threads[i] = start_thread(churn, &shared);
  for (int i = 0; i < 3; i++) join_thread(threads[i]);
  CHECK_EQUAL(aclpy_tensor_destroy(shared), 0);
}

static void handles_stay_dead(void) {
  enum { MANY = 5000 };
  static aclpy_handle old[MANY];
  for (int i = 0; i < MANY; i++) {
    old[i] = make(NULL, 0, 0, NULL);
    CHECK_EQUAL(aclpy_tensor_destroy(old[i]), 0);
  }
  aclpy_handle live = make(NULL, 0, 0, NULL);
  for (int i = 0; i < MANY; i++) {
    CHECK(old[i] != live);
    CHECK_EQUAL(aclpy_tensor_destroy(old[i]), 161002);
  }
  CHECK_EQUAL(aclpy_tensor_destroy(live ^ UINT64_C(1) << 33), 161002); /* a generation that never was */
  CHECK_EQUAL(aclpy_tensor_destroy(live + 123456), 161002);
  CHECK_EQUAL(aclpy_tensor_destroy(UINT64_MAX), 161002);
  CHECK_EQUAL(aclpy_tensor_destroy((live & ~(UINT64_C(0xff) << 56)) | UINT64_C(5) << 56), 161002); /* another kind */
  CHECK_EQUAL(aclpy_tensor_destroy(live), 0);
}

int main(void) {
  RUN(equal_descriptions_share_an_id);
  RUN(creation_checks_little);
  RUN(dead_tensors_are_refused);
  RUN(init_keeps_what_is_left_out);
  RUN(threads_change_tensors_at_once);
  RUN(handles_stay_dead);
  RUN(old_layouts_are_forgotten_and_ids_are_not_reused);
  CHECK_EQUAL(aclpy_live_count("tensor"), 0);
  CHECK_EQUAL(aclpy_live_count("no such kind"), -1);
  return 0;
}
