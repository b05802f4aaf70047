/* SPDX-License-Identifier: Apache-2.0
 * Allocators of the host program: descriptions of them, and the one that is registered for a stream.
 *
 * The runtime asks them only when it runs models, which are not emulated. So they are kept, and told to whoever asks.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aclpy_status.h"
#include "failure.h"
#include "fault.h"
#include "stream.h"

struct allocator_ {
  struct eng_object head;
  pthread_mutex_t lock;
  uintptr_t parts[ACLPY_ALLOCATOR_PARTS];
};

struct eng_registration {
  aclpy_handle description;
  uintptr_t parts[ACLPY_ALLOCATOR_PARTS];
};

int32_t aclpy_allocator_create(aclpy_handle *description) {
  static const char function[] = "aclrtAllocatorCreateDesc";
  if (description == NULL) return eng_fail_null(function, "allocatorDesc");
  struct allocator_ *made = eng_object_zalloc(sizeof(*made));
  if (made == NULL) return eng_fail_memory(function, "an allocator's description");
  if (pthread_mutex_init(&made->lock, NULL) == 0) {
    if (eng_handle_open(ENG_ALLOCATOR, &made->head, description)) return ACLPY_ACL_SUCCESS;
    pthread_mutex_destroy(&made->lock);
  }
  free(made);
  return eng_fail_memory(function, "an allocator's description");
}

void eng_allocator_dispose(void *object) {
  pthread_mutex_destroy(&((struct allocator_ *)object)->lock);
  free(object);
}

static struct allocator_ *find_(aclpy_handle handle, const char *function, int32_t *status) {
  if (handle == 0) {
    *status = eng_fail_null(function, "allocatorDesc");
    return NULL;
  }
  struct allocator_ *found = eng_handle_acquire(ENG_ALLOCATOR, handle);
  if (found == NULL) {
    *status = aclpy_fail(ACLPY_ACL_ERROR_RT_INVALID_HANDLE, function, "allocatorDesc", "a live allocator description",
                         "use one that has not been destroyed", "description 0x%" PRIx64 ", %s", handle,
                         eng_handle_past_text(ENG_ALLOCATOR, handle));
  }
  return found;
}

int32_t aclpy_allocator_destroy(aclpy_handle description) {
  int32_t status = ACLPY_ACL_SUCCESS;
  struct allocator_ *found = find_(description, "aclrtAllocatorDestroyDesc", &status);
  if (found == NULL) return status;
  if (eng_handle_close(ENG_ALLOCATOR, description, false) != NULL) eng_release(&found->head);
  eng_release(&found->head);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_allocator_set(aclpy_handle description, int32_t part, uintptr_t value, const char *function) {
  int32_t status = ACLPY_ACL_SUCCESS;
  struct allocator_ *found = find_(description, function, &status);
  if (found == NULL) return status;
  if (part < 0 || part >= ACLPY_ALLOCATOR_PARTS) {
    status =
        aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "part", "a part of an allocator", "", "%" PRId32, part);
  } else if (value == 0) {
    status = eng_fail_null(function, part == ACLPY_ALLOCATOR_OBJECT ? "allocator" : "func");
  } else {
    pthread_mutex_lock(&found->lock);
    found->parts[part] = value;
    pthread_mutex_unlock(&found->lock);
  }
  eng_release(&found->head);
  return status;
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

/* What a stream keeps: later changes of the description, or its end, do not reach it. */
static struct eng_registration *copy_(aclpy_handle description, const char *function, int32_t *status) {
  static const char *const names[] = {"an object", "a function that allocates", "a function that frees",
                                      "a function that gives a block's address"};
  static const int parts[] = {ACLPY_ALLOCATOR_OBJECT, ACLPY_ALLOCATOR_ALLOC, ACLPY_ALLOCATOR_FREE,
                              ACLPY_ALLOCATOR_ADDRESS};
  struct allocator_ *found = find_(description, function, status);
  if (found == NULL) return NULL;
  struct eng_registration *made = eng_object_zalloc(sizeof(*made));
  if (made == NULL) {
    *status = eng_fail_memory(function, "the registration");
  } else {
    made->description = description;
    pthread_mutex_lock(&found->lock);
    memcpy(made->parts, found->parts, sizeof(made->parts));
    pthread_mutex_unlock(&found->lock);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && *status == ACLPY_ACL_SUCCESS; i++) {
      if (made->parts[parts[i]] != 0) continue;
      *status = aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "allocatorDesc", names[i],
                           "set the allocator's parts first; only the one for wished addresses may be left out",
                           "a description without it");
    }
  }
  eng_release(&found->head);
  if (*status == ACLPY_ACL_SUCCESS) return made;
  free(made);
  return NULL;
}

static void exchange_(struct eng_stream *stream, struct eng_registration *made) {
  pthread_mutex_lock(&stream->lock);
  struct eng_registration *old = stream->allocator;
  stream->allocator = made;
  pthread_mutex_unlock(&stream->lock);
  free(old);
}

int32_t aclpy_allocator_register(aclpy_handle ctx, aclpy_handle stream, aclpy_handle description) {
  static const char function[] = "aclrtAllocatorRegister";
  if (stream == 0) return eng_fail_null(function, "stream");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, function, &status);
  if (found == NULL) return status;
  struct eng_registration *made = copy_(description, function, &status);
  if (made != NULL) exchange_(found, made);
  eng_release(&found->head);
  return status;
}

/* A stream that is gone, or has none: nothing to do, and no failure. */
int32_t aclpy_allocator_unregister(aclpy_handle stream) {
  struct eng_stream *found = stream == 0 ? NULL : eng_handle_acquire(ENG_STREAM, stream);
  if (found == NULL) return ACLPY_ACL_SUCCESS;
  exchange_(found, NULL);
  eng_release(&found->head);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_allocator_of_stream(aclpy_handle ctx, aclpy_handle stream, aclpy_handle *description, uintptr_t *parts) {
  static const char function[] = "aclrtAllocatorGetByStream";
  if (stream == 0) return eng_fail_null(function, "stream");
  if (description == NULL || parts == NULL) return eng_fail_null(function, "the result's address");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, function, &status);
  if (found == NULL) return status;
  pthread_mutex_lock(&found->lock);
  bool registered = found->allocator != NULL;
  if (registered) {
    *description = found->allocator->description;
    memcpy(parts, found->allocator->parts, sizeof(found->allocator->parts));
  }
  pthread_mutex_unlock(&found->lock);
  eng_release(&found->head);
  if (registered) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "stream", "a stream with an allocator of its own",
                    "register one with aclrtAllocatorRegister", "a stream without one");
}

void eng_allocator_forget(struct eng_stream *stream) { free(stream->allocator); }
