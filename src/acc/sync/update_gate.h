/*!
 * \file update_gate.h
 * \brief Keeps calls that read something apart from those that change it.
 */
#ifndef MXNET_SRC_ACC_SYNC_UPDATE_GATE_H_
#define MXNET_SRC_ACC_SYNC_UPDATE_GATE_H_

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "acc/sync/counter.h"

namespace mxnet {
namespace acc {

/*!
 * \brief Any number of threads are inside, or one alone, which those that come later wait for.
 *
 * Unlike std::shared_mutex it lets the one in though others come all the time, and Ctrl-C ends
 * waiting. The thread that made it comes in beside others with plain loads and stores.
 *
 * Who comes in counts itself and then looks whether the gate is closed; who leaves does so the
 * other way round. The one closes it and then has all threads pass a barrier: those that were too
 * early to see it closed are counted by then, and those that it still counts will see it and wake
 * it.
 */
class UpdateGate {
 public:
  UpdateGate() = default;
  UpdateGate(const UpdateGate&) = delete;
  UpdateGate& operator=(const UpdateGate&) = delete;

  /*! \brief Inside beside others. The thread that made the gate may come in again while it is, as
   * where a signal's handler uses what the thread that it interrupted uses. */
  class Shared {
   public:
    explicit Shared(UpdateGate* gate) : gate_(gate) {
      gate->inside_.Enter();
      if (__builtin_expect(gate->is_closed_.load(), 0)) gate->WaitToEnter();
    }
    ~Shared() { gate_->Leave(); }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;

   private:
    UpdateGate* gate_;
  };

  /*! \brief Inside alone. RuntimeError where the thread that made the gate is inside already. */
  class Alone {
   public:
    explicit Alone(UpdateGate* gate);
    ~Alone();
    Alone(const Alone&) = delete;
    Alone& operator=(const Alone&) = delete;

   private:
    UpdateGate* gate_;
  };

 private:
  void WaitToEnter();
  void Leave() {
    inside_.Leave();
    if (__builtin_expect(is_closed_.load(), 0)) Notify();
  }
  void Notify();
  template <typename Condition>
  void Wait(std::unique_lock<std::mutex>* lock, const Condition& condition);

  UseCount inside_;
  std::atomic<bool> is_closed_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_SYNC_UPDATE_GATE_H_
