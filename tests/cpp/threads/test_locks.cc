// Locks that are cheap for the thread that made them, while others come, are interrupted and fail.
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../support.h"
#include "acc/sync/biased_lock.h"
#include "acc/sync/update_gate.h"

using namespace mxnet;       // NOLINT: the subject of the test
using namespace mxnet::acc;  // NOLINT

namespace {

constexpr int kThreads = 8;
constexpr int kUpdates = 200;

/*! \brief Two numbers that are the same whenever somebody may look. */
struct Pair {
  int first{0};
  int second{0};
};

std::atomic<bool> is_interrupted{false};

/*! \brief What an error ends that waits on the main thread, as Ctrl-C does. */
template <typename Body>
std::string Interrupted(Body&& body) {
  const runtime::PackedFunc check(runtime::details::PackTyped([] {
    if (is_interrupted.load()) throw runtime::Error("KeyboardInterrupt", "");
  }));
  MXNET_CHECK_CALL(MXNetFuncRegisterGlobal("ffi.check_signals", check.get(), 1));
  is_interrupted = true;
  const std::string error = tests::ErrorOf(body);
  is_interrupted = false;
  return error;
}

/*! \brief Looks at a pair beside others until told to stop, and ends every third time by a throw.
 */
void Look(UpdateGate* gate, const Pair& pair, const std::atomic<bool>& is_over,
          std::atomic<int>* wrong) {
  int last = 0;
  for (int i = 0; !is_over.load() || i < kUpdates; ++i) {
    try {
      const UpdateGate::Shared inside(gate);
      const int first = pair.first;
      if (i % 16 == 0) std::this_thread::yield();
      if (first != pair.second || first < last) ++*wrong;
      last = first;
      if (i % 3 == 0) throw std::runtime_error("as a run may");
    } catch (const std::runtime_error&) {
    }
  }
}

void Change(UpdateGate* gate, Pair* pair) {
  const UpdateGate::Alone inside(gate);
  ++pair->first;
  std::this_thread::yield();
  ++pair->second;
}

void Join(std::vector<std::thread>* threads) {
  for (std::thread& thread : *threads) thread.join();
}

}  // namespace

TEST_CASE("runs and updates do not meet") {
  // Updates come from another thread than the gate's, from its own, and from two at once.
  for (const bool from_others : {true, false}) {
    UpdateGate gate;
    Pair pair;
    std::atomic<bool> is_over{false};
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    std::vector<std::thread> updating;
    const auto update = [&] {
      for (int i = 0; i < kUpdates; ++i) Change(&gate, &pair);
    };
    for (int i = 1; i < kThreads; ++i) {
      threads.emplace_back([&] { Look(&gate, pair, is_over, &wrong); });
    }
    updating.emplace_back(update);
    if (from_others) updating.emplace_back(update);
    if (from_others) {
      std::thread waits([&] {
        Join(&updating);
        is_over = true;
      });
      Look(&gate, pair, is_over, &wrong);
      waits.join();
    } else {
      update();
      Join(&updating);
      is_over = true;
    }
    Join(&threads);
    CHECK(wrong == 0);
    CHECK(pair.first == 2 * kUpdates);
    CHECK(pair.second == 2 * kUpdates);
  }
}

TEST_CASE("a gate outlives the thread that made it") {
  Pair pair;
  std::unique_ptr<UpdateGate> gate;
  std::thread([&] {
    gate = std::make_unique<UpdateGate>();
    const UpdateGate::Shared inside(gate.get());
  }).join();
  // The next thread may have the identity of that one.
  std::thread([&] {
    {
      const UpdateGate::Shared inside(gate.get());
    }
    Change(gate.get(), &pair);
  }).join();
  Change(gate.get(), &pair);
  CHECK(pair.second == 2);
}

TEST_CASE("waiting at a gate is interrupted") {
  for (const bool is_maker_inside : {true, false}) {
    std::unique_ptr<UpdateGate> gate;
    std::atomic<bool> is_inside{false};
    std::atomic<bool> may_leave{false};
    const auto make = [&] { gate = std::make_unique<UpdateGate>(); };
    if (!is_maker_inside) make();
    std::thread runs([&] {
      if (is_maker_inside) make();
      const UpdateGate::Shared inside(gate.get());
      is_inside = true;
      while (!may_leave.load()) std::this_thread::yield();
    });
    while (!is_inside.load()) std::this_thread::yield();
    Pair pair;
    CHECK(Interrupted([&] { Change(gate.get(), &pair); }) == "KeyboardInterrupt: ");
    CHECK(pair.first == 0);
    {
      const UpdateGate::Shared inside(gate.get());
    }  // which is open again
    may_leave = true;
    runs.join();
    Change(gate.get(), &pair);
    CHECK(pair.second == 1);
  }
}

TEST_CASE("the thread that made a gate comes in again") {
  UpdateGate gate;
  Pair pair;
  std::thread updates;
  {
    const UpdateGate::Shared inside(&gate);
    updates = std::thread([&] { Change(&gate, &pair); });
    for (int i = 0; i < 20; ++i) {  // before that waits, and while it does
      const UpdateGate::Shared again(&gate);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      CHECK(pair.first == 0);
    }
    const std::string error = tests::ErrorOf([&] { Change(&gate, &pair); });
    CHECK(error == "RuntimeError: this thread is in the middle of a call that would be waited for");
  }
  updates.join();
  CHECK(pair.second == 1);
}

TEST_CASE("a biased lock is held by one thread at a time") {
  for (int round = 0; round < 20; ++round) {
    BiasedLock lock;
    Pair pair;
    const auto change = [&] {
      for (int i = 0; i < kUpdates; ++i) {
        const BiasedLock::Guard guard(&lock);
        ++pair.first;
        pair.second += pair.first == pair.second + 1 ? 1 : 0;
      }
    };
    std::vector<std::thread> threads;
    for (int i = 1; i < kThreads; ++i) threads.emplace_back(change);
    change();
    Join(&threads);
    CHECK(pair.first == kThreads * kUpdates);
    CHECK(pair.second == kThreads * kUpdates);
  }
}
