// SPDX-License-Identifier: Apache-2.0
// Callbacks in stream order: a thread subscribes, and calls what the stream reaches. Callbacks never call the runtime.
#include <pthread.h>

#include <atomic>
#include <thread>

#include "aclnnop/aclnn_softmax.h"
#include "host.h"

// A thread that processes reports until it is told to stop.
class Reporter {
 public:
  explicit Reporter(aclrtContext context) : thread_([this, context] { loop(context); }) {}
  ~Reporter() {
    stop_ = true;
    thread_.join();
  }
  Reporter(const Reporter &) = delete;
  Reporter &operator=(const Reporter &) = delete;

  // A number that names the thread to the runtime: its pthread id.
  uint64_t id() { return static_cast<uint64_t>(thread_.native_handle()); }

 private:
  void loop(aclrtContext context) {
    CHECK(aclrtSetCurrentContext(context));
    // A status other than 0 is nothing to report, or not subscribed yet.
    while (!stop_) {
      if (aclrtProcessReport(10) != ACL_SUCCESS) std::this_thread::yield();
    }
  }

  std::atomic<bool> stop_{false};
  std::thread thread_;
};

struct Seen {
  std::atomic<int> calls{0};
  int order[2] = {0, 0};
};

static void first(void *data) {
  auto *seen = static_cast<Seen *>(data);
  seen->order[0] = ++seen->calls;
}
static void second(void *data) {
  auto *seen = static_cast<Seen *>(data);
  seen->order[1] = ++seen->calls;
}

int main() {
  const Host host;
  aclrtContext context = nullptr;
  CHECK(aclrtGetCurrentContext(&context));
  Seen seen;
  {
    Reporter reporter(context);
    CHECK(aclrtSubscribeReport(reporter.id(), host.stream()));
    const Tensor x({2, 3}, std::vector<float>{1, 2, 3, 0, 0, 5});
    const Tensor y({2, 3}, ACL_FLOAT);
    CHECK(aclrtLaunchCallback(first, &seen, ACL_CALLBACK_BLOCK, host.stream()));
    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    CHECK(aclnnSoftmaxGetWorkspaceSize(x.get(), -1, y.get(), &size, &executor));
    const Memory workspace(size);
    CHECK(aclnnSoftmax(workspace.get(), size, executor, host.stream()));
    CHECK(aclrtLaunchCallback(second, &seen, ACL_CALLBACK_BLOCK, host.stream()));
    CHECK(aclrtSynchronizeStream(host.stream()));
    CHECK(aclrtUnSubscribeReport(reporter.id(), host.stream()));
  }
  std::printf("%d callbacks, the first as number %d, the second as number %d\n", seen.calls.load(), seen.order[0],
              seen.order[1]);
  return seen.order[0] == 1 && seen.order[1] == 2 ? 0 : 1;
}
