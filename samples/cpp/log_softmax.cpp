// SPDX-License-Identifier: Apache-2.0
// Log-softmax and its gradient, which takes the saved log-probabilities.
#include "aclnnop/aclnn_logsoftmax.h"
#include "aclnnop/aclnn_logsoftmax_backward.h"

#include "host.h"

int main() {
  const Host host;
  const std::vector<float> values = {-1, 0, 1, 10, 10, 10};
  const std::vector<float> ones = {1, 0, 0, 0, 0, 3};
  const Tensor x({2, 3}, values);
  const Tensor y({2, 3}, ACL_FLOAT);
  const Tensor gradient({2, 3}, ones);
  const Tensor dx({2, 3}, ACL_FLOAT);
  two_phases(
      host,
      [&](uint64_t *size, aclOpExecutor **e) { return aclnnLogSoftmaxGetWorkspaceSize(x.get(), 1, y.get(), size, e); },
      aclnnLogSoftmax);
  two_phases(
      host,
      [&](uint64_t *size, aclOpExecutor **e) {
        return aclnnLogSoftmaxBackwardGetWorkspaceSize(gradient.get(), y.get(), 1, dx.get(), size, e);
      },
      aclnnLogSoftmaxBackward);
  std::vector<double> log_probabilities(values.size()), expected(values.size());
  for (size_t row = 0; row < values.size(); row += 3) {
    double sum = 0, total = 0;
    for (size_t i = row; i < row + 3; i++) {
      sum += std::exp(static_cast<double>(values[i]));
      total += ones[i];
    }
    for (size_t i = row; i < row + 3; i++) {
      log_probabilities[i] = values[i] - std::log(sum);
      expected[i] = ones[i] - std::exp(log_probabilities[i]) * total;
    }
  }
  print("log-probabilities", y.read(values.size()));
  expect_near(y.read(values.size()), log_probabilities, 5e-7);
  print("gradient", dx.read(values.size()));
  expect_near(dx.read(values.size()), expected, 5e-7);
  return 0;
}
