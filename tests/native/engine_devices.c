/* SPDX-License-Identifier: Apache-2.0
 * Two devices and what is said of them: configuration, hooks, peer access, parameters, figures.
 */
#include <unistd.h>

#include "aclpy_status.h"
#include "check.h"
#include "engine.h"

static char path_[] = "/tmp/aclpy_devices_XXXXXX";

static int32_t init_with(const char *text) {
  FILE *file = fopen(path_, "w");
  CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
  return aclpy_init(path_);
}

static void *uses_the_default_device(void *arg) {
  (void)arg;
  int32_t device = -1;
  uintptr_t address = 0;
  CHECK_EQUAL(aclpy_get_device(&device), 0); /* an implicit aclrtSetDevice */
  CHECK_EQUAL(device, 1);
  CHECK_EQUAL(aclpy_malloc(0, 8, 0, &address), 0);
  CHECK_EQUAL(aclpy_free(address), 0);
  CHECK_EQUAL(aclpy_reset_device(1), 0);
  return NULL;
}

static void *has_no_context(void *arg) {
  (void)arg;
  int32_t device = -1;
  CHECK_EQUAL(aclpy_get_device(&device), 107002);
  return NULL;
}

/* The first aclInit of the process: its content is what later ones must repeat. */
static void default_device(void) {
  static const struct {
    const char *text;
    int32_t status;
  } rows[] = {{"{\"defaultDevice\": {\"default_device\": \"two\"}}", 100008},
              {"{\"defaultDevice\": {\"default_device\": \"\"}}", 100008},
              {"{\"defaultDevice\": {\"default_device\": 1.5}}", 100008},
              {"{\"defaultDevice\": {\"default_device\": 99999999999}}", 100008},
              {"{\"defaultDevice\": {\"default_device\": \"2\"}}", 107001},
              {"{\"defaultDevice\": {\"default_device\": -1}}", 107001}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) CHECK_EQUAL(init_with(rows[i].text), rows[i].status);
  CHECK_EQUAL(init_with("{\"defaultDevice\": {\"default_device\": \"1\"}}"), 0);
  join_thread(start_thread(uses_the_default_device, NULL));
  int32_t active = -1;
  CHECK_EQUAL(aclpy_primary_state(1, NULL, &active), 0);
  CHECK_EQUAL(active, 0);
  CHECK_EQUAL(init_with("{\"defaultDevice\": {\"default_device\": \"1\"}}"), 100002);
  CHECK_EQUAL(aclpy_finalize(), 0);
  join_thread(start_thread(has_no_context, NULL)); /* the setting ends with aclFinalize */
  CHECK_EQUAL(init_with("{\"defaultDevice\": {\"default_device\": \"0\"}}"), 100000); /* other content */
}

static int order_;
static int32_t at_init(const char *config, size_t length, void *data) {
  CHECK_EQUAL(strlen(config), length);
  *(int *)data = ++order_;
  return 0;
}
static int32_t at_init_failing(const char *config, size_t length, void *data) {
  (void)config;
  (void)length;
  *(int *)data = ++order_;
  return 500001;
}
static int32_t at_finalize(void *data) {
  *(int *)data = ++order_;
  return 0;
}

static void hooks(void) {
  int first = 0, second = 0, last = 0;
  uint64_t left = 0;
  const char *text = "{\"defaultDevice\": {\"default_device\": \"1\"}}";
  CHECK_EQUAL(aclpy_init_callback_register(0, NULL, NULL), 100000);
  CHECK_EQUAL(aclpy_finalize_callback_register(0, NULL, NULL), 100000);
  CHECK_EQUAL(aclpy_init_callback_register(0, at_init, &first), 0);
  CHECK_EQUAL(aclpy_init_callback_register(0, at_init, &first), 100000);
  CHECK_EQUAL(aclpy_init_callback_register(1, at_init, &second), 0);
  CHECK_EQUAL(aclpy_finalize_callback_register(0, at_finalize, &last), 0);
  CHECK_EQUAL(init_with(text), 0);
  CHECK_EQUAL(first, 1);
  CHECK_EQUAL(second, 2);
  CHECK_EQUAL(init_with(text), 100002);
  CHECK_EQUAL(order_, 2); /* only the one that initialises */
  CHECK_EQUAL(aclpy_finalize_reference(&left), 0);
  CHECK_EQUAL(left, 1);
  CHECK_EQUAL(last, 0);
  CHECK_EQUAL(aclpy_finalize_reference(&left), 0);
  CHECK_EQUAL(last, 3);
  CHECK_EQUAL(aclpy_init_callback_unregister(1, at_init), 0);
  CHECK_EQUAL(aclpy_init_callback_unregister(1, at_init), 100000);
  CHECK_EQUAL(aclpy_init_callback_unregister(0, at_init), 0);
  CHECK_EQUAL(aclpy_finalize_callback_unregister(0, at_finalize), 0);
  CHECK_EQUAL(aclpy_finalize_callback_unregister(7, at_finalize), 100000);
  CHECK_EQUAL(aclpy_init_callback_register(0, at_init_failing, &first), 0);
  CHECK_EQUAL(init_with(text), 500001); /* told, and initialised nevertheless */
  CHECK_EQUAL(aclpy_finalize(), 0);
  CHECK_EQUAL(aclpy_init_callback_unregister(0, at_init_failing), 0);
}

