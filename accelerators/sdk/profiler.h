/*!
 * \file profiler.h
 * \brief Tells MXNet of work that was done, for as long as it wants to know.
 */
#ifndef MXACC_SDK_PROFILER_H_
#define MXACC_SDK_PROFILER_H_

#include <mxnet_acc.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

namespace mxacc {

/*! \brief Of one device. Any thread may call. */
class Profiler {
 public:
  /*! \brief What the member profile does: none is told any more once sink was set to NULL. */
  void Set(MXAccProfileSink sink, void* context) {
    const std::lock_guard<std::mutex> lock(mutex_);
    sink_ = sink;
    context_ = context;
    is_on_.store(sink != nullptr, std::memory_order_release);
  }
  bool is_on() const { return is_on_.load(std::memory_order_acquire); }

  /*! \brief Of CLOCK_MONOTONIC. */
  static int64_t Now() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  }
  /*! \brief Tells of work that began then and ends now. */
  void Tell(const char* name, int64_t node, uint64_t work, MXAccStream stream, int64_t begin_ns) {
    const MXAccProfileRecord record{sizeof(record), name, node, work, stream, begin_ns, Now()};
    const std::lock_guard<std::mutex> lock(mutex_);
    if (sink_ != nullptr) sink_(context_, &record);
  }

 private:
  std::atomic<bool> is_on_{false};
  std::mutex mutex_; /*!< held around calls of the sink */
  MXAccProfileSink sink_{nullptr};
  void* context_{nullptr};
};

}  // namespace mxacc

#endif  // MXACC_SDK_PROFILER_H_
