/*!
 * \file stats.cc
 * \brief Counts calls.
 */
#include "acc/device/stats.h"

#include <algorithm>

namespace mxnet {
namespace acc {

bool OperatorStats::CountFallback(const std::string& reason, uint64_t count) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto known = [&](const std::string& text) {
    return std::find_if(reasons_.begin(), reasons_.end(),
                        [&](const auto& entry) { return entry.first == text; });
  };
  auto found = known(reason);
  if (found == reasons_.end()) {
    const bool is_room = reasons_.size() < kMostReasons;
    if (!is_room) found = known("other reasons");
    if (found == reasons_.end()) {
      found = reasons_.insert(found, {is_room ? reason : "other reasons", 0});
    }
  }
  found->second += count;
  on_cpu_ += count;
  return on_cpu_ == count;
}

void OperatorStats::AddCost(const CallCost& cost) {
  std::lock_guard<std::mutex> lock(mutex_);
  cost_ += cost;
}

OperatorStats::Figures OperatorStats::Read() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return {on_accelerator_.Read(), on_cpu_, cost_, reasons_};
}

void OperatorStats::Reset() {
  std::lock_guard<std::mutex> lock(mutex_);
  on_accelerator_.Reset();
  on_cpu_ = 0;
  cost_ = CallCost();
  reasons_.clear();
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
