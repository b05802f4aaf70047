/* SPDX-License-Identifier: Apache-2.0
 * Initialising, devices, contexts, and what a thread knows of them; recent messages.
 */
#include <unistd.h>

#include "aclpy_status.h"
#include "check.h"
#include "engine.h"

static void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void init_and_finalize_count(void) {
  CHECK_EQUAL(aclpy_finalize(), 0); /* without any aclInit, once */
  CHECK_EQUAL(aclpy_finalize(), 100037);
  CHECK_EQUAL(aclpy_init(NULL), 0);
  CHECK_EQUAL(aclpy_init(""), 100002);
  CHECK_EQUAL(aclpy_init(NULL), 100002);
  uint64_t left = 99;
  CHECK_EQUAL(aclpy_finalize_reference(&left), 0);
  CHECK_EQUAL(left, 2);
  CHECK_EQUAL(aclpy_finalize(), 0); /* whatever the count */
  CHECK_EQUAL(aclpy_finalize(), 100037);
  CHECK_EQUAL(aclpy_finalize_reference(&left), 100037);
  CHECK_EQUAL(left, 0);
  CHECK_EQUAL(aclpy_finalize_reference(NULL), 100037);
  CHECK_EQUAL(aclpy_init(NULL), 0);
  CHECK_EQUAL(aclpy_finalize_reference(&left), 0);
  CHECK_EQUAL(left, 0);
  CHECK_EQUAL(aclpy_finalize(), 100037);
  CHECK_EQUAL(aclpy_nn_init("/nowhere"), 0);
  CHECK_EQUAL(aclpy_nn_finalize(), 0);
}

static void configuration_files(void) {
  char path[] = "/tmp/aclpy_config_XXXXXX";
  int descriptor = mkstemp(path);
  CHECK(descriptor >= 0);
  close(descriptor);
  static const struct {
    const char *text;
    int32_t status;
  } rows[] = {{"{}", 0},
              {" {\n } ", 0},
              {"", 100006},
              {"{", 100006},
              {"[]", 100006},
              {"{} x", 100006},
              {"{\"a\": }", 100006},
              {"{\"a\": 1,}", 100006},
              {"{\"a\": 01x}", 100006},
              {"{\"a\": \"b}", 100006},
              {"{\"dump\": {\"list\": [1, -2.5e3, true, null, {\"x\": \"\\u00e9\\n\"}]}}", 100000}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) { /* the first aclInit of this process had no content */
    write_file(path, rows[i].text);
    CHECK_EQUAL(aclpy_init(path), rows[i].status);
    if (rows[i].status == 0) CHECK_EQUAL(aclpy_finalize(), 0);
  }
  CHECK_EQUAL(unlink(path), 0);
  CHECK_EQUAL(aclpy_init(path), 100003);
  CHECK_CONTAINS(aclpy_error_last()->got, "No such file");
}

static void devices_count_their_setters(void) {
  uint32_t count = 0;
  int32_t device = -1;
  CHECK_EQUAL(aclpy_device_count(&count), 0);
  CHECK_EQUAL(count, 2);
  CHECK_EQUAL(aclpy_device_count(NULL), 100000);
  CHECK_EQUAL(aclpy_get_device(&device), 107002);
  CHECK_EQUAL(aclpy_set_device(2), 107001);
  CHECK_EQUAL(aclpy_set_device(-1), 107001);
  CHECK_EQUAL(aclpy_reset_device(0), 507007);
  CHECK_EQUAL(aclpy_reset_device(7), 107001);
  CHECK_EQUAL(aclpy_set_device(0), 0);
  CHECK_EQUAL(aclpy_set_device(0), 0);
  CHECK_EQUAL(aclpy_set_device(1), 0);
  CHECK_EQUAL(aclpy_get_device(&device), 0);
  CHECK_EQUAL(device, 1);
  CHECK_EQUAL(aclpy_get_device(NULL), 100000);
  CHECK_EQUAL(aclpy_reset_device(1), 0);
  CHECK_EQUAL(aclpy_get_device(&device), 107002); /* no way back to device 0 but aclrtSetDevice */
  CHECK_EQUAL(aclpy_reset_device(0), 0);
  CHECK_EQUAL(aclpy_set_device(0), 0);
  CHECK_EQUAL(aclpy_reset_device_force(0), 0);
  CHECK_EQUAL(aclpy_reset_device_force(0), 507007);
  CHECK_EQUAL(aclpy_reset_device(0), 507007);
  CHECK_EQUAL(aclpy_get_device(&device), 107002);
  CHECK_EQUAL(aclpy_live_count("context"), 0);
}

static void resetting_ends_the_streams(void) {
  aclpy_handle stream = 0, standard = 0;
  struct park park = PARK;
  CHECK_EQUAL(aclpy_set_device(0), 0);
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream), 0);
  CHECK_EQUAL(aclpy_stream_default(0, &standard), 0);
  CHECK(standard != 0 && standard != stream);
  aclpy_handle again = 0;
  CHECK_EQUAL(aclpy_stream_default(0, &again), 0);
  CHECK_EQUAL(again, standard);
  latch_add(&park.go);
  CHECK_EQUAL(aclpy_submit(0, stream, NULL, park_run, park_drop, &park, 0), 0);
  CHECK_EQUAL(aclpy_reset_device(0), 0);
  CHECK_EQUAL(latch_count(&park.dropped), 1); /* waited for its work */
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 107017);
  CHECK_EQUAL(aclpy_stream_synchronize(0, standard), 107017);
  CHECK_EQUAL(aclpy_stream_default(0, &again), 107002);
}

