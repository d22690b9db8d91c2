// Threads of the pool beside others that want the same processors.
#include <sched.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "../support.h"
#include "op/parallel/thread_pool.h"

using namespace mxnet;  // NOLINT: the subject of the test

namespace {

cpu_set_t Allowed() {
  cpu_set_t allowed;
  REQUIRE(sched_getaffinity(0, sizeof(allowed), &allowed) == 0);
  return allowed;
}

/*! \brief The first two of some processors. */
cpu_set_t TwoOf(const cpu_set_t& all) {
  cpu_set_t two;
  CPU_ZERO(&two);
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&two) < 2; ++i) {
    if (CPU_ISSET(i, &all)) CPU_SET(i, &two);
  }
  return two;
}

/*! \brief A loop of two pieces: the second is not done before its processor is another one, on
 * which a third thread computes from then on that it has begun. */
struct Loop {
  std::atomic<int> begun_on{-1};
  std::atomic<bool> is_over{false};
  int done_on{-1};
  int processors{0}; /*!< that the thread of the pool may run on when it begins */

  void First() const {
    while (begun_on.load() < 0) std::this_thread::yield();
  }

  void Second() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    const int before = sched_getcpu();
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) processors = CPU_COUNT(&allowed);
    begun_on = before;
    do {
      done_on = sched_getcpu();
    } while (done_on == before && std::chrono::steady_clock::now() < end);
  }

  void Compete() const {
    while (begun_on.load() < 0 && !is_over.load()) std::this_thread::yield();
    if (is_over.load()) return;
    cpu_set_t there;
    CPU_ZERO(&there);
    CPU_SET(begun_on.load(), &there);
    sched_setaffinity(0, sizeof(there), &there);
    while (!is_over.load()) continue;
  }

  static void Run(const void* self, int64_t begin, int64_t) {
    auto* const loop = static_cast<Loop*>(const_cast<void*>(self));
    begin == 0 ? loop->First() : loop->Second();
  }
};

/*! \brief The pieces of a loop in the order in which they were taken, by one thread at a time. */
struct Taken {
  std::vector<int64_t> begins;

  static void Run(const void* self, int64_t begin, int64_t) {
    static_cast<Taken*>(const_cast<void*>(self))->begins.push_back(begin);
  }
};

/*! \brief How often each item of a loop was done. */
struct Done {
  std::array<std::atomic<int>, 64> times{};

  static void Run(const void* self, int64_t begin, int64_t end) {
    auto* const done = static_cast<Done*>(const_cast<void*>(self));
    for (int64_t item = begin; item < end; ++item) ++done->times[static_cast<size_t>(item)];
  }
};

}  // namespace

TEST_CASE("who takes pieces goes up through its share, then down through what is left") {
  for (const bool is_owner : {true, false}) {
    Taken body;
    op::SharedLoop loop{&Taken::Run, &body, 10, 17, 1, {0}, 2};
    loop.TakePieces(is_owner);
    const std::vector<int64_t> of_owner{10, 11, 12, 13, 16, 15, 14};
    const std::vector<int64_t> of_others{14, 15, 16, 13, 12, 11, 10};
    CHECK(body.begins == (is_owner ? of_owner : of_others));
  }
}

TEST_CASE("each piece of a loop is done once, whoever takes it") {
  for (const int64_t step : {1, 3}) {
    for (int threads = 1; threads < 5; ++threads) {
      for (int64_t end = 0; end < 12; ++end) {
        Done body;
        op::SharedLoop loop{&Done::Run, &body, 2, 2 + end, step, {0}, threads};
        std::vector<std::thread> others;
        for (int i = 1; i < threads; ++i) others.emplace_back([&] { loop.TakePieces(false); });
        loop.TakePieces(true);
        for (std::thread& other : others) other.join();
        for (int64_t item = 0; item < 64; ++item) {
          CHECK(body.times[static_cast<size_t>(item)] == (item >= 2 && item < 2 + end ? 1 : 0));
        }
      }
    }
  }
}

TEST_CASE("a loop with a pace does no piece first when runs have told what an item takes") {
  op::Pace pace;
  CHECK(pace.Next() == 0);
  pace.Tell(3e-6);
  pace.Tell(2e-6);
  CHECK(pace.Next() == 0);
  pace.Tell(4e-6);
  CHECK(pace.Next() == 2e-6);
  // Too short to be shared: one piece, where the first item was one before.
  Taken body;
  op::RunPieces(4, 1, &Taken::Run, &body, &pace);
  CHECK(body.begins == std::vector<int64_t>{0});
  op::Pace untold;
  for (int run = 0; run < 2; ++run) op::RunPieces(4, 1, &Taken::Run, &body, &untold);
  CHECK(body.begins.size() == (op::NumThreads() == 1 ? 3 : 5));
  // What was told is not kept for ever.
  int telling = 0;
  for (int run = 0; run < 4096; ++run) {
    if (pace.Next() != 0) continue;
    ++telling;
    pace.Tell(1e-6);
  }
  CHECK(telling == 8);
  CHECK(pace.Next() == 1e-6);
}

TEST_CASE("a thread that has lost its processor goes on where the one runs that waits for it") {
  const cpu_set_t allowed = Allowed();
  if (CPU_COUNT(&allowed) < 2) return;  // there is no other processor
  // The pool's threads of other tests may run on more processors than these.
  op::ThreadPool::Release();
  const cpu_set_t two = TwoOf(allowed);
  REQUIRE(sched_setaffinity(0, sizeof(two), &two) == 0);
  for (int round = 0; round < 3; ++round) {
    Loop body;
    std::thread other([&] { body.Compete(); });
    op::SharedLoop loop{&Loop::Run, &body, 0, 2, 1, {0}};
    const bool is_run = op::ThreadPool::Global()->TryRun(&loop, 2);
    body.is_over = true;
    other.join();
    CHECK(is_run);
    CHECK(body.processors == 1);  // also behind a loop for which it was fetched
    CHECK(body.done_on >= 0);
    CHECK(body.done_on != body.begun_on.load());
  }
  op::ThreadPool::Release();
  CHECK(sched_setaffinity(0, sizeof(allowed), &allowed) == 0);
}
