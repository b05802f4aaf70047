/* SPDX-License-Identifier: Apache-2.0
 * The last error of a thread, exception callbacks, a device's last fault, the log.
 */
#include <stdatomic.h>

#include "aclpy_status.h"
#include "check.h"
#include "engine.h"

static int32_t peek(void) {
  int32_t code = -1;
  CHECK_EQUAL(aclpy_last_error(0, 0, &code), 0);
  return code;
}

static int32_t get(void) {
  int32_t code = -1;
  CHECK_EQUAL(aclpy_last_error(0, 1, &code), 0);
  return code;
}

static void *has_none(void *arg) {
  (void)arg;
  CHECK_EQUAL(peek(), 0);
  return NULL;
}

static void last_error(void) {
  int32_t code = 7, device = 0;
  uintptr_t address = 0;
  CHECK_EQUAL(get(), 0);
  CHECK_EQUAL(aclpy_malloc(0, 0, 0, &address), 100000); /* the layer above the runtime leaves no trace */
  CHECK_EQUAL(peek(), 0);
  CHECK_EQUAL(aclpy_get_device(&device), 107002);
  CHECK_EQUAL(peek(), 107002);
  CHECK_EQUAL(aclpy_set_device(99), 107001); /* the latest */
  join_thread(start_thread(has_none, NULL));
  CHECK_EQUAL(aclpy_device_info(0, 601, &(int64_t){0}), 207000);
  CHECK_EQUAL(peek(), 107001);
  CHECK_EQUAL(aclpy_last_error(1, 0, &code), 100000);
  CHECK_EQUAL(aclpy_last_error(-1, 1, &code), 100000);
  CHECK_EQUAL(aclpy_last_error(0, 0, NULL), 100000);
  CHECK_EQUAL(code, 7);
  CHECK_EQUAL(get(), 107001);
  CHECK_EQUAL(get(), 0);
  CHECK_EQUAL(aclpy_set_device(0), 0); /* success neither sets nor clears */
  CHECK_EQUAL(aclpy_set_device(99), 107001);
  CHECK_EQUAL(aclpy_reset_device(0), 0);
  CHECK_EQUAL(get(), 107001);
}

static atomic_int slot_calls, list_calls, last_code, last_device;

static void in_slot(aclpy_exception_info *info) {
  atomic_fetch_add(&slot_calls, 1);
  atomic_store(&last_code, (int)aclpy_exception_value(info, ACLPY_EXCEPTION_CODE));
  atomic_store(&last_device, (int)aclpy_exception_value(info, ACLPY_EXCEPTION_DEVICE));
  CHECK(aclpy_exception_value(info, ACLPY_EXCEPTION_STREAM) > 0);
  CHECK_EQUAL(aclpy_exception_value(info, 99), UINT32_MAX);
  CHECK_EQUAL(aclpy_set_device(99), 107001); /* its own errors do not replace the task's */
}

static void in_list(aclpy_exception_info *info) {
  (void)info;
  atomic_fetch_add(&list_calls, 1);
}

static int32_t failing(void *arg) { return *(int32_t *)arg; }

static int32_t fail_with(aclpy_handle stream, int32_t status) {
  CHECK_EQUAL(aclpy_submit(0, stream, "failing", failing, NULL, &status, 0), 0);
  int32_t told = aclpy_stream_synchronize(0, stream);
  return told;
}

