/* SPDX-License-Identifier: Apache-2.0
 * Which processor a thread is on, and leaving it.
 */
#ifndef ACLPY_ENGINE_PROCESSOR_H
#define ACLPY_ENGINE_PROCESSOR_H

/* The processor that the calling thread is on; -1 where the system does not tell. */
int eng_processor(void);
/* Moves the calling thread off `processor` if its affinity mask knows another one. The mask stays as it is. */
void eng_processor_leave(int processor);

#endif
