/*!
 * \file settling.cc
 * \brief Waits for work, asks the library what failed, and follows that to all that is lost.
 */
#include "acc/device/settling.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "acc/device/accelerator.h"
#include "acc/device/device.h"

namespace mxnet {
namespace acc {
namespace {

using Locks = std::vector<std::unique_lock<std::mutex>>;

/*! \brief A failure that the library has told. */
struct Told {
  Device* device;
  uint64_t work; /*!< 0 where it does not say of which; then it may be any of the device's */
  FailureRef failure;
};

/*! \brief Waits for a device, and has the library tell all that failed. */
void Ask(Device* device, std::vector<Told>* told) {
  const MXAccApi& api = device->api();
  WorkLog* log = device->log();
  while (true) {
    MXAccStatus status;
    {
      DeviceCall call(device);
      status = api.syncStream(api.self, device->id(), device->stream());
    }
    if (status == nullptr) return;
    const uint64_t number = WorkOf(status);
    const std::lock_guard<std::mutex> lock(log->mutex());
    const WorkLog::Work* work = log->Find(number);
    const std::string name = work != nullptr ? work->name : log->Names();
    const bool is_new = std::none_of(told->begin(), told->end(),
                                     [&](const Told& other) { return other.work == number; });
    const bool is_known = work != nullptr && is_new;
    const Error error = ErrorOf(status, device->name(), name.c_str());
    told->push_back({device, is_known ? number : 0, std::make_shared<WorkFailure>(error)});
    if (!is_known) return;
  }
}

/*! \brief The devices of an accelerator that have streams, in order. */
std::vector<Device*> StreamDevices(Accelerator* accelerator) {
  std::vector<Device*> devices;
  for (int id = 0; id < accelerator->num_devices(); ++id) {
    if (accelerator->device(id)->stream() != nullptr) devices.push_back(accelerator->device(id));
  }
  return devices;
}

Locks LockLogs(const std::vector<Device*>& devices) {
  Locks locks;
  for (Device* device : devices) locks.emplace_back(device->log()->mutex());
  return locks;
}

/*! \brief The reported failures by the number of the work that failed; not what is lost because its
 * input is. */
using Failures = std::unordered_map<uint64_t, FailureRef>;

Failures FailuresOf(const std::vector<Told>& told) {
  Failures failures;
  for (const Told& one : told) {
    if (one.work != 0) failures[one.work] = one.failure;
  }
  for (const Told& one : told) {
    if (one.work != 0) continue;
    for (const WorkLog::Work& work : one.device->log()->works()) {
      failures.emplace(work.number, one.failure);
    }
  }
  return failures;
}

/*! \brief Why the result of work is lost: the failure of the first input that is lost, else the
 * work's own failure; NULL where the result is there. */
FailureRef CauseOf(const WorkLog::Work& work, const Failures& lost, const Failures& own) {
  for (uint64_t read : work.reads) {
    const auto found = lost.find(read);
    if (found != lost.end()) return found->second;
  }
  const auto found = own.find(work.number);
  return found == own.end() ? nullptr : found->second;
}

/*! \brief Marks all results that are lost: those of failed work, and of all work that reads them,
 * on any device. The logs are locked. */
void Spread(const std::vector<Device*>& devices, const std::vector<Told>& told) {
  std::vector<WorkLog::Work*> works;
  for (Device* device : devices) {
    for (WorkLog::Work& work : device->log()->works()) works.push_back(&work);
  }
  // By number, because work always has a higher number than the work whose results it reads.
  std::stable_sort(works.begin(), works.end(), [](const WorkLog::Work* a, const WorkLog::Work* b) {
    return a->number < b->number;
  });
  const Failures own = FailuresOf(told);
  Failures lost;
  for (WorkLog::Work* work : works) {
    if (work->failure == nullptr) work->failure = CauseOf(*work, lost, own);
    if (work->failure == nullptr) continue;
    lost[work->number] = work->failure;
    // Where other work has written to the memory since, the failure of that one counts.
    if (work->target->work == work->number) work->target->failure = work->failure;
  }
}

/*! \brief A device, and the number of the last work on it that is waited for. */
struct Turn {
  Device* device;
  uint64_t last;
};

/*! \brief Waits for the work of several devices, reports what failed, and drops it from the logs.
 * Devices that read one another's results are given together. */
void SettleAll(Accelerator* accelerator, const std::vector<Turn>& turns) {
  std::vector<Told> told;
  for (const Turn& turn : turns) Ask(turn.device, &told);
  if (told.empty()) {
    for (const Turn& turn : turns) {
      const std::lock_guard<std::mutex> lock(turn.device->log()->mutex());
      turn.device->log()->DropUntil(turn.last);
    }
    return;
  }
  const std::vector<Device*> devices = StreamDevices(accelerator);
  const Locks locks = LockLogs(devices);
  Spread(devices, told);
  for (const Told& one : told) {
    // Where nothing else refers to a failure, the work failed because its input was lost: that is
    // told already, and nothing more is lost.
    if (one.failure.use_count() > 1) accelerator->untold()->Add(one.failure);
  }
  for (const Turn& turn : turns) turn.device->log()->DropUntil(turn.last);
}

/*! \brief Settles one device; false where its work reads results of other devices, which then have
 * to be settled together. */
bool TrySettleAlone(Device* device, bool even_idle) {
  const std::lock_guard<std::mutex> one_at_a_time(device->settling());
  uint64_t last = 0;
  {
    WorkLog* log = device->log();
    const std::lock_guard<std::mutex> lock(log->mutex());
    if (log->empty() && !even_idle) return true;
    if (log->is_tied()) return false;
    if (!log->empty()) last = log->last();
  }
  SettleAll(device->accelerator(), {{device, last}});
  return true;
}

/*! \brief Settles all devices of an accelerator, whose work may read one another's results. */
void SettleTogether(Accelerator* accelerator) {
  const std::vector<Device*> devices = StreamDevices(accelerator);
  Locks one_at_a_time;
  for (Device* device : devices) one_at_a_time.emplace_back(device->settling());
  std::vector<Turn> turns;
  {
    // With all logs locked, so that the list has, with work that reads another device's results,
    // also the work that writes them.
    const Locks locks = LockLogs(devices);
    for (Device* device : devices) {
      if (!device->log()->empty()) turns.push_back({device, device->log()->last()});
    }
  }
  SettleAll(accelerator, turns);
}

}  // namespace

void Settle(Device* device) {
  if (!TrySettleAlone(device, false)) SettleTogether(device->accelerator());
}

void SettleEvenIdle(Device* device) {
  if (!TrySettleAlone(device, true)) SettleTogether(device->accelerator());
}

void UntoldFailures::Add(FailureRef failure) {
  const std::lock_guard<std::mutex> lock(mutex_);
  failures_.erase(std::remove_if(failures_.begin(), failures_.end(),
                                 [](const FailureRef& one) { return one->was_told(); }),
                  failures_.end());
  if (failures_.size() < kMost) failures_.push_back(std::move(failure));
}

std::vector<FailureRef> UntoldFailures::Take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<FailureRef> untold;
  for (FailureRef& failure : failures_) {
    if (!failure->Tell()) untold.push_back(std::move(failure));
  }
  failures_.clear();
  return untold;
}

}  // namespace acc
}  // namespace mxnet
