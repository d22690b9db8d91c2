/*!
 * \file update_gate.h
 * \brief Keeps calls that read something apart from those that change it.
 */
#ifndef MXNET_SRC_ACC_SYNC_UPDATE_GATE_H_
#define MXNET_SRC_ACC_SYNC_UPDATE_GATE_H_

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace mxnet {
namespace acc {

/*!
 * \brief Any number of threads are inside, or one alone, which those that come later wait for.
 *
 * Unlike std::shared_mutex it lets the one in though others come all the time, and Ctrl-C ends
 * waiting.
 */
class UpdateGate {
 public:
  UpdateGate() = default;
  UpdateGate(const UpdateGate&) = delete;
  UpdateGate& operator=(const UpdateGate&) = delete;

  /*! \brief Inside beside others. A thread that is inside must not come in again. */
  class Shared {
   public:
    explicit Shared(UpdateGate* gate) : gate_(gate) {
      gate->inside_.fetch_add(1);
      if (__builtin_expect(gate->is_closed_.load(), 0)) gate->WaitToEnter();
    }
    ~Shared() { gate_->Leave(); }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;

   private:
    UpdateGate* gate_;
  };

  /*! \brief Inside alone. */
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
    if (inside_.fetch_sub(1) == 1 && __builtin_expect(is_closed_.load(), 0)) Notify();
  }
  void Notify();
  template <typename Condition>
  void Wait(std::unique_lock<std::mutex>* lock, const Condition& condition);

  std::atomic<int> inside_{0};
  std::atomic<bool> is_closed_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_SYNC_UPDATE_GATE_H_
