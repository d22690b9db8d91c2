/*!
 * \file rate.h
 * \brief How fast a device is, for what supportedOps says that nodes cost.
 */
#ifndef MXACC_SDK_RATE_H_
#define MXACC_SDK_RATE_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <utility>

#include "status.h"

namespace mxacc {

/*! \brief Bytes that a device writes in a microsecond, measured once, but for what any write takes.
 * Any thread may call. */
class WriteRate {
 public:
  static constexpr size_t kBytes = size_t{1} << 20;

  /*! \brief write(bytes) writes so many and returns when that is done. 0 where it fails. */
  template <typename Write>
  double Get(Write&& write) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (rate_ >= 0) return rate_;
    try {
      const double few = TimeOf([&] { write(kFew); });
      const double many = TimeOf([&] { write(kBytes); });
      rate_ = static_cast<double>(kBytes - kFew) / std::max(many - few, kLeast);
    } catch (const Failure&) {
      rate_ = 0;
    }
    return rate_;
  }

 private:
  static constexpr size_t kFew = 64;
  static constexpr int kTimes = 4;
  /*! \brief Microseconds of kBytes: 1 TB/s. */
  static constexpr double kLeast = 1;

  /*! \brief Microseconds of the fastest of some times. */
  template <typename Write>
  static double TimeOf(Write&& write) {
    using Clock = std::chrono::steady_clock;
    double fastest = 1e9;
    for (int i = 0; i < kTimes; ++i) {
      const auto begin = Clock::now();
      write();
      const std::chrono::duration<double, std::micro> took = Clock::now() - begin;
      fastest = std::min(fastest, took.count());
    }
    return fastest;
  }

  std::mutex mutex_;
  double rate_{-1};
};

/*! \brief MXAccNodeSupport::cost of a node that reads and writes so many bytes, which takes that
 * long at least; 0 for unknown. */
inline float CostOf(double bytes, double rate) {
  return rate <= 0 ? 0.0f : static_cast<float>(std::max(bytes / rate, 1e-3));
}

}  // namespace mxacc

#endif  // MXACC_SDK_RATE_H_
