/*!
 * \file parallel.cc
 * \brief Whether a loop is shared, and into which pieces it is cut.
 */
#include "op/parallel/parallel.h"

#include <mxnet/runtime/registry.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "op/parallel/thread_pool.h"

namespace mxnet {
namespace op {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostThreads = 1024;
/*! \brief What handing a loop to a thread takes, a few times: a shorter rest is not shared. */
constexpr double kWorthSharing = 10e-6;
/*! \brief The same where the threads have to be woken. */
constexpr double kWorthWaking = 30e-6;
/*! \brief Long enough that taking a piece costs nothing beside it, short enough to end together. */
constexpr double kPieceSeconds = 5e-6;
constexpr int64_t kPiecesPerThread = 16;

int ProcessorsAllowed() noexcept {
#if defined(__linux__)
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) return CPU_COUNT(&allowed);
#endif
  return static_cast<int>(std::thread::hardware_concurrency());
}

/*! \brief What MXNET_NUM_THREADS says; 0 where it says nothing. */
int ThreadsOfEnvironment() noexcept {
  const char* given = std::getenv("MXNET_NUM_THREADS");
  const int64_t wanted = given == nullptr ? 0 : std::strtoll(given, nullptr, 10);
  return static_cast<int>(std::clamp<int64_t>(wanted, 0, kMostThreads));
}

struct Threads {
  static Threads& Global() noexcept {
    static Threads threads;
    return threads;
  }

  std::atomic<int> asked_for{ThreadsOfEnvironment()}; /*!< 0 where nobody has */
  std::atomic<int> count{asked_for > 0 ? asked_for.load()
                                       : std::clamp<int>(ProcessorsAllowed(), 1, kMostThreads)};
  std::atomic<void (*)(int)> follower{nullptr};
};

/*! \brief How many OneThread the calling thread has. */
thread_local int alone = 0;

}  // namespace

int NumThreads() noexcept {
  return alone > 0 ? 1 : Threads::Global().count.load(std::memory_order_relaxed);
}

OneThread::OneThread() noexcept { ++alone; }

OneThread::~OneThread() { --alone; }

void SetNumThreads(int64_t count) {
  if (count < 1 || count > kMostThreads) {
    MXNET_THROW("ValueError") << "mx.set_num_threads: count has to be 1 to " << kMostThreads
                              << ", got " << count;
  }
  Threads& threads = Threads::Global();
  threads.asked_for = static_cast<int>(count);
  threads.count = static_cast<int>(count);
  if (auto* follower = threads.follower.load()) follower(static_cast<int>(count));
}

void FollowNumThreads(void (*follower)(int count)) {
  Threads& threads = Threads::Global();
  threads.follower = follower;
  if (threads.asked_for > 0) follower(threads.asked_for);
}

void Pace::Tell(double seconds) noexcept {
  const double least = least_.load(std::memory_order_relaxed);
  if (least == 0 || seconds < least) least_.store(seconds, std::memory_order_relaxed);
}

void RunPieces(int64_t size, int64_t first, Piece piece, const void* body, Pace* pace) {
  const int most = NumThreads();
  if (most == 1 || size < 2 * first) return piece(body, 0, size);
  // First, as it may throw: nothing has been written yet.
  ThreadPool* pool = ThreadPool::Global();
  const ThreadPool::Caller caller(pool);
  double of_one = pace == nullptr ? 0 : pace->Next();
  int64_t begin = 0;
  if (of_one == 0) {
    const Clock::time_point start = Clock::now();
    piece(body, 0, first);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    of_one = seconds / static_cast<double>(first);
    begin = first;
    if (pace != nullptr) pace->Tell(of_one);
  }
  const int64_t left = size - begin;
  const int threads = most - caller.others();
  const double worth = pool->IsAwake() ? kWorthSharing : kWorthWaking;
  if (threads < 2 || of_one * static_cast<double>(left) < worth) return piece(body, begin, size);
  const auto least = static_cast<int64_t>(kPieceSeconds / of_one);
  const int64_t step =
      std::max({least, left / (threads * kPiecesPerThread), std::min<int64_t>(first, 64)});
  // Pieces of a dense loop begin where whole vectors do.
  const int64_t whole = first % 64 == 0 ? (step + 63) / 64 * 64 : step;
  const auto pieces = static_cast<int>(std::min<int64_t>((left + whole - 1) / whole, threads));
  SharedLoop loop{piece, body, begin, size, whole, {0}};
  if (!pool->TryRun(&loop, pieces)) piece(body, begin, size);
}

void RunItems(int64_t size, Piece piece, const void* body) {
  const auto threads = static_cast<int>(std::min<int64_t>(size, NumThreads()));
  SharedLoop loop{piece, body, 0, size, 1, {0}};
  if (threads > 1 && ThreadPool::Global()->TryRun(&loop, threads)) return;
  piece(body, 0, size);
}

namespace {

MXNET_REGISTER_API("mx.get_num_threads")
    .describe("How many threads an operator of the CPU uses at most.")
    .set_body_typed([] { return static_cast<int64_t>(NumThreads()); });

MXNET_REGISTER_API("mx.set_num_threads")
    .describe("Sets how many threads an operator of the CPU uses at most.")
    .arg("count", "At least 1, which is the calling thread alone.")
    .set_body_typed([](int64_t count) { SetNumThreads(count); });

MXNET_REGISTER_API("mx.thread_pool")
    .describe("The function of C++ that returns the pool of threads, for libraries of mx.")
    .set_body_typed([] { return reinterpret_cast<void*>(&ThreadPool::Global); });

}  // namespace
}  // namespace op
}  // namespace mxnet
