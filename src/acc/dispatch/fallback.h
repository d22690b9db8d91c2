/*!
 * \file fallback.h
 * \brief Where operators were carried out, and what happens where an accelerator has none.
 */
#ifndef MXNET_SRC_ACC_DISPATCH_FALLBACK_H_
#define MXNET_SRC_ACC_DISPATCH_FALLBACK_H_

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "acc/dispatch/call_cost.h"
#include "acc/sync/tally.h"

namespace mxnet {
namespace acc {

/*! \brief What to do with an operator that an accelerator does not carry out. */
enum class FallbackMode {
  kAuto,  /*!< carry it out on the CPU, with copies */
  kWhole, /*!< ask no accelerator for any operator */
  kError  /*!< NotImplementedError */
};

extern std::atomic<FallbackMode> fallback_mode;

/*! \brief What has become of the calls of one operator on one accelerator. */
class OperatorStats {
 public:
  explicit OperatorStats(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  void CountRun() { on_accelerator_.Add(); }
  /*! \brief Counts a call on the CPU; true for the first of this operator. */
  bool CountFallback(const std::string& reason);
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
  Tally on_accelerator_;
  mutable std::mutex mutex_;
  uint64_t on_cpu_{0};
  CallCost cost_;
  Reasons reasons_;

  /*! \brief Libraries may word one for each shape; further ones are counted together. */
  static constexpr size_t kMostReasons = 32;
};

/*! \brief The operators that were called on an accelerator. Any thread may call. */
class Stats {
 public:
  /*! \brief Those of an operator, which stay as long as the accelerator. */
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

#endif  // MXNET_SRC_ACC_DISPATCH_FALLBACK_H_
