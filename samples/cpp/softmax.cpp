// SPDX-License-Identifier: Apache-2.0
// Softmax along the first and the last axis.
#include "aclnnop/aclnn_softmax.h"

#include "host.h"

static std::vector<double> expected(const std::vector<float> &x, int64_t rows, int64_t columns, bool last) {
  std::vector<double> y(x.size());
  const int64_t lines = last ? rows : columns, length = last ? columns : rows;
  const int64_t line_step = last ? columns : 1, step = last ? 1 : columns;
  for (int64_t line = 0; line < lines; line++) {
    double sum = 0;
    for (int64_t i = 0; i < length; i++) sum += std::exp(static_cast<double>(x[line * line_step + i * step]));
    for (int64_t i = 0; i < length; i++) {
      const int64_t at = line * line_step + i * step;
      y[at] = std::exp(static_cast<double>(x[at])) / sum;
    }
  }
  return y;
}

int main() {
  const Host host;
  const std::vector<float> values = {1, 2, 3, 0, 0, 5};
  const Tensor x({2, 3}, values);
  const Tensor y({2, 3}, ACL_FLOAT);
  for (const int64_t dim : {0, -1}) {
    two_phases(
        host,
        [&](uint64_t *size, aclOpExecutor **e) { return aclnnSoftmaxGetWorkspaceSize(x.get(), dim, y.get(), size, e); },
        aclnnSoftmax);
    const std::vector<float> result = y.read(values.size());
    print(dim == 0 ? "axis 0" : "axis 1", result);
    expect_near(result, expected(values, 2, 3, dim != 0), 1.2e-7);
  }
  return 0;
}
