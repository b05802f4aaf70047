// SPDX-License-Identifier: Apache-2.0
// What a program sees when a call is refused: a status, and a text that says what to do.
#include "aclnnop/aclnn_softmax.h"

#include "host.h"

static bool refused(const char *what, int status, int expected) {
  const char *text = aclGetRecentErrMsg();
  std::printf("%s: status %d\n%s\n\n", what, status, text == nullptr ? "" : text);
  return status == expected && text != nullptr;
}

int main() {
  const Host host;
  const Tensor x({2, 3}, std::vector<float>(6, 1.0F));
  const Tensor y({3, 2}, ACL_FLOAT);
  uint64_t size = 99;
  aclOpExecutor *executor = nullptr;
  bool ok = true;
  ok &= refused("a shape that differs", aclnnSoftmaxGetWorkspaceSize(x.get(), 0, y.get(), &size, &executor),
                ACLNN_ERR_PARAM_INVALID);
  ok &= refused("no tensor", aclnnSoftmaxGetWorkspaceSize(nullptr, 0, y.get(), &size, &executor),
                ACLNN_ERR_PARAM_NULLPTR);
  ok &= size == 99 && executor == nullptr;  // a refused call writes nothing
  CHECK(aclnnSoftmaxGetWorkspaceSize(x.get(), 0, x.get(), &size, &executor));
  CHECK(aclnnSoftmax(nullptr, size, executor, host.stream()));
  ok &= refused("an executor that has run", aclnnSoftmax(nullptr, size, executor, host.stream()),
                ACLNN_ERR_PARAM_INVALID);
  void *memory = nullptr;
  ok &= refused("no size", aclrtMalloc(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtSynchronizeStream(host.stream()));
  std::printf(ok ? "all as expected\n" : "something was not as expected\n");
  return ok ? 0 : 1;
}
