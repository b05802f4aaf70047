/* SPDX-License-Identifier: Apache-2.0
 * Peer access between emulated devices: one direction at a time, from the device that works to the one that has the
 * memory.
 */
#include "peer.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stddef.h>

#include "aclpy_status.h"
#include "context.h"
#include "failure.h"
#include "foreign.h"
#include "memory.h"
#include "settings.h"
#include "soc.h"

enum { LINK_HCCS = 1 };

/* Bit `peer` of a device's row. */
static _Atomic uint64_t reach_[ENG_MAX_DEVICES];

/* A foreign device copies from and to everything. */
static bool reaches_(int32_t device, int32_t peer) {
  if (eng_device_foreign(device) || eng_device_foreign(peer)) return true;
  return device == peer || (atomic_load(&reach_[device]) >> peer & 1) != 0;
}

int32_t eng_peer_check(int32_t device, const struct eng_memory *dst, const struct eng_memory *src,
                       const char *function) {
  if (dst->device == device && src->device == device) return ACLPY_ACL_SUCCESS;
  const struct eng_soc *soc = eng_soc();
  if (dst->device == src->device || (soc != NULL && !soc->peer_copies_need_access)) return ACLPY_ACL_SUCCESS;
  bool to_dst = reaches_(device, dst->device);
  if (to_dst && reaches_(device, src->device)) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, to_dst ? "src" : "dst",
                    "memory of the current device, or of a device to which it has peer access",
                    "call aclrtDeviceEnablePeerAccess(peer, 0) on the device that copies, once, before the first copy",
                    "memory of device %" PRId32 " in a copy by device %" PRId32, to_dst ? src->device : dst->device,
                    device);
}

void eng_peer_forget(int32_t device) { atomic_store(&reach_[device], 0); }

void eng_peer_after_fork(void) {
  for (int i = 0; i < ENG_MAX_DEVICES; i++) atomic_store(&reach_[i], 0);
}

/* Both must exist and differ. */
static int32_t check_pair_(int32_t device, int32_t peer, const char *function, const char *peer_name) {
  int32_t status = eng_device_check(device, function, "deviceId");
  if (status == ACLPY_ACL_SUCCESS) status = eng_device_check(peer, function, peer_name);
  if (status != ACLPY_ACL_SUCCESS || device != peer) return status;
  return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, peer_name, "another device",
                    "leave the call out: a device always reaches its own memory", "device %" PRId32 " twice", device);
}

int32_t aclpy_can_access_peer(int32_t *can, int32_t device, int32_t peer) {
  static const char function[] = "aclrtDeviceCanAccessPeer";
  if (can == NULL) return eng_fail_null(function, "canAccessPeer");
  int32_t status = check_pair_(device, peer, function, "peerDeviceId");
  if (status == ACLPY_ACL_SUCCESS) *can = 1;
  return status;
}

/* The context's device is the one that gets access, or loses it. */
static int32_t change_(aclpy_handle ctx, int32_t peer, bool enable, const char *function) {
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_context *context = eng_context_resolve(ctx, function, &status);
  if (context == NULL) return status;
  int32_t device = context->device;
  eng_release(&context->head);
  status = check_pair_(device, peer, function, "peerDeviceId");
  if (status != ACLPY_ACL_SUCCESS || peer >= ACLPY_FOREIGN_FIRST) return status;
  uint64_t bit = UINT64_C(1) << peer;
  if (enable) {
    atomic_fetch_or(&reach_[device], bit);
  } else {
    atomic_fetch_and(&reach_[device], ~bit);
  }
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_enable_peer_access(aclpy_handle ctx, int32_t peer, uint32_t flags) {
  static const char function[] = "aclrtDeviceEnablePeerAccess";
  if (flags != 0) {
    return aclpy_fail(ACLPY_ACL_ERROR_FEATURE_UNSUPPORTED, function, "flags", "0", "pass 0: flags are reserved",
                      "flags 0x%" PRIx32, flags);
  }
  return change_(ctx, peer, true, function);
}

int32_t aclpy_disable_peer_access(aclpy_handle ctx, int32_t peer) {
  return change_(ctx, peer, false, "aclrtDeviceDisablePeerAccess");
}

int32_t aclpy_peer_access_status(int32_t device, int32_t peer, int32_t *enabled) {
  static const char function[] = "aclrtDevicePeerAccessStatus";
  if (enabled == NULL) return eng_fail_null(function, "status");
  int32_t status = check_pair_(device, peer, function, "peerDeviceId");
  if (status == ACLPY_ACL_SUCCESS) *enabled = reaches_(device, peer);
  return status;
}

int32_t aclpy_devices_topology(int32_t device, int32_t other, uint64_t *links) {
  static const char function[] = "aclrtGetDevicesTopo";
  if (links == NULL) return eng_fail_null(function, "value");
  int32_t status = check_pair_(device, other, function, "otherDeviceId");
  if (status == ACLPY_ACL_SUCCESS) *links = LINK_HCCS;
  return status;
}