enum { ROUNDS = THREAD_SANITIZED ? 300 : 3000, RACERS = 4 };

static void *set_create_reset(void *arg) {
  for (int i = 0; i < ROUNDS; i++) {
    aclpy_handle stream = 0;
    CHECK_EQUAL(aclpy_set_device(0), 0);
    (void)aclpy_stream_create(0, 0, 0, &stream); /* another thread may have reset the device */
    (void)aclpy_reset_device_force(0);
  }
  return arg;
}

/* A stream may be ended by another thread before its creator has returned; none is forgotten. */
static void resets_among_creators(void) {
  uint32_t before = 0, after = 0;
  CHECK_EQUAL(aclpy_set_device(0), 0);
  CHECK_EQUAL(aclpy_stream_available(0, &before), 0);
  pthread_t threads[RACERS];
  for (int i = 0; i < RACERS; i++) threads[i] = start_thread(set_create_reset, NULL);
  for (int i = 0; i < RACERS; i++) join_thread(threads[i]);
  (void)aclpy_reset_device_force(0);
  CHECK_EQUAL(aclpy_live_count("context"), 0);
  CHECK_EQUAL(aclpy_live_count("stream"), 0);
  CHECK_EQUAL(aclpy_set_device(0), 0);
  CHECK_EQUAL(aclpy_stream_available(0, &after), 0);
  CHECK_EQUAL(after, before);
  CHECK_EQUAL(aclpy_reset_device(0), 0);
}

static void *fresh_thread(void *arg) {
  aclpy_handle current = 0, wanted = *(aclpy_handle *)arg;
  CHECK_EQUAL(aclpy_context_get_current(&current), 107002);
  CHECK_EQUAL(aclpy_context_set_current(wanted), 0);
  CHECK_EQUAL(aclpy_context_get_current(&current), 0);
  CHECK_EQUAL(current, wanted);
  return NULL;
}

static void contexts_by_the_book(void) {
  aclpy_handle own = 0, other = 0, primary = 0, current = 0, stream = 0;
  int32_t device = -1, status;
  CHECK_EQUAL(aclpy_context_create(5, &own), 107001);
  CHECK_EQUAL(aclpy_context_create(0, NULL), 100000);
  CHECK_EQUAL(aclpy_context_create(1, &own), 0); /* without aclrtSetDevice; becomes current */
  CHECK_EQUAL(aclpy_get_device(&device), 0);
  CHECK_EQUAL(device, 1);
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream), 0);
  CHECK_EQUAL(aclpy_stream_context(stream, &current), 0);
  CHECK_EQUAL(current, own);
  CHECK_EQUAL(aclpy_set_device(0), 0); /* clears the explicit one */
  CHECK_EQUAL(aclpy_context_get_current(&primary), 0);
  CHECK(primary != own);
  CHECK_EQUAL(aclpy_context_get_current(NULL), 100000);

  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 107003);
  CHECK_EQUAL(aclpy_stream_query(0, stream, &status), 107003);
  CHECK_EQUAL(aclpy_submit(0, stream, NULL, park_run, NULL, NULL, 0), 107003);
  CHECK_EQUAL(aclpy_memset_async(0, 64, 8, 0, 8, stream), 107003);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0); /* the exception to the rule */

  CHECK_EQUAL(aclpy_context_create(0, &other), 0);
  join_thread(start_thread(fresh_thread, &other));
  CHECK_EQUAL(aclpy_context_set_current(primary), 0);
  CHECK_EQUAL(aclpy_context_set_current(0), 100000);
  CHECK_EQUAL(aclpy_context_destroy(0), 100000);
  CHECK_EQUAL(aclpy_context_destroy(primary), 107002);
  CHECK_EQUAL(aclpy_context_destroy(stream), 107002);
  CHECK_EQUAL(aclpy_context_set_current(own), 0);
  CHECK_EQUAL(aclpy_context_destroy(own), 0);
  CHECK_EQUAL(aclpy_context_get_current(&current), 107002); /* no fall-back */
  CHECK_EQUAL(aclpy_context_destroy(own), 107002);
  CHECK_EQUAL(aclpy_context_set_current(own), 107000);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 107017); /* went with its context */
  CHECK_EQUAL(aclpy_context_destroy(other), 0);
  CHECK_EQUAL(aclpy_context_set_current(primary), 0);
  CHECK_EQUAL(aclpy_reset_device(0), 0);
  CHECK_EQUAL(aclpy_context_get_current(&current), 107002);
  CHECK_EQUAL(aclpy_context_set_current(primary), 107000);
  CHECK_EQUAL(aclpy_live_count("context"), 0);
}

