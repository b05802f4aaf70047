// SPDX-License-Identifier: Apache-2.0
// Views: a transposed input and a result with gaps between its rows.
#include "aclnnop/aclnn_softmax.h"

#include "host.h"

int main() {
  const Host host;
  // Three rows of two in memory, seen as two rows of three.
  const std::vector<float> memory = {1, 4, 2, 5, 3, 6};
  const Tensor storage({3, 2}, memory);
  const std::vector<int64_t> shape = {2, 3}, transposed = {1, 2}, storage_shape = {3, 2};
  aclTensor *x = aclCreateTensor(shape.data(), 2, ACL_FLOAT, transposed.data(), 0, ACL_FORMAT_ND, storage_shape.data(),
                                 2, storage.data());

  // Rows of three in a storage of rows of five, from the second column on.
  const Tensor wide({2, 5}, std::vector<float>(10, -7.0F));
  const std::vector<int64_t> gaps = {5, 1}, wide_shape = {2, 5};
  aclTensor *y =
      aclCreateTensor(shape.data(), 2, ACL_FLOAT, gaps.data(), 1, ACL_FORMAT_ND, wide_shape.data(), 2, wide.data());
  two_phases(
      host, [&](uint64_t *size, aclOpExecutor **e) { return aclnnSoftmaxGetWorkspaceSize(x, -1, y, size, e); },
      aclnnSoftmax);
  const std::vector<float> result = wide.read(10);
  print("storage of the result", result);
  const double a = 0.09003057317038046, b = 0.24472847105479764, c = 0.6652409557748219;
  expect_near(result, {-7, a, b, c, -7, -7, a, b, c, -7}, 1.2e-7);
  CHECK(aclDestroyTensor(x));
  CHECK(aclDestroyTensor(y));
  return 0;
}
