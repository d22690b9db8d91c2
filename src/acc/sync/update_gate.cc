/*!
 * \file update_gate.cc
 * \brief Waiting at the gate.
 */
#include "acc/sync/update_gate.h"

#include <mxnet/runtime/error.h>
#include <mxnet/runtime/signals.h>

#include <chrono>

namespace mxnet {
namespace acc {
namespace {

constexpr std::chrono::milliseconds kSlice{100};

}  // namespace

template <typename Condition>
void UpdateGate::Wait(std::unique_lock<std::mutex>* lock, const Condition& condition) {
  // By the system clock, because ThreadSanitizer does not know waits by the steady clock.
  while (!changed_.wait_until(*lock, std::chrono::system_clock::now() + kSlice, condition)) {
    lock->unlock();
    runtime::CheckSignals();
    lock->lock();
  }
}

void UpdateGate::WaitToEnter() {
  // The one waits for what this thread is in the middle of.
  if (inside_.ReadOwn() > 1) return;
  do {
    Leave();
    std::unique_lock<std::mutex> lock(mutex_);
    Wait(&lock, [this] { return !is_closed_.load(); });
    inside_.Enter();
  } while (is_closed_.load());
}

void UpdateGate::Notify() {
  const std::lock_guard<std::mutex> lock(mutex_);
  changed_.notify_all();
}

UpdateGate::Alone::Alone(UpdateGate* gate) : gate_(gate) {
  if (gate->inside_.ReadOwn() != 0) {
    MXNET_THROW("RuntimeError")
        << "this thread is in the middle of a call that would be waited for";
  }
  std::unique_lock<std::mutex> lock(gate->mutex_);
  gate->Wait(&lock, [gate] { return !gate->is_closed_.load(); });
  gate->is_closed_.store(true);
  try {
    gate->Wait(&lock, [gate] { return gate->inside_.Read() == 0; });
  } catch (...) {  // without the lock
    gate->is_closed_.store(false);
    gate->Notify();
    throw;
  }
}

UpdateGate::Alone::~Alone() {
  gate_->is_closed_.store(false);
  gate_->Notify();
}

}  // namespace acc
}  // namespace mxnet