static void nouns_count_apart(void) {
  aclpy_handle noun = 0, twice = 0, loose = 0, ordinary = 0, current = 0;
  int32_t device = -1;
  CHECK_EQUAL(aclpy_primary_retain(9, &noun), 107001);
  CHECK_EQUAL(aclpy_primary_retain(1, &noun), 0);
  CHECK_EQUAL(aclpy_primary_retain(1, &twice), 0);
  CHECK_EQUAL(noun, twice);
  CHECK_EQUAL(aclpy_context_get_current(&current), 107002); /* the thread is untouched */
  CHECK_EQUAL(aclpy_context_device(noun, &device), 0);
  CHECK_EQUAL(device, 1);
  CHECK_EQUAL(aclpy_context_set_current(noun), 107000); /* not yet a context of the C names */
  CHECK_EQUAL(aclpy_reset_device(1), 507007);
  CHECK_EQUAL(aclpy_stream_create(noun, 0, 0, &loose), 0);
  CHECK_EQUAL(aclpy_set_device(1), 0);
  CHECK_EQUAL(aclpy_context_get_current(&current), 0);
  CHECK_EQUAL(current, noun);
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &ordinary), 0);
  CHECK_EQUAL(aclpy_reset_device(1), 0);
  CHECK_EQUAL(aclpy_context_get_current(&current), 107002);
  CHECK_EQUAL(aclpy_stream_synchronize(0, ordinary), 107017);
  CHECK_EQUAL(aclpy_stream_synchronize(noun, loose), 0);
  struct park park = PARK;
  CHECK_EQUAL(aclpy_submit(noun, loose, NULL, park_run, park_drop, &park, 0), 0);
  CHECK_EQUAL(aclpy_primary_release(noun), 0);
  CHECK_EQUAL(aclpy_primary_release(noun), 0); /* the last: returns although its stream is busy */
  CHECK_EQUAL(aclpy_stream_synchronize(noun, loose), 107017);
  CHECK_EQUAL(aclpy_primary_release(noun), 107017);
  CHECK_EQUAL(aclpy_stream_create(noun, 0, 0, &loose), 107017);
  latch_add(&park.go);
  latch_wait(&park.dropped, 1);
  CHECK_EQUAL(aclpy_live_count("stream"), 0);
  CHECK_EQUAL(aclpy_live_count("context"), 0);
}

static void recent_messages(void) {
  while (aclpy_recent_message() != NULL) {
  }
  CHECK_EQUAL(aclpy_set_device(77), 107001);
  aclpy_error_push(161002, "aclnnSoftmax: a planner's text");
  aclpy_error_push(561103, "inner");
  aclpy_error_push(361001, "runtime");
  const char *text = aclpy_recent_message();
  CHECK(text != NULL);
  char wanted[64];
  snprintf(wanted, sizeof(wanted), "[PID: %ld] ", (long)getpid());
  CHECK(strncmp(text, wanted, strlen(wanted)) == 0);
  CHECK_CONTAINS(text, "AclNN_Runtime_Error(EZ9903): runtime");
  CHECK_CONTAINS(text, "AclNN_Inner_Error(EZ9999): inner");
  CHECK_CONTAINS(text, "AclNN_Parameter_Error(EZ1001): aclnnSoftmax: a planner's text");
  CHECK_CONTAINS(text, "device 77 of 2");
  CHECK_CONTAINS(text, "Solution:");
  CHECK(strstr(text, "runtime") < strstr(text, "TraceBack") && strstr(text, "TraceBack") < strstr(text, "inner"));
  CHECK(aclpy_recent_message() == NULL);
  char long_text[3000];
  memset(long_text, 'x', sizeof(long_text) - 1);
  long_text[sizeof(long_text) - 1] = 0;
  aclpy_error_push(161002, long_text);
  CHECK(strlen(aclpy_recent_message()) <= 1024);
  for (int i = 0; i < 100; i++) aclpy_error_push(161002, long_text);
  CHECK(aclpy_recent_message() != NULL);
  aclpy_error_clear();
  CHECK_EQUAL(aclpy_error_last()->status, 0);
}

static void *other_messages(void *arg) {
  CHECK(aclpy_recent_message() == NULL);
  aclpy_error_push(161002, arg);
  return NULL;
}

static void messages_belong_to_threads(void) {
  aclpy_error_push(161002, "mine");
  join_thread(start_thread(other_messages, "theirs"));
  const char *text = aclpy_recent_message();
  CHECK_CONTAINS(text, "mine");
  CHECK(strstr(text, "theirs") == NULL);
}

int main(int argc, char **argv) {
  (void)argc;
  if (getenv("ACLNN_PY_DEVICES") == NULL) { /* settings are read when the program starts */
    setenv("ACLNN_PY_DEVICES", "2", 1);
    execv("/proc/self/exe", argv);
    return 1;
  }
  RUN(init_and_finalize_count);
  RUN(configuration_files);
  RUN(devices_count_their_setters);
  RUN(resetting_ends_the_streams);
  RUN(resets_among_creators);
  RUN(contexts_by_the_book);
  RUN(nouns_count_apart);
  RUN(recent_messages);
  RUN(messages_belong_to_threads);
  return 0;
}
