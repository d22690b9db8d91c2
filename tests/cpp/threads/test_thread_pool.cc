// Threads of the pool beside others that want the same processors.
#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>

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

}  // namespace

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
