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

#include "blas.h"
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
  Memory memory;
  std::atomic<bool> allows_tf32{false};
  std::atomic<uint64_t> gemms{0}; /*!< products that cuBLAS has done */

  /*! \brief The stream of calls without one. The device is the thread's. */
  StreamHandle stream();
  bool is_in_use() const { return stream_.load(std::memory_order_acquire) != nullptr; }
  /*! \brief Runs body(Blas&), one at a time; false where there is no cuBLAS. */
  template <typename Body>
  bool WithBlas(Body&& body) {
    if (!BlasLibrary::Get().reason().empty()) return false;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (blas_ == nullptr) blas_ = std::make_unique<Blas>();
    body(*blas_);
    return true;
  }

 private:
  std::atomic<StreamHandle> stream_{nullptr};
  std::mutex mutex_;
  std::unique_ptr<Blas> blas_;
};

}  // namespace cudaacc

#endif  // CUDAACC_DEVICE_H_
