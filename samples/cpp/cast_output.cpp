// SPDX-License-Identifier: Apache-2.0
// A result of another type: softmax rounds to the input's type first, log-softmax casts its input.
#include "aclnnop/aclnn_softmax.h"

#include "host.h"

int main() {
  const Host host;
  const std::vector<float> values = {1, 2, 3};
  std::vector<aclFloat16> halves;
  for (const float value : values) halves.push_back(aclFloatToFloat16(value));
  const std::vector<int64_t> shape = {1, 3};
  const Memory memory(halves.size() * sizeof(aclFloat16));
  memory.upload(halves.data());
  const std::vector<int64_t> strides = row_major(shape);
  aclTensor *x =
      aclCreateTensor(shape.data(), 2, ACL_FLOAT16, strides.data(), 0, ACL_FORMAT_ND, shape.data(), 2, memory.get());
  const Tensor y(shape, ACL_FLOAT);
  uint64_t size = 0;
  aclOpExecutor *executor = nullptr;
  CHECK(aclnnSoftmaxGetWorkspaceSize(x, -1, y.get(), &size, &executor));
  std::printf("workspace for the half-precision result: %llu bytes\n", static_cast<unsigned long long>(size));
  const Memory workspace(size);
  CHECK(aclnnSoftmax(workspace.get(), size, executor, host.stream()));
  CHECK(aclrtSynchronizeStream(host.stream()));
  const std::vector<float> result = y.read(3);
  print("float32 result", result);
  for (const float value : result) {
    if (aclFloat16ToFloat(aclFloatToFloat16(value)) != value) {
      std::printf("%g is no half: the result was not rounded to the input's type first\n", static_cast<double>(value));
      return 1;
    }
  }
  std::printf("every value is a half\n");
  CHECK(aclDestroyTensor(x));
  return 0;
}
