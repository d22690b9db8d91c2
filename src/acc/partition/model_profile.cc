/*!
 * \file model_profile.cc
 * \brief Calls of the library's profile, and the sink for its records.
 */
#include "acc/partition/model_profile.h"

#include <algorithm>
#include <utility>

#include "acc/plugin/status.h"

namespace mxnet {
namespace acc {
namespace {

std::mutex& OneProfiling() {
  static std::mutex one;
  return one;
}

}  // namespace

/*! \brief Any thread may give it records. */
class Profiling::Collector {
 public:
  static void Take(void* context, const MXAccProfileRecord* record) {
    if (context == nullptr || record == nullptr || !MXNET_ACC_HAS(*record, end_ns)) return;
    auto* self = static_cast<Collector*>(context);
    WorkRecord read{TextOf(record->name), record->node, record->work, record->begin_ns,
                    record->end_ns};
    const std::lock_guard<std::mutex> lock(self->mutex_);
    self->records_.push_back(std::move(read));
  }
  std::vector<WorkRecord> TakeAll() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::move(records_);
  }

 private:
  std::mutex mutex_;
  std::vector<WorkRecord> records_;
};

bool Profiling::Call(MXAccProfileSink sink) {
  const MXAccApi& api = device_->api();
  DeviceCall lock(device_);
  try {
    return WasDone(api.profile(api.self, device_->id(), sink, collector_.get()), device_->name(),
                   "profile");
  } catch (const Error& error) {
    problem_ = error.message();
    return false;
  }
}

Profiling::Profiling(Device* device) : device_(device), one_(OneProfiling()) {
  if (device->api().profile == nullptr) return;
  device->Settle();  // so that no record of other work is late
  collector_ = std::make_unique<Collector>();
  if (!Call(&Collector::Take)) collector_.reset();
}

std::vector<WorkRecord> Profiling::End(uint64_t work) {
  if (collector_ == nullptr) return {};
  const bool has_ended = Call(nullptr);
  std::vector<WorkRecord> records = collector_->TakeAll();
  // A library that has not ended may go on giving it records.
  if (!has_ended) (void)collector_.release();
  collector_.reset();
  records.erase(std::remove_if(records.begin(), records.end(),
                               [&](const WorkRecord& record) {
                                 return record.work != 0 && record.work != work;
                               }),
                records.end());
  std::stable_sort(records.begin(), records.end(), [](const WorkRecord& a, const WorkRecord& b) {
    return a.begin_ns < b.begin_ns;
  });
  return records;
}

Profiling::~Profiling() {
  if (collector_ != nullptr) (void)End(0);
}

}  // namespace acc
}  // namespace mxnet
