/* SPDX-License-Identifier: Apache-2.0
 * What the generated cffi module includes before its own code.
 */
#include "engine.h"
#include "kernel.h"
#include "post_ops_codes.h"
