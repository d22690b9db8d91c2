/*!
 * \file thread_pool.cc
 * \brief The pool's threads and the loop that they share.
 */
#include "op/parallel/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>

namespace mxnet {
namespace op {
namespace {

std::atomic<ThreadPool*> global{nullptr};

/*! \brief How long something is awaited without sleeping: about what it takes to be woken. */
constexpr std::chrono::microseconds kMoment{50};

/*! \brief Waits for a moment, or until there is what is waited for; whether there is. */
template <typename Condition>
bool WaitAwake(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + kMoment;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  return true;
}

/*! \brief Its threads are not in the child, and its locks may be held by threads that are not. */
void ForgetPool() { global.store(nullptr, std::memory_order_relaxed); }

/*!
 * \brief Signals go to threads of the program, which may have to run Python's handlers; those of a
 * fault go to the thread that has it, for whoever reports crashes.
 */
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) {
      sigdelset(&all, fault);
    }
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

ThreadPool* ThreadPool::Global() {
  static const int registered = pthread_atfork(nullptr, nullptr, &ForgetPool);
  (void)registered;
  ThreadPool* pool = global.load(std::memory_order_acquire);
  if (pool != nullptr) return pool;
  auto* made = new ThreadPool();
  if (global.compare_exchange_strong(pool, made, std::memory_order_acq_rel)) return made;
  delete made;
  return pool;
}

void ThreadPool::Release() { delete global.exchange(nullptr, std::memory_order_acq_rel); }

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool ThreadPool::TryRun(SharedLoop* loop, int threads) {
  if (!TryBegin(loop, threads)) return false;
  End(loop);
  return true;
}

bool ThreadPool::TryBegin(SharedLoop* loop, int threads) {
  if (!in_use_.try_lock()) return false;
  Publish(loop, threads);
  return true;
}

void ThreadPool::Begin(SharedLoop* loop, int threads) {
  in_use_.lock();
  Publish(loop, threads);
}

void ThreadPool::Publish(SharedLoop* loop, int threads) {
  int asleep;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    Start(threads - 1);
    loop_ = loop;
    wanted_ = std::min(threads - 1, started_.load());
    asleep = wanted_ - awake_;
    if (asleep > 0) KeepAway();
  }
  for (; asleep > 0; --asleep) work_.notify_one();
}

void ThreadPool::End(SharedLoop* loop) {
  loop->TakePieces(true);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    loop_ = nullptr;
    wanted_ = 0;
  }
  // What others are still at is a piece each.
  const auto is_done = [this] { return active_.load(std::memory_order_acquire) == 0; };
  if (!WaitAwake(is_done)) {
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, is_done);
  }
  in_use_.unlock();
}

bool ThreadPool::Reserve(int workers) noexcept {
  if (started_.load(std::memory_order_relaxed) >= workers) return true;
  std::lock_guard<std::mutex> lock(mutex_);
  Start(workers);
  return started_ >= workers;
}

void ThreadPool::Start(int workers) noexcept {
  if (started_ >= workers) return;
  const BlockedSignals blocked;
  try {
    // New ones run wherever the calling thread may.
    avoided_ = -1;
    for (; started_ < workers; ++started_) threads_.emplace_back([this] { Work(); });
  } catch (const std::exception&) {
    // The threads that there are do the work.
  }
}

/*!
 * \brief Has threads that are asleep wake on other processors than the calling one's.
 *
 * Some systems wake a thread where the one runs that wakes it although another processor is idle.
 * The two would take turns on a loop that they share.
 */
void ThreadPool::KeepAway() noexcept {
#if defined(__linux__)
  const int here = sched_getcpu();
  cpu_set_t others;
  if (here == avoided_ || sched_getaffinity(0, sizeof(others), &others) != 0) return;
  CPU_CLR(here, &others);
  if (CPU_COUNT(&others) == 0) return;
  for (std::thread& thread : threads_) {
    pthread_setaffinity_np(thread.native_handle(), sizeof(others), &others);
  }
  avoided_ = here;
#endif
}

void ThreadPool::Work() noexcept {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return wanted_ > 0 || ends_; });
    if (ends_) return;
    --wanted_;
    ++active_;
    SharedLoop* loop = loop_;
    lock.unlock();
    loop->TakePieces(false);
    lock.lock();
    if (--active_ == 0) done_.notify_one();
    ++awake_;
    lock.unlock();
    WaitAwake([this] { return wanted_.load(std::memory_order_relaxed) > 0; });
    lock.lock();
    --awake_;
  }
}

}  // namespace op
}  // namespace mxnet
