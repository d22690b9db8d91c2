/*!
 * \file thread_pool.h
 * \brief Threads that wait for pieces of one loop at a time.
 */
#ifndef MXNET_SRC_OP_PARALLEL_THREAD_POOL_H_
#define MXNET_SRC_OP_PARALLEL_THREAD_POOL_H_

#include <mxnet/runtime/error.h>
#include <pthread.h>
#include <time.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "op/parallel/parallel.h"

namespace mxnet {
namespace op {

/*! \brief What is thrown where Reserve could not: `what` needs so many threads besides. Inline, as
 * libraries that are not linked with this one throw it, too. */
[[noreturn, gnu::cold]] inline void ThrowTooFewThreads(const char* what, int workers) {
  MXNET_THROW("RuntimeError") << what << ": expected " << workers
                              << " threads beside the calling one, the system starts fewer";
}

/*!
 * \brief Items of a loop, which threads take by the piece until none are left.
 *
 * The thread that has the loop takes pieces from the front, and others take them from where its
 * share ends: a loop over the same memory finds what it reads in the caches of the threads that
 * read it before. Each goes up, as memory is fetched ahead of who reads it; only what is left of
 * the share of others is taken from its end.
 */
struct SharedLoop {
  Piece piece;
  const void* body;
  int64_t begin;
  int64_t end;
  int64_t step;                /*!< items of a piece, of which there are fewer than 2^31 */
  std::atomic<uint64_t> taken; /*!< pieces by the owner, and in the upper half those by others */
  int threads = 1;             /*!< that take pieces, as the pool sets it */

  void TakePieces(bool is_owner) noexcept {
    constexpr int kHalf = 32;
    const auto pieces = static_cast<uint64_t>((end - begin + step - 1) / step);
    const auto sharing = static_cast<uint64_t>(threads);
    const uint64_t share = (pieces + sharing - 1) / sharing;
    while (true) {
      const uint64_t before =
          taken.fetch_add(is_owner ? 1 : uint64_t{1} << kHalf, std::memory_order_relaxed);
      const uint64_t by_owner = before & 0xffffffffu;
      const uint64_t by_others = before >> kHalf;
      if (by_owner + by_others >= pieces) return;
      const uint64_t number =
          is_owner ? Number(by_owner, 0, share, pieces) : Number(by_others, share, pieces, share);
      const int64_t first = begin + static_cast<int64_t>(number) * step;
      piece(body, first, end - first < step ? end : first + step);
    }
  }

 private:
  /*! \brief Which piece a side takes as its `count`-th: upwards through its own share, then
   * downwards from `other_end` through that of the other side. */
  static uint64_t Number(uint64_t count, uint64_t from, uint64_t to, uint64_t other_end) noexcept {
    return count < to - from ? from + count : other_end - 1 - (count - (to - from));
  }
};

/*!
 * \brief Threads that wait for loops. Lives as long as the process, or until Release.
 *
 * The thread that has the loop takes pieces as well and waits for no thread that has not begun, so
 * that a machine whose other processors are busy loses no time. A thread that has begun and then
 * lost its processor to another program is fetched to that of the thread that waits for it. To be
 * woken takes as long as many a loop: a thread that has had one stays awake for the next for a
 * moment before it sleeps.
 */
class ThreadPool {
 public:
  /*! \brief The pool of this process; another one after a fork, which takes no threads along. */
  static ThreadPool* Global();

  /*! \brief Ends the pool of this process, if there is one, which nobody may be using: before the
   * library that it is in is unloaded. */
  static void Release();

  /*! \brief Does all items; false where the pool is at the loop of another thread. */
  bool TryRun(SharedLoop* loop, int threads);

  // Virtual, as libraries that are not linked with this one call them, too.

  /*! \brief Lets threads - 1 threads of the pool take pieces until End; false where the pool is at
   * the loop of another thread. */
  virtual bool TryBegin(SharedLoop* loop, int threads);
  /*! \brief The same, but waits for the loop of another thread to end. */
  virtual void Begin(SharedLoop* loop, int threads);
  /*! \brief Takes what pieces are left, and waits for those that others have taken. By the thread
   * that has begun. */
  virtual void End(SharedLoop* loop);
  /*! \brief Starts threads until there are so many; false where the system has no more. */
  virtual bool Reserve(int workers) noexcept;

  /*! \brief Has the calling thread, which another library has started, do what threads of the pool
   * do until Dismiss is called with the same flag. */
  void Serve(const std::atomic<bool>& ends) noexcept;
  void Dismiss(std::atomic<bool>* ends) noexcept;

  /*!
   * \brief A thread that has a loop, shared or not. Each of the others keeps a processor busy,
   * on which a thread of the pool would take turns with it.
   */
  class Caller {
   public:
    explicit Caller(ThreadPool* pool) : pool_(pool) { ++pool_->callers_; }
    ~Caller() { --pool_->callers_; }
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;
    int others() const noexcept { return pool_->callers_.load(std::memory_order_relaxed) - 1; }

   private:
    ThreadPool* pool_;
  };

  /*! \brief Whether a thread is awake that has no loop. */
  bool IsAwake() const noexcept { return awake_.load(std::memory_order_relaxed) > 0; }

 private:
  /*! \brief A thread of the pool, or a guest that serves it. */
  struct Worker {
    std::thread thread; /*!< of no guest */
    pthread_t handle;
    bool is_guest;
    std::atomic<bool> is_at_loop{false};
    bool is_fetched{false}; /*!< since it has begun; under mutex_ */
  };
  /*! \brief What the threads at the loop have had of processors by some time: of the first of them,
   * as others are looked at when these are done. */
  struct Sight {
    struct One {
      Worker* worker;
      clockid_t clock;
      timespec time;
    };
    std::array<One, 8> of;
    size_t count{0};
  };

  virtual ~ThreadPool();
  void Publish(SharedLoop* loop, int threads);
  void AwaitOthers();
  void Start(int workers) noexcept;
  void Work(Worker* self, const std::atomic<bool>& ends) noexcept;
  void KeepAway() noexcept;
  Sight Look() noexcept;
  bool Fetch(const Sight& before) noexcept;

  std::mutex in_use_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable guest_work_;
  std::condition_variable done_;
  SharedLoop* loop_{nullptr};  /*!< taken by whoever still may begin */
  std::atomic<int> wanted_{0}; /*!< threads that may still begin */
  std::atomic<int> active_{0}; /*!< threads at the loop, but for its own */
  std::atomic<int> awake_{0};  /*!< threads that wait without sleeping */
  std::atomic<int> started_{0};
  std::atomic<int> callers_{0};
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Worker*> everyone_; /*!< guests, too */
  int guests_asleep_{0};
  int avoided_{-1}; /*!< the processor that no thread runs on; -1 where some may run anywhere */
  std::atomic<bool> ends_{false};
};

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_PARALLEL_THREAD_POOL_H_
