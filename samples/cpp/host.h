// SPDX-License-Identifier: Apache-2.0
// What the sample programs share: checked calls, a device with a stream, and tensors over device memory.
#ifndef SAMPLES_HOST_H
#define SAMPLES_HOST_H

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

// Ends the program with the runtime's own words where a call fails.
#define CHECK(call)                                                                               \
  do {                                                                                            \
    const int status_ = (call);                                                                   \
    if (status_ != 0) {                                                                           \
      const char *text_ = aclGetRecentErrMsg();                                                   \
      std::fprintf(stderr, "%s: status %d\n%s\n", #call, status_, text_ == nullptr ? "" : text_); \
      std::exit(1);                                                                               \
    }                                                                                             \
  } while (0)

// aclInit to aclFinalize, with device 0 and one stream.
class Host {
 public:
  Host() {
    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream_));
  }
  ~Host() {
    CHECK(aclrtDestroyStream(stream_));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
  }
  Host(const Host &) = delete;
  Host &operator=(const Host &) = delete;

  aclrtStream stream() const { return stream_; }

 private:
  aclrtStream stream_ = nullptr;
};

// Device memory that is freed at the end of its scope.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : bytes_(bytes) {
    if (bytes > 0) CHECK(aclrtMalloc(&address_, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  }
  ~Memory() {
    if (address_ != nullptr) CHECK(aclrtFree(address_));
  }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  void *get() const { return address_; }
  void upload(const void *from) const { CHECK(aclrtMemcpy(address_, bytes_, from, bytes_, ACL_MEMCPY_HOST_TO_DEVICE)); }
  void download(void *to) const { CHECK(aclrtMemcpy(to, bytes_, address_, bytes_, ACL_MEMCPY_DEVICE_TO_HOST)); }

 private:
  void *address_ = nullptr;
  std::size_t bytes_;
};

inline std::int64_t count(const std::vector<std::int64_t> &shape) {
  std::int64_t product = 1;
  for (const std::int64_t size : shape) product *= size;
  return product;
}

inline std::vector<std::int64_t> row_major(const std::vector<std::int64_t> &shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

// A dense tensor with memory of its own.
class Tensor {
 public:
  Tensor(const std::vector<std::int64_t> &shape, aclDataType dtype)
      : memory_(static_cast<std::size_t>(count(shape)) * aclDataTypeSize(dtype)) {
    const std::vector<std::int64_t> strides = row_major(shape);
    handle_ = aclCreateTensor(shape.data(), shape.size(), dtype, strides.data(), 0, ACL_FORMAT_ND, shape.data(),
                              shape.size(), memory_.get());
  }
  Tensor(const std::vector<std::int64_t> &shape, const std::vector<float> &values) : Tensor(shape, ACL_FLOAT) {
    memory_.upload(values.data());
  }
  ~Tensor() { CHECK(aclDestroyTensor(handle_)); }
  Tensor(const Tensor &) = delete;
  Tensor &operator=(const Tensor &) = delete;

  aclTensor *get() const { return handle_; }
  void *data() const { return memory_.get(); }
  std::vector<float> read(std::size_t elements) const {
    std::vector<float> values(elements);
    memory_.download(values.data());
    return values;
  }

 private:
  Memory memory_;
  aclTensor *handle_ = nullptr;
};

// Both phases and the wait: `plan` fills in size and executor, `run` enqueues.
template <typename Plan, typename Run>
void two_phases(const Host &host, const Plan &plan, const Run &run) {
  std::uint64_t size = 0;
  aclOpExecutor *executor = nullptr;
  CHECK(plan(&size, &executor));
  const Memory workspace(size);
  CHECK(run(workspace.get(), size, executor, host.stream()));
  CHECK(aclrtSynchronizeStream(host.stream()));
}

inline void print(const char *name, const std::vector<float> &values) {
  std::printf("%s:", name);
  for (const float value : values) std::printf(" %.6f", static_cast<double>(value));
  std::printf("\n");
}

// The largest distance of `got` from `expected`; the program fails when it is above `bound`.
inline void expect_near(const std::vector<float> &got, const std::vector<double> &expected, double bound) {
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); i++) worst = std::fmax(worst, std::fabs(got[i] - expected[i]));
  std::printf("largest error %.2e (bound %.0e)\n", worst, bound);
  if (!(worst <= bound)) std::exit(1);
}

#endif
