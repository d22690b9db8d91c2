/*!
 * \file fallback.cc
 * \brief Counts calls.
 */
#include "acc/fallback.h"

namespace mxnet {
namespace acc {

std::atomic<FallbackMode> fallback_mode{FallbackMode::kAuto};

bool OperatorStats::CountFallback(const std::string& reason) {
  std::lock_guard<std::mutex> lock(mutex_);
  reason_ = reason;
  return ++on_cpu_ == 1;
}

void OperatorStats::CountCopies(const CopyCost& cost) {
  std::lock_guard<std::mutex> lock(mutex_);
  copies_.bytes += cost.bytes;
  copies_.nanoseconds += cost.nanoseconds;
}

OperatorStats::Figures OperatorStats::Read() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return {on_accelerator_.Read(), on_cpu_, copies_, reason_};
}

void OperatorStats::Reset() {
  std::lock_guard<std::mutex> lock(mutex_);
  on_accelerator_.Reset();
  on_cpu_ = 0;
  copies_ = CopyCost();
  reason_.clear();
}

OperatorStats* Stats::Of(const char* name) {
  std::lock_guard<std::mutex> lock(mutex_);
  const std::string own = OperatorName(name);
  std::unique_ptr<OperatorStats>& stats = operators_[own];
  if (stats == nullptr) stats = std::make_unique<OperatorStats>(own);
  return stats.get();
}

std::vector<OperatorStats*> Stats::All() {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<OperatorStats*> all;
  for (const auto& entry : operators_) all.push_back(entry.second.get());
  return all;
}

std::string Stats::NamesOnCpu() {
  std::string names;
  for (const OperatorStats* stats : All()) {
    if (stats->Read().on_cpu == 0) continue;
    names += (names.empty() ? "" : ", ") + stats->name();
  }
  return names;
}

}  // namespace acc
}  // namespace mxnet
