/* SPDX-License-Identifier: Apache-2.0
 * The installed table; for foreign*.c alone.
 */
#ifndef ACLPY_ENGINE_FOREIGN_TABLE_H
#define ACLPY_ENGINE_FOREIGN_TABLE_H

#include "engine.h"
#include "settings.h"

extern struct aclpy_device_table eng_foreign_table;

/* The table's number of a device. */
static inline int32_t eng_foreign_index(int32_t device) {
  return eng_settings.foreign ? device : device - ACLPY_FOREIGN_FIRST;
}

#endif
