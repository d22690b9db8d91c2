/*!
 * \file mxnet/runtime/entrance.h
 * \brief Entrance: threads enter an interpreter until it begins to end.
 */
#ifndef MXNET_RUNTIME_ENTRANCE_H_
#define MXNET_RUNTIME_ENTRANCE_H_

#include <mxnet/runtime/c_runtime_api.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace mxnet {
namespace runtime {

/*!
 * \brief What threads that an interpreter does not know go through to enter it.
 *
 * To ask first whether it is ending is not enough: a thread may be held up between the answer and
 * its entry, and find nothing to enter. So Close() waits for those that are in between, and a while
 * for those inside, which the end of the interpreter would end in the middle of what they do.
 */
class MXNET_HIDDEN Entrance {
 public:
  /*! \brief Runs enter() and stay(), which leaves at its end, unless closed; says whether it did.
   */
  template <typename Enter, typename Stay>
  bool Visit(Enter&& enter, Stay&& stay) {
    // Close() waits until nobody enters: those that go on trying may not count.
    if (is_closed_) return false;
    ++entering_;
    if (is_closed_) {
      --entering_;
      return false;
    }
    ++inside_;
    enter();
    --entering_;
    stay();
    --inside_;
    return true;
  }

  /*!
   * \brief Lets nobody enter any more, and waits for who is inside, but no longer than `most`.
   *
   * Nobody who enters may need what the caller holds.
   */
  void Close(std::chrono::milliseconds most = std::chrono::milliseconds(1000)) {
    is_closed_ = true;
    while (entering_ > 0) std::this_thread::sleep_for(kMoment);
    const auto end = std::chrono::steady_clock::now() + most;
    while (inside_ > 0 && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(kMoment);
    }
  }

  /*! \brief The one of this library; open. */
  static Entrance* Global() {
    // Leaked on purpose: threads go on while static destructors run.
    static Entrance* entrance = [] {
      // The child has none of the other threads.
      pthread_atfork(nullptr, nullptr, [] { Global()->entering_ = Global()->inside_ = 0; });
      return new Entrance();
    }();
    return entrance;
  }

 private:
  static constexpr std::chrono::microseconds kMoment{100};

  std::atomic<int> entering_{0};
  std::atomic<int> inside_{0};
  std::atomic<bool> is_closed_{false};
};

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_ENTRANCE_H_
