/* SPDX-License-Identifier: Apache-2.0
 * Template: all of softmax and log-softmax for the dtype ACLPY_T, which it takes away at the end.
 */
/* Templates build on each other: their order matters. */
/* clang-format off */
#include "softmax_rows.h"
#include "softmax_row_chunks.h"
#include "tile.h"
#include "strip_words.h"
#include "softmax_tiles.h"
#include "softmax_tile_chunks.h"
#include "softmax_tiles_again.h"
#include "transposed.h"
#include "softmax_transposed.h"
#include "swapped.h"
#include "softmax_swapped.h"
#include "softmax_instance.h"
#include "../simd/instance_end.h"
/* clang-format on */
