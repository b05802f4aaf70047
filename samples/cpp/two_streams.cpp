// SPDX-License-Identifier: Apache-2.0
// Two streams, ordered by an event: the second computes on what the first has written, and no host waits in between.
#include "aclnnop/aclnn_logsoftmax.h"
#include "aclnnop/aclnn_softmax.h"
#include "host.h"

int main() {
  const Host host;
  aclrtStream second = nullptr;
  CHECK(aclrtCreateStream(&second));
  aclrtEvent written = nullptr;
  CHECK(aclrtCreateEventExWithFlag(&written, ACL_EVENT_SYNC));
  const std::vector<float> values = {1, 2, 3, 0, 0, 5};
  const Tensor x({2, 3}, values);
  const Tensor y({2, 3}, ACL_FLOAT);
  const Tensor z({2, 3}, ACL_FLOAT);
  {
    uint64_t size = 0, next_size = 0;
    aclOpExecutor *first = nullptr, *next = nullptr;
    CHECK(aclnnSoftmaxGetWorkspaceSize(x.get(), -1, y.get(), &size, &first));
    const Memory workspace(size);
    CHECK(aclnnSoftmax(workspace.get(), size, first, host.stream()));
    CHECK(aclrtRecordEvent(written, host.stream()));
    CHECK(aclrtStreamWaitEvent(second, written));
    CHECK(aclnnLogSoftmaxGetWorkspaceSize(y.get(), -1, z.get(), &next_size, &next));
    const Memory next_workspace(next_size);
    CHECK(aclnnLogSoftmax(next_workspace.get(), next_size, next, second));
    CHECK(aclrtSynchronizeStream(second));  // the second waits for the first: this waits for both
  }
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  CHECK(aclrtQueryEventStatus(written, &status));
  std::vector<double> expected(values.size());
  for (std::size_t row = 0; row < 2; row++) {
    double sum = 0, again = 0;
    for (std::size_t i = 0; i < 3; i++) sum += std::exp(static_cast<double>(values[row * 3 + i]));
    for (std::size_t i = 0; i < 3; i++) again += std::exp(std::exp(static_cast<double>(values[row * 3 + i])) / sum);
    for (std::size_t i = 0; i < 3; i++) {
      expected[row * 3 + i] = std::exp(static_cast<double>(values[row * 3 + i])) / sum - std::log(again);
    }
  }
  print("log-softmax of softmax", z.read(values.size()));
  expect_near(z.read(values.size()), expected, 5e-7);
  CHECK(aclrtDestroyEvent(written));
  CHECK(aclrtDestroyStream(second));
  return status == ACL_EVENT_RECORDED_STATUS_COMPLETE ? 0 : 1;
}
