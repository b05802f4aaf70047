// SPDX-License-Identifier: Apache-2.0
// Threads inherit no context: each sets the device, has a stream of its own, and plans for itself.
#include <atomic>
#include <thread>

#include "aclnnop/aclnn_softmax.h"
#include "host.h"

static void work(std::atomic<int> *right) {
  aclrtContext context = nullptr;
  CHECK(aclrtCreateContext(&context, 0));
  aclrtStream stream = nullptr;
  CHECK(aclrtCreateStream(&stream));
  {
    const Tensor x({4, 8}, std::vector<float>(32, 2.5F));
    const Tensor y({4, 8}, ACL_FLOAT);
    for (int i = 0; i < 100; i++) {
      uint64_t size = 0;
      aclOpExecutor *executor = nullptr;
      CHECK(aclnnSoftmaxGetWorkspaceSize(x.get(), 1, y.get(), &size, &executor));
      CHECK(aclnnSoftmax(nullptr, size, executor, stream));
    }
    CHECK(aclrtSynchronizeStream(stream));
    bool all = true;
    for (const float value : y.read(32)) all &= value == 0.125F;
    if (all) (*right)++;
  }
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtDestroyContext(context));
}

int main() {
  const Host host;
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) threads.emplace_back(work, &right);
  for (std::thread &thread : threads) thread.join();
  std::printf("%d of 4 threads have the right result\n", right.load());
  return right == 4 ? 0 : 1;
}
