/* SPDX-License-Identifier: Apache-2.0
 * Many copies at once, under their C names.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "acl/acl_rt.h"
#include "capi.h"
#include "failure.h"

/* The caller's arrays, as the prototypes list them. */
struct lists_ {
  const char *function;
  void **dsts;
  size_t *maxima;
  void **srcs;
  size_t *sizes;
  size_t n;
  aclrtMemcpyBatchAttr *attributes;
  size_t *firsts;
  size_t n_attributes;
};

static aclpy_copy *copies_(const struct lists_ *lists) {
  aclpy_copy *rows = calloc(lists->n, sizeof(*rows));
  for (size_t i = 0; rows != NULL && i < lists->n; i++) {
    rows[i] = (aclpy_copy){(uintptr_t)lists->dsts[i], lists->maxima[i], (uintptr_t)lists->srcs[i], lists->sizes[i]};
  }
  return rows;
}

static aclpy_copy_place *places_(const struct lists_ *lists) {
  aclpy_copy_place *rows = calloc(lists->n_attributes, sizeof(*rows));
  for (size_t i = 0; rows != NULL && i < lists->n_attributes; i++) {
    const aclrtMemcpyBatchAttr *from = &lists->attributes[i];
    rows[i] = (aclpy_copy_place){(int32_t)from->dstLoc.type, (int32_t)from->dstLoc.id, (int32_t)from->srcLoc.type,
                                 (int32_t)from->srcLoc.id};
  }
  return rows;
}

static int32_t missing_(const struct lists_ *lists) {
  const struct {
    const void *pointer;
    const char *name;
    size_t wanted;
  } rows[] = {
      {lists->dsts, "dsts", lists->n},
      {lists->maxima, "destMaxs", lists->n},
      {lists->srcs, "srcs", lists->n},
      {lists->sizes, "sizes", lists->n},
      {lists->attributes, "attrs", lists->n_attributes},
      {lists->firsts, "attrsIndexes", lists->n_attributes},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    if (rows[i].pointer == NULL && rows[i].wanted > 0) return eng_fail_null(lists->function, rows[i].name);
  }
  return 0;
}

/* Nothing is looked at where nothing is to be copied. */
static bool empty_(const struct lists_ *lists) {
  size_t total = 0;
  if (lists->sizes == NULL) return lists->n == 0;
  for (size_t i = 0; i < lists->n; i++) total |= lists->sizes[i];
  return total == 0;
}

static int32_t copy_(const struct lists_ *lists, bool queued, size_t *fail_index, aclrtStream stream) {
  if (fail_index != NULL) *fail_index = SIZE_MAX;
  int32_t status = empty_(lists) ? 0 : missing_(lists);
  if (status != 0 || empty_(lists)) return status;
  aclpy_copy *copies = lists->n > 0 ? copies_(lists) : NULL;
  aclpy_copy_place *places = lists->n_attributes > 0 ? places_(lists) : NULL;
  if ((copies == NULL && lists->n > 0) || (places == NULL && lists->n_attributes > 0)) {
    status = eng_fail_memory(lists->function, "the list of copies");
  } else if (queued) {
    status = aclpy_memcpy_batch_async(0, copies, lists->n, places, lists->firsts, lists->n_attributes, fail_index,
                                      capi_handle(stream));
  } else {
    status = aclpy_memcpy_batch(0, copies, lists->n, places, lists->firsts, lists->n_attributes, fail_index);
  }
  free(copies);
  free(places);
  return status;
}

aclError aclrtMemcpyBatch(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches,
                          aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs, size_t *failIndex) {
  const struct lists_ lists = {"aclrtMemcpyBatch", dsts,  destMaxs,     srcs,    sizes,
                               numBatches,         attrs, attrsIndexes, numAttrs};
  return copy_(&lists, false, failIndex, NULL);
}

aclError aclrtMemcpyBatchV2(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches,
                            aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs) {
  const struct lists_ lists = {"aclrtMemcpyBatchV2", dsts,  destMaxs,     srcs,    sizes,
                               numBatches,           attrs, attrsIndexes, numAttrs};
  size_t blamed = 0;
  return copy_(&lists, false, &blamed, NULL);
}

aclError aclrtMemcpyBatchAsync(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches,
                               aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs, size_t *failIndex,
                               aclrtStream stream) {
  const struct lists_ lists = {
      "aclrtMemcpyBatchAsync", dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
  return copy_(&lists, true, failIndex, stream);
}

aclError aclrtMemcpyBatchAsyncV2(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches,
                                 aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs,
                                 aclrtStream stream) {
  const struct lists_ lists = {
      "aclrtMemcpyBatchAsyncV2", dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
  size_t blamed = 0;
  return copy_(&lists, true, &blamed, stream);
}
