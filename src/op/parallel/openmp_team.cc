/*!
 * \file openmp_team.cc
 * \brief Which threads a team has, and how they serve the pool.
 */
#include "op/parallel/openmp_team.h"

#include <mxnet/runtime/registry.h>
#include <pthread.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <exception>

#include "op/parallel/thread_pool.h"

namespace mxnet {
namespace op {
namespace {

std::atomic<OpenMPTeam::Parallel> parallel{nullptr};

/*! \brief The clock of a thread of the calling thread's team, from the last region on. */
thread_local clockid_t clock_of_team;
thread_local bool has_clock = false;

/*! \brief A region with the calling thread and its team. */
struct Region {
  void (*run)(const void* body);
  const void* body;
  pthread_t owner;
  ThreadPool* pool;
  std::exception_ptr failure;
  std::atomic<bool> ends{false};
  std::atomic<bool> is_noted{false};
  clockid_t clock{};
  bool has_clock{false};

  void RunAsOwner() noexcept {
    try {
      run(body);
    } catch (...) {
      // No exception may leave a region.
      failure = std::current_exception();
    }
    pool->Dismiss(&ends);
  }

  void RunAsGuest() noexcept {
    if (!is_noted.exchange(true)) has_clock = pthread_getcpuclockid(pthread_self(), &clock) == 0;
    pool->Serve(ends);
  }
};

void RunMember(void* data) {
  auto* const region = static_cast<Region*>(data);
  pthread_equal(pthread_self(), region->owner) ? region->RunAsOwner() : region->RunAsGuest();
}

}  // namespace

void OpenMPTeam::Use(Parallel given) noexcept {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { parallel = nullptr; });
  (void)registered;
  parallel = given;
}

bool OpenMPTeam::IsAwake() noexcept {
  if (parallel.load(std::memory_order_relaxed) == nullptr) return false;
  if (!has_clock) return true;
  // The clock stands still while its thread sleeps.
  timespec before;
  timespec now;
  if (clock_gettime(clock_of_team, &before) != 0) return true;
  if (clock_gettime(clock_of_team, &now) != 0) return true;
  return before.tv_nsec != now.tv_nsec || before.tv_sec != now.tv_sec;
}

void OpenMPTeam::RunBody(void (*run)(const void* body), const void* body) {
  const Parallel begin = parallel.load(std::memory_order_acquire);
  if (begin == nullptr) return run(body);
  Region region{run, body, pthread_self(), ThreadPool::Global(), nullptr};
  begin(&RunMember, &region, 0, 0);
  has_clock = region.has_clock;
  clock_of_team = region.clock;
  if (region.failure != nullptr) std::rethrow_exception(region.failure);
}

namespace {

MXNET_REGISTER_API("mx.use_openmp")
    .describe(
        "Has plans that are called from a library with OpenMP run on its threads where these are "
        "awake.")
    .arg("parallel", "The address of its function GOMP_parallel; 0: there is none.")
    .set_body_typed([](int64_t address) {
      OpenMPTeam::Use(reinterpret_cast<OpenMPTeam::Parallel>(address));
    });

}  // namespace
}  // namespace op
}  // namespace mxnet
