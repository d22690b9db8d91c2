/*!
 * \file stats.h
 * \brief Where operators were executed, how often, and the time and copies it took.
 */
#ifndef MXNET_SRC_ACC_DEVICE_STATS_H_
#define MXNET_SRC_ACC_DEVICE_STATS_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "acc/sync/counter.h"

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

/*! \brief Adds the time of its life to a counter. */
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

/*! \brief Counts and costs of the calls of one operator on one accelerator. */
class OperatorStats {
 public:
  explicit OperatorStats(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  void CountRun() { on_accelerator_.Add(); }
  /*! \brief Counts calls on the CPU; true for the first ones of this operator. */
  bool CountFallback(const std::string& reason, uint64_t count = 1);
  void AddCost(const CallCost& cost);

  /*! \brief Why calls were on the CPU, and how many for each reason, in the order they came. */
  using Reasons = std::vector<std::pair<std::string, uint64_t>>;
  struct Figures {
    uint64_t on_accelerator;
    uint64_t on_cpu;
    CallCost cost;
    Reasons reasons;
  };
  Figures Read() const;
  void Reset();

 private:
  const std::string name_;
  Counter on_accelerator_;
  mutable std::mutex mutex_;
  uint64_t on_cpu_{0};
  CallCost cost_;
  Reasons reasons_;

  /*! \brief Reasons may differ by shape: beyond this number they are counted together.
   */
  static constexpr size_t kMostReasons = 32;
};

/*! \brief An operator's name as accelerators have it, without its prefix: "add". */
inline std::string OperatorName(const std::string& registered) {
  return registered.substr(registered.rfind('.') + 1);
}

/*! \brief The operators that were called on an accelerator. Any thread may call. */
class Stats {
 public:
  /*! \brief The stats of an operator, which live as long as the accelerator. */
  OperatorStats* Of(const char* name);
  /*! \brief By name. */
  std::vector<OperatorStats*> All();
  /*! \brief Names of the operators that ran on the CPU, in one text. */
  std::string NamesOnCpu();

 private:
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<OperatorStats>, std::less<>> operators_;
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_DEVICE_STATS_H_
