/*!
 * \file call_cost.h
 * \brief What a call costs beyond the work of an accelerator.
 */
#ifndef MXNET_SRC_ACC_DISPATCH_CALL_COST_H_
#define MXNET_SRC_ACC_DISPATCH_CALL_COST_H_

#include <chrono>
#include <cstdint>

namespace mxnet {
namespace acc {

/*! \brief Bytes copied between the host and devices, and where the time went, in nanoseconds. */
struct CallCost {
  uint64_t bytes{0};
  uint64_t copying{0};
  uint64_t waiting{0};   /*!< for work that the device was given before */
  uint64_t computing{0}; /*!< on the host */

  CallCost& operator+=(const CallCost& other) {
    bytes += other.bytes;
    copying += other.copying;
    waiting += other.waiting;
    computing += other.computing;
    return *this;
  }
};

/*! \brief Adds the time until its end. */
class Timed {
 public:
  explicit Timed(uint64_t* nanoseconds) : nanoseconds_(nanoseconds), start_(Clock::now()) {}
  ~Timed() {
    const auto taken = std::chrono::nanoseconds(Clock::now() - start_);
    *nanoseconds_ += static_cast<uint64_t>(taken.count());
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  uint64_t* nanoseconds_;
  Clock::time_point start_;
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_DISPATCH_CALL_COST_H_
