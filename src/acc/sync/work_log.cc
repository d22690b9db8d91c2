/*!
 * \file work_log.cc
 * \brief Finding work by its number.
 */
#include "acc/sync/work_log.h"

namespace mxnet {
namespace acc {

std::atomic<uint64_t> WorkLog::last_number_{0};

void WorkFailure::Throw() {
  Tell();
  throw runtime::Error(kind_, message_);
}

void WorkLog::Grow(size_t entries) {
  works_.reserve(std::max(works_.size() + entries, 2 * works_.capacity()));
}

const WorkLog::Work* WorkLog::Find(uint64_t number) const {
  const auto found =
      std::lower_bound(works_.begin(), works_.end(), number,
                       [](const Work& work, uint64_t wanted) { return work.number < wanted; });
  return found == works_.end() || found->number != number ? nullptr : &*found;
}

std::string WorkLog::Names() const {
  constexpr size_t kMostNames = 8;
  std::vector<std::string> names;
  for (const Work& work : works_) {
    if (std::find(names.begin(), names.end(), work.name) == names.end()) names.push_back(work.name);
  }
  if (names.size() == 1) return names[0];
  std::string text = "one of ";
  for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return text + (names.size() > kMostNames ? " and others" : "");
}

void WorkLog::DropUntil(uint64_t number) {
  auto end = works_.begin();
  while (end != works_.end() && end->number <= number) ++end;
  works_.erase(works_.begin(), end);
}

}  // namespace acc
}  // namespace mxnet
