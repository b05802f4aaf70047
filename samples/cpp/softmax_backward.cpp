// SPDX-License-Identifier: Apache-2.0
// The gradient of a softmax, from aclInit to aclFinalize in plain calls: the shape of the vendor's own samples.
#include "aclnnop/aclnn_softmax_backward.h"

#include "host.h"

int main() {
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  CHECK(aclrtCreateStream(&stream));

  const std::vector<int64_t> shape = {2, 3};
  const std::vector<int64_t> strides = {3, 1};
  const std::vector<float> gradient = {1, 0, 0, 0, 1, 0};
  const std::vector<float> output = {0.2F, 0.3F, 0.5F, 0.1F, 0.6F, 0.3F};
  const size_t bytes = gradient.size() * sizeof(float);

  void *gradient_memory = nullptr;
  void *output_memory = nullptr;
  void *out_memory = nullptr;
  CHECK(aclrtMalloc(&gradient_memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMalloc(&output_memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMalloc(&out_memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMemcpy(gradient_memory, bytes, gradient.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  CHECK(aclrtMemcpy(output_memory, bytes, output.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));

  aclTensor *grad_output = aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, strides.data(), 0, ACL_FORMAT_ND,
                                           shape.data(), shape.size(), gradient_memory);
  aclTensor *saved = aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, strides.data(), 0, ACL_FORMAT_ND,
                                     shape.data(), shape.size(), output_memory);
  aclTensor *out = aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, strides.data(), 0, ACL_FORMAT_ND,
                                   shape.data(), shape.size(), out_memory);

  // Phase 1: check, plan, size.
  uint64_t workspace_size = 0;
  aclOpExecutor *executor = nullptr;
  CHECK(aclnnSoftmaxBackwardGetWorkspaceSize(grad_output, saved, -1, out, &workspace_size, &executor));
  void *workspace = nullptr;
  if (workspace_size > 0) CHECK(aclrtMalloc(&workspace, workspace_size, ACL_MEM_MALLOC_HUGE_FIRST));

  // Phase 2: enqueue, return at once.
  CHECK(aclnnSoftmaxBackward(workspace, workspace_size, executor, stream));
  CHECK(aclrtSynchronizeStream(stream));

  std::vector<float> result(gradient.size());
  CHECK(aclrtMemcpy(result.data(), bytes, out_memory, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  print("gradient", result);
  expect_near(result, {0.16, -0.06, -0.10, -0.06, 0.24, -0.18}, 1e-7);

  CHECK(aclDestroyTensor(grad_output));
  CHECK(aclDestroyTensor(saved));
  CHECK(aclDestroyTensor(out));
  if (workspace != nullptr) CHECK(aclrtFree(workspace));
  CHECK(aclrtFree(gradient_memory));
  CHECK(aclrtFree(output_memory));
  CHECK(aclrtFree(out_memory));
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