static void peers(void) {
  int32_t answer = -1;
  uint64_t links = 0;
  CHECK_EQUAL(aclpy_can_access_peer(NULL, 0, 1), 100000);
  CHECK_EQUAL(aclpy_can_access_peer(&answer, 0, 0), 100000);
  CHECK_EQUAL(aclpy_can_access_peer(&answer, 0, 2), 107001);
  CHECK_EQUAL(aclpy_can_access_peer(&answer, 2, 0), 107001);
  CHECK_EQUAL(aclpy_can_access_peer(&answer, 0, 1), 0);
  CHECK_EQUAL(answer, 1);
  CHECK_EQUAL(aclpy_devices_topology(0, 1, &links), 0);
  CHECK_EQUAL(links, 1);
  CHECK_EQUAL(aclpy_devices_topology(0, 1, NULL), 100000);
  CHECK_EQUAL(aclpy_enable_peer_access(0, 1, 0), 107002);
  CHECK_EQUAL(aclpy_disable_peer_access(0, 1), 107002);
  CHECK_EQUAL(aclpy_set_device(0), 0);
  CHECK_EQUAL(aclpy_enable_peer_access(0, 1, 1), 200006);
  CHECK_EQUAL(aclpy_enable_peer_access(0, 0, 0), 100000);
  CHECK_EQUAL(aclpy_enable_peer_access(0, 2, 0), 107001);

  uintptr_t here = 0, there = 0;
  CHECK_EQUAL(aclpy_malloc(0, 8, 0, &here), 0);
  memset((void *)here, 5, 8);
  CHECK_EQUAL(aclpy_set_device(1), 0);
  CHECK_EQUAL(aclpy_malloc(0, 8, 0, &there), 0);
  memset((void *)there, 0, 8);
  CHECK_EQUAL(aclpy_memcpy(0, there, 8, here, 8, 3), 107000);
  CHECK_CONTAINS(aclpy_error_last()->hint, "aclrtDeviceEnablePeerAccess");
  CHECK_EQUAL(aclpy_enable_peer_access(0, 0, 0), 0);
  CHECK_EQUAL(aclpy_enable_peer_access(0, 0, 0), 0); /* again: no harm */
  CHECK_EQUAL(aclpy_peer_access_status(1, 0, &answer), 0);
  CHECK_EQUAL(answer, 1);
  CHECK_EQUAL(aclpy_peer_access_status(0, 1, &answer), 0); /* one direction */
  CHECK_EQUAL(answer, 0);
  CHECK_EQUAL(aclpy_peer_access_status(1, 1, &answer), 100000);
  CHECK_EQUAL(aclpy_memcpy(0, there, 8, here, 8, 3), 0);
  CHECK_EQUAL(*(unsigned char *)there, 5);
  CHECK_EQUAL(aclpy_disable_peer_access(0, 0), 0);
  CHECK_EQUAL(aclpy_memcpy(0, there, 8, here, 8, 3), 107000);
  CHECK_EQUAL(aclpy_set_soc("Ascend910_93"), 0); /* this chip needs none */
  CHECK_EQUAL(aclpy_memcpy(0, there, 8, here, 8, 3), 0);
  CHECK_EQUAL(aclpy_set_soc("Ascend910B"), 0);
  CHECK_EQUAL(aclpy_enable_peer_access(0, 0, 0), 0);
  CHECK_EQUAL(aclpy_free(here), 0);
  CHECK_EQUAL(aclpy_free(there), 0);
  CHECK_EQUAL(aclpy_reset_device(1), 0);
  CHECK_EQUAL(aclpy_peer_access_status(1, 0, &answer), 0); /* goes with the device */
  CHECK_EQUAL(answer, 0);
  CHECK_EQUAL(aclpy_reset_device(0), 0);
}

