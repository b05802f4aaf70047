// SPDX-License-Identifier: Apache-2.0
// Plan once, run often, each time with other memory.
#include "aclnnop/aclnn_softmax.h"

#include "host.h"

int main() {
  const Host host;
  const Tensor x({1, 2}, {0, 0});
  const Tensor y({1, 2}, ACL_FLOAT);
  uint64_t size = 0;
  aclOpExecutor *executor = nullptr;
  CHECK(aclnnSoftmaxGetWorkspaceSize(x.get(), -1, y.get(), &size, &executor));
  CHECK(aclSetAclOpExecutorRepeatable(executor));
  const Memory workspace(size);
  for (const float difference : {0.0F, 1.0F, 2.0F}) {
    const Memory input(2 * sizeof(float));
    const float values[] = {0, difference};
    input.upload(values);
    CHECK(aclSetInputTensorAddr(executor, 0, x.get(), input.get()));
    CHECK(aclnnSoftmax(workspace.get(), size, executor, host.stream()));
    CHECK(aclrtSynchronizeStream(host.stream()));
    const double odds = std::exp(static_cast<double>(difference));
    print("probabilities", y.read(2));
    expect_near(y.read(2), {1 / (1 + odds), odds / (1 + odds)}, 1.2e-7);
  }
  CHECK(aclDestroyAclOpExecutor(executor));
  return 0;
}
