/*!
 * \file phases.cc
 * \brief Who takes which piece of a phase, and how the end of a phase is awaited.
 */
#include "op/parallel/phases.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "op/parallel/parallel.h"
#include "op/parallel/thread_pool.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief How often the end of a phase is looked for before a thread sleeps: some tens of
 * microseconds. */
constexpr int kLooks = 2000;

/*! \brief Phases that threads are in. */
class Phases {
 public:
  Phases(int64_t phases, int64_t pieces, int members, PhasePiece piece, const void* body)
      : phases_(phases),
        pieces_(pieces),
        members_(members),
        piece_(piece),
        body_(body),
        taken_(new std::atomic<bool>[static_cast<size_t>(phases * pieces)]()),
        done_(new std::atomic<int64_t>[static_cast<size_t>(phases)]()) {}

  /*! \brief What one of the members does of all phases. */
  void Run(int64_t member) noexcept {
    // The first that a member has for itself; behind its own it goes on with those of the next.
    const int64_t first = member * pieces_ / members_;
    for (int64_t phase = 0; phase < phases_; ++phase) {
      if (IsDone(phase)) continue;
      int64_t finished = 0;
      for (int64_t i = 0; i < pieces_; ++i) {
        const int64_t number = first + i < pieces_ ? first + i : first + i - pieces_;
        std::atomic<bool>& taken = taken_[static_cast<size_t>(phase * pieces_ + number)];
        if (taken.load(std::memory_order_relaxed)) continue;
        if (taken.exchange(true, std::memory_order_relaxed)) continue;
        piece_(body_, phase, number);
        ++finished;
      }
      if (finished > 0) Finish(phase, finished);
      Await(phase);
    }
  }

 private:
  bool IsDone(int64_t phase) const noexcept {
    return done_[static_cast<size_t>(phase)].load(std::memory_order_acquire) == pieces_;
  }

  void Finish(int64_t phase, int64_t finished) noexcept {
    std::atomic<int64_t>& done = done_[static_cast<size_t>(phase)];
    if (done.fetch_add(finished, std::memory_order_seq_cst) + finished < pieces_) return;
    if (asleep_.load(std::memory_order_seq_cst) == 0) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    wake_.notify_all();
  }

  void Await(int64_t phase) noexcept {
    for (int looks = 0; looks < kLooks; ++looks) {
      if (IsDone(phase)) return;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    asleep_.fetch_add(1, std::memory_order_seq_cst);
    {
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, [&] {
        return done_[static_cast<size_t>(phase)].load(std::memory_order_seq_cst) == pieces_;
      });
    }
    asleep_.fetch_sub(1, std::memory_order_relaxed);
  }

  const int64_t phases_;
  const int64_t pieces_;
  const int64_t members_;
  const PhasePiece piece_;
  const void* const body_;
  const std::unique_ptr<std::atomic<bool>[]> taken_;
  const std::unique_ptr<std::atomic<int64_t>[]> done_; /*!< pieces, by phase */
  std::atomic<int> asleep_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
};

void RunMembers(const void* of, int64_t begin, int64_t end) {
  auto* const phases = static_cast<Phases*>(const_cast<void*>(of));
  for (int64_t member = begin; member < end; ++member) phases->Run(member);
}

}  // namespace

void RunPhases(int64_t phases, int64_t pieces, PhasePiece piece, const void* body) {
  const auto members = static_cast<int>(std::min<int64_t>(pieces, NumThreads()));
  if (members > 1 && phases > 0) {
    Phases all(phases, pieces, members, piece, body);
    SharedLoop loop{&RunMembers, &all, 0, members, 1, {0}};
    if (ThreadPool::Global()->TryRun(&loop, members)) return;
  }
  for (int64_t phase = 0; phase < phases; ++phase) {
    for (int64_t number = 0; number < pieces; ++number) piece(body, phase, number);
  }
}

}  // namespace op
}  // namespace mxnet