static void parameters(void) {
  aclpy_handle ctx = 0;
  int64_t value = -1;
  CHECK_EQUAL(aclpy_sysparam_get(0, &value), 107021);
  CHECK_EQUAL(aclpy_sysparam_set(4, 0), 100000);
  CHECK_EQUAL(aclpy_sysparam_set(-1, 0), 100000);
  CHECK_EQUAL(aclpy_sysparam_set(0, 4), 100000);
  CHECK_EQUAL(aclpy_sysparam_get(0, NULL), 100000);
  CHECK_EQUAL(aclpy_sysparam_set(3, 1), 0);
  CHECK_EQUAL(aclpy_sysparam_get(3, &value), 0);
  CHECK_EQUAL(value, 1);
  CHECK_EQUAL(aclpy_context_sysparam_set(0, 0, 1), 107002);
  CHECK_EQUAL(aclpy_context_create(1, &ctx), 0);
  CHECK_EQUAL(aclpy_context_sysparam_set(0, 3, 1), 100000); /* of the process only */
  CHECK_EQUAL(aclpy_context_sysparam_get(0, 0, &value), 107021);
  CHECK_EQUAL(aclpy_context_sysparam_set(0, 0, 3), 0);
  CHECK_EQUAL(aclpy_context_sysparam_get(0, 0, &value), 0);
  CHECK_EQUAL(value, 3);
  CHECK_EQUAL(aclpy_context_destroy(ctx), 0);
}

static void figures(void) {
  int32_t a = -1, b = -1, c = -1;
  int64_t value = -1;
  const int32_t *list = NULL;
  size_t count = 0;
  aclpy_utilization use = {0};
  CHECK_EQUAL(aclpy_run_mode(NULL), 100000);
  CHECK_EQUAL(aclpy_run_mode(&a), 0);
  CHECK_EQUAL(a, 1);
  CHECK_EQUAL(aclpy_version(&a, &b, NULL), 100000);
  CHECK_EQUAL(aclpy_version(&a, &b, &c), 0);
  CHECK(a == 1 && b == 17 && c == 0);
  CHECK_EQUAL(aclpy_stream_priority_range(&a, &b), 0);
  CHECK(a == 7 && b == 0);
  CHECK_EQUAL(aclpy_set_ts_device(1), 0);
  CHECK_EQUAL(aclpy_set_ts_device(2), 100000);
  CHECK_EQUAL(aclpy_device_status(2, &a), 107001);
  CHECK_EQUAL(aclpy_device_status(1, &a), 0);
  CHECK_EQUAL(a, 0);
  use.extend = &use;
  CHECK_EQUAL(aclpy_device_utilization(0, &use), 100000);
  use.extend = NULL;
  CHECK_EQUAL(aclpy_device_utilization(0, &use), 0);
  CHECK_EQUAL(use.memory, -1);
  CHECK_EQUAL(aclpy_device_info(2, 301, &value), 107001);
  CHECK_EQUAL(aclpy_device_info(UINT32_MAX, 301, &value), 107001);
  CHECK_EQUAL(aclpy_device_info(0, 301, &value), 0);
  CHECK(value > 0);
  CHECK_EQUAL(aclpy_device_info(0, 101, &value), 0);
  CHECK_EQUAL(value, aclpy_thread_count());
  CHECK_EQUAL(aclpy_device_info(0, 601, &value), 207000);
  CHECK_EQUAL(aclpy_device_capability(0, 1, &value), 0);
  CHECK_EQUAL(aclpy_device_capability(0, 3, &value), 100000);
  CHECK_EQUAL(aclpy_cann_attributes(&list, &count), 0);
  CHECK_EQUAL(count, 3);
  CHECK_EQUAL(aclpy_cann_attribute(list[1], &a), 0);
  CHECK_EQUAL(a, 1); /* the default chip has BF16 */
  CHECK_EQUAL(aclpy_set_soc("ascend310p"), 0);
  CHECK_EQUAL(aclpy_cann_attribute(list[1], &a), 0);
  CHECK_EQUAL(a, 0);
  CHECK(strcmp(aclpy_soc_name(), "Ascend310P3") == 0);
  CHECK_EQUAL(aclpy_set_soc("Abacus"), 100000);
  CHECK_EQUAL(aclpy_set_soc("ascend910b1"), 0);
  CHECK_EQUAL(aclpy_cann_attribute(3, &a), 100000);
  CHECK_EQUAL(aclpy_primary_state(0, &a, &b), 100000);
  CHECK_EQUAL(aclpy_primary_state(0, NULL, NULL), 100000);
  CHECK_EQUAL(aclpy_primary_state(2, NULL, &b), 107001);
}

int main(int argc, char **argv) {
  (void)argc;
  if (getenv("ACLNN_PY_DEVICES") == NULL) { /* settings are read when the program starts */
    setenv("ACLNN_PY_DEVICES", "4", 1);
    setenv("ASCEND_RT_VISIBLE_DEVICES", "1,3", 1);
    execv("/proc/self/exe", argv);
    return 1;
  }
  CHECK(close(mkstemp(path_)) == 0);
  uint32_t count = 0;
  CHECK_EQUAL(aclpy_device_count(&count), 0);
  CHECK_EQUAL(count, 2);
  RUN(default_device);
  RUN(hooks);
  RUN(peers);
  RUN(parameters);
  RUN(figures);
  CHECK_EQUAL(unlink(path_), 0);
  CHECK_EQUAL(aclpy_live_count("context"), 0);
  return 0;
}
