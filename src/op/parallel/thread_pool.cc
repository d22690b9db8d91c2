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
#include <utility>

namespace mxnet {
namespace op {
namespace {

std::atomic<ThreadPool*> global{nullptr};

/*! \brief How long something is awaited without sleeping: about what it takes to be woken. */
constexpr std::chrono::microseconds kMoment{50};
/*! \brief The same of guests, which would look for work of their own library all the while. */
constexpr std::chrono::microseconds kMomentOfGuests{500};
/*! \brief A thread that has had no processor for so long has lost it. */
constexpr std::chrono::microseconds kGlance{20};
/*! \brief How often that is looked for afterwards: to be woken so often takes no time beside it. */
constexpr std::chrono::microseconds kPatience{500};

/*! \brief Waits for so long, or until there is what is waited for; whether there is. */
template <typename Condition>
bool WaitAwake(std::chrono::microseconds time, const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + time;
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
  for (const auto& worker : workers_) worker->thread.join();
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
  int guests;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    guests = static_cast<int>(everyone_.size() - workers_.size());
    Start(threads - 1 - guests);
    loop_ = loop;
    wanted_ = std::min(threads - 1, started_ + guests);
    loop->threads = 1 + wanted_;
    asleep = wanted_ - awake_;
    guests = guests_asleep_;
    if (asleep > 0) KeepAway();
  }
  for (; asleep > 0; --asleep) (guests-- > 0 ? guest_work_ : work_).notify_one();
}

void ThreadPool::End(SharedLoop* loop) {
  loop->TakePieces(true);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    loop_ = nullptr;
    wanted_ = 0;
  }
  AwaitOthers();
  in_use_.unlock();
}

/*! \brief What others are still at is a piece each. */
void ThreadPool::AwaitOthers() {
  const auto is_done = [this] { return active_.load(std::memory_order_acquire) == 0; };
  if (WaitAwake(kMoment, is_done)) return;
  bool has_fetched = false;
  Sight before = Look();
  if (WaitAwake(kGlance, is_done)) return;
  while (true) {
    if (Fetch(before)) has_fetched = true;
    before = Look();
    std::unique_lock<std::mutex> lock(mutex_);
    if (!done_.wait_for(lock, kPatience, is_done)) continue;
    if (has_fetched) KeepAway();
    return;
  }
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
    for (; started_ < workers; ++started_) {
      auto made = std::make_unique<Worker>();
      workers_.reserve(workers_.size() + 1);
      everyone_.reserve(everyone_.size() + 1);
      made->is_guest = false;
      made->thread = std::thread([this, self = made.get()] { Work(self, ends_); });
      made->handle = made->thread.native_handle();
      everyone_.push_back(made.get());
      workers_.push_back(std::move(made));
    }
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
  for (const auto& worker : workers_) {
    pthread_setaffinity_np(worker->handle, sizeof(others), &others);
  }
  avoided_ = here;
#endif
}

ThreadPool::Sight ThreadPool::Look() noexcept {
  Sight sight;
#if defined(__linux__)
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Worker* worker : everyone_) {
    if (sight.count == sight.of.size()) break;
    if (!worker->is_at_loop.load(std::memory_order_relaxed)) continue;
    Sight::One& one = sight.of[sight.count];
    one.worker = worker;
    if (pthread_getcpuclockid(worker->handle, &one.clock) != 0) continue;
    if (clock_gettime(one.clock, &one.time) == 0) ++sight.count;
  }
#endif
  return sight;
}

/*!
 * \brief Brings the threads that are at the loop and have had no processor since `before` to that
 * of the calling thread, which is about to sleep until they are done; whether there were some.
 *
 * Else it sleeps, and its processor is idle, for as long as another program has that of such a
 * thread: some milliseconds, as the system divides time.
 */
bool ThreadPool::Fetch(const Sight& before) noexcept {
  bool has_fetched = false;
#if defined(__linux__)
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return false;
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(sched_getcpu(), &here);
  const std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = 0; i < before.count; ++i) {
    const Sight::One& one = before.of[i];
    // A guest may have left.
    if (std::find(everyone_.begin(), everyone_.end(), one.worker) == everyone_.end()) continue;
    if (!one.worker->is_at_loop.load(std::memory_order_relaxed)) continue;
    timespec now;
    if (clock_gettime(one.clock, &now) != 0) continue;
    if (now.tv_sec != one.time.tv_sec || now.tv_nsec != one.time.tv_nsec) continue;
    // At once, and free to go on to where the system has time for it.
    const pthread_t thread = one.worker->handle;
    cpu_set_t afterwards = allowed;
    if (one.worker->is_guest) pthread_getaffinity_np(thread, sizeof(afterwards), &afterwards);
    pthread_setaffinity_np(thread, sizeof(here), &here);
    pthread_setaffinity_np(thread, sizeof(afterwards), &afterwards);
    one.worker->is_fetched = true;
    avoided_ = -1;
    has_fetched = true;
  }
#else
  (void)before;
#endif
  return has_fetched;
}

void ThreadPool::Serve(const std::atomic<bool>& ends) noexcept {
  Worker self;
  self.handle = pthread_self();
  self.is_guest = true;
  try {
    std::lock_guard<std::mutex> lock(mutex_);
    everyone_.push_back(&self);
  } catch (const std::bad_alloc&) {
    return;  // the pool's own threads do the work
  }
  Work(&self, ends);
  std::lock_guard<std::mutex> lock(mutex_);
  everyone_.erase(std::find(everyone_.begin(), everyone_.end(), &self));
}

void ThreadPool::Dismiss(std::atomic<bool>* ends) noexcept {
  bool are_asleep;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    *ends = true;
    are_asleep = guests_asleep_ > 0;
  }
  if (are_asleep) guest_work_.notify_all();
}

void ThreadPool::Work(Worker* self, const std::atomic<bool>& ends) noexcept {
  const std::chrono::microseconds moment = self->is_guest ? kMomentOfGuests : kMoment;
  const auto is_called = [&] { return wanted_.load(std::memory_order_relaxed) > 0 || ends; };
  // A guest is awake when it comes.
  bool waits_awake = self->is_guest;
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    if (waits_awake) {
      ++awake_;
      lock.unlock();
      WaitAwake(moment, is_called);
      lock.lock();
      --awake_;
    }
    if (self->is_guest) {
      ++guests_asleep_;
      guest_work_.wait(lock, is_called);
      --guests_asleep_;
    } else {
      work_.wait(lock, is_called);
    }
    if (ends) {
      // It may have been counted on; another thread does it then.
      if (self->is_guest && wanted_ > 0) work_.notify_all();
      return;
    }
    --wanted_;
    ++active_;
    self->is_at_loop.store(true, std::memory_order_relaxed);
    SharedLoop* loop = loop_;
    lock.unlock();
    loop->TakePieces(false);
    lock.lock();
    self->is_at_loop.store(false, std::memory_order_relaxed);
    if (--active_ == 0) done_.notify_one();
    // Its processor is that of the thread that has waited.
    waits_awake = !std::exchange(self->is_fetched, false);
  }
}

}  // namespace op
}  // namespace mxnet