static void exceptions(void) {
  aclpy_handle stream = 0;
  int32_t fault = -1;
  CHECK_EQUAL(aclpy_set_device(0), 0);
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream), 0);
  CHECK_EQUAL(aclpy_error_verbose(0, &fault), 0);
  CHECK_EQUAL(fault, 0);
  CHECK_EQUAL(aclpy_error_verbose(9, &fault), 107001);
  CHECK_EQUAL(aclpy_error_verbose(0, NULL), 100000);
  for (int what = 0; what < 5; what++) CHECK_EQUAL(aclpy_exception_value(NULL, what), UINT32_MAX);
  CHECK_EQUAL(aclpy_exception_register(NULL), 107000);
  CHECK_EQUAL(aclpy_exception_unregister(NULL), 107000);
  CHECK_EQUAL(aclpy_exception_unregister(in_list), 0); /* unknown: success */
  CHECK_EQUAL(aclpy_exception_set(in_slot), 0);
  CHECK_EQUAL(aclpy_exception_register(in_list), 0);
  CHECK_EQUAL(aclpy_exception_register(in_list), 0); /* each once */
  (void)get();
  CHECK_EQUAL(fail_with(stream, 507015), 507015);
  CHECK_EQUAL(get(), 507015); /* where it surfaces */
  CHECK_CONTAINS(aclpy_error_last()->function, "failing");
  CHECK_EQUAL(atomic_load(&slot_calls), 1);
  CHECK_EQUAL(atomic_load(&list_calls), 1);
  CHECK_EQUAL(atomic_load(&last_code), 507015);
  CHECK_EQUAL(atomic_load(&last_device), 0);
  CHECK_EQUAL(aclpy_exception_register(in_slot), 0); /* in both: called twice */
  static const struct {
    int32_t status, fault;
  } rows[] = {{507014, 3}, {507036, 3}, {507045, 3},      {507053, 1},     {507055, 1},
              {507056, 4}, {507914, 5}, {507000, 0xFFFF}, {107020, 0xFFFF}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    CHECK_EQUAL(fail_with(stream, rows[i].status), rows[i].status);
    CHECK_EQUAL(aclpy_error_verbose(0, &fault), 0);
    CHECK_EQUAL(fault, rows[i].fault);
  }
  CHECK_EQUAL(atomic_load(&slot_calls), 1 + 2 * 9);
  CHECK_EQUAL(aclpy_exception_set(NULL), 0);
  CHECK_EQUAL(aclpy_exception_unregister(in_slot), 0);
  CHECK_EQUAL(aclpy_exception_unregister(in_list), 0);
  CHECK_EQUAL(fail_with(stream, 507015), 507015);
  CHECK_EQUAL(atomic_load(&slot_calls), 1 + 2 * 9);
  CHECK_EQUAL(aclpy_reset_device(0), 0);
  CHECK_EQUAL(aclpy_error_verbose(0, &fault), 0); /* goes with the device */
  CHECK_EQUAL(fault, 0);
}

static void *registers(void *arg) {
  for (int i = 0; i < 200; i++) {
    CHECK_EQUAL(aclpy_exception_register(in_list), 0);
    CHECK_EQUAL(aclpy_exception_unregister(in_list), 0);
  }
  return arg;
}

static void callbacks_come_and_go_while_tasks_fail(void) {
  aclpy_handle stream = 0;
  CHECK_EQUAL(aclpy_set_device(0), 0);
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream), 0);
  pthread_t thread = start_thread(registers, NULL);
  for (int i = 0; i < 200; i++) CHECK_EQUAL(fail_with(stream, 507015), 507015);
  join_thread(thread);
  CHECK_EQUAL(aclpy_reset_device(0), 0);
}

static void log_lines(void) {
  char text[3000];
  memset(text, 'x', sizeof(text) - 1);
  text[sizeof(text) - 1] = 0;
  CHECK_EQUAL(aclpy_app_log(3, "main", "host.c", 7, text), 0);
  CHECK_EQUAL(aclpy_app_log(0, NULL, NULL, 0, "hidden"), 0);
  CHECK_EQUAL(aclpy_app_log(4, "main", "host.c", 7, "text"), 100000);
  CHECK_EQUAL(aclpy_app_log(-1, "main", "host.c", 7, "text"), 100000);
  CHECK_EQUAL(aclpy_app_log(3, "main", "host.c", 7, NULL), 100000);
  CHECK_EQUAL(aclpy_unsupported("aclrtRepairError"), 207000);
}

int main(void) {
  RUN(last_error);
  RUN(exceptions);
  RUN(callbacks_come_and_go_while_tasks_fail);
  RUN(log_lines);
  return 0;
}
