/*!
 * \file device.h
 * \brief A device with what the library keeps for it.
 */
#ifndef CUDAACC_DEVICE_H_
#define CUDAACC_DEVICE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "../sdk/profiler.h"
#include "../sdk/rate.h"
#include "blas.h"
#include "dnn.h"
#include "memory.h"
#include "runtime.h"

namespace cudaacc {

/*! \brief Any thread may call. A device gets work, and memory of its own, when it is first used. */
class Device {
 public:
  explicit Device(int device_id) : id(device_id), traits(TraitsOf(device_id)) {}
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const int id;
  const DeviceTraits traits;
  const std::string& reason() const { return traits.reason; }
  OnDeviceOf Enter() const { return OnDeviceOf(id); }
  void* Alloc(size_t size, size_t alignment) { return memory.Alloc(size, alignment); }
  Memory memory;
  mxacc::Profiler profiler;
  mxacc::WriteRate write_rate;
  std::atomic<bool> allows_tf32{false};
  std::atomic<uint64_t> gemms{0};     /*!< products that cuBLAS has done */
  std::atomic<uint64_t> softmaxes{0}; /*!< that cuDNN has done */

  /*! \brief The stream that calls without a stream use. The thread's current device has to be this
   * one. */
  StreamHandle stream();
  bool is_in_use() const { return stream_.load(std::memory_order_acquire) != nullptr; }
  /*! \brief Runs body(Blas&), one at a time; false where there is no cuBLAS. */
  template <typename Body>
  bool WithBlas(Body&& body) {
    return With(&blas_, std::forward<Body>(body));
  }
  /*! \brief Runs body(Dnn&), one at a time; false where there is no cuDNN. */
  template <typename Body>
  bool WithDnn(Body&& body) {
    return With(&dnn_, std::forward<Body>(body));
  }

 private:
  template <typename Part, typename Body>
  bool With(std::unique_ptr<Part>* part, Body&& body) {
    if (!Part::Library::Get().reason().empty()) return false;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (*part == nullptr) *part = std::make_unique<Part>();
    body(**part);
    return true;
  }

  std::atomic<StreamHandle> stream_{nullptr};
  std::mutex mutex_;
  std::unique_ptr<Blas> blas_;
  std::unique_ptr<Dnn> dnn_;
};

}  // namespace cudaacc

#endif  // CUDAACC_DEVICE_H_
