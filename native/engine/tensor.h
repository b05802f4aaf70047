/* SPDX-License-Identifier: Apache-2.0
 * Tensors: a layout and an address. Executors hold the object and read the address when they need it.
 */
#ifndef ACLPY_ENGINE_TENSOR_H
#define ACLPY_ENGINE_TENSOR_H

#include <stdatomic.h>
#include <stdint.h>

#include "handle_table.h"
#include "layout.h"

struct eng_tensor {
  struct eng_object head;
  _Atomic uint64_t *address;         /* the note of its slot, where phase 1 reads it without a reference */
  struct eng_layout *_Atomic layout; /* replaced by aclInitTensor only, under the lock in tensor.c */
  _Atomic uint64_t layout_id;
};

static inline uintptr_t eng_tensor_address(const struct eng_tensor *tensor) {
  return (uintptr_t)atomic_load_explicit(tensor->address, memory_order_acquire);
}
static inline void eng_tensor_place(struct eng_tensor *tensor, uintptr_t address) {
  atomic_store_explicit(tensor->address, address, memory_order_release);
}
/* The refusal for a handle that is no live tensor: 161002. */
int32_t eng_tensor_refuse(aclpy_handle handle, const char *function, const char *argument);

void eng_tensors_before_fork(void);
void eng_tensors_after_fork(bool child);

#endif
