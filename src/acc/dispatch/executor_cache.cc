/*!
 * \file executor_cache.cc
 * \brief Keeping executors.
 */
#include "acc/dispatch/executor_cache.h"

#include <algorithm>
#include <iterator>

namespace mxnet {
namespace acc {
namespace {

/*! \brief Frees a thread's table when it ends. */
struct ThreadExecutorsOwner {
  ~ThreadExecutorsOwner() {
    delete thread_executors;
    thread_executors = nullptr;
  }
};

}  // namespace

std::atomic<uint64_t> ThreadExecutors::current_generation{1};

__thread ThreadExecutors* thread_executors MXNET_TLS_INITIAL_EXEC = nullptr;

ThreadExecutors* MakeThreadExecutors() {
  thread_local ThreadExecutorsOwner owner;
  (void)owner;
  return thread_executors = new ThreadExecutors();
}

void ThreadExecutors::Replace(ExecutorRef* entry, ExecutorRef&& executor) {
  // An executor that is running is freed after the run.
  ExecutorRef before = std::move(*entry);
  if (before.get() != nullptr && uses_ != 0) dropped_.push_back(std::move(before));
  *entry = std::move(executor);
}

void ThreadExecutors::FreeDropped() {
  // Moved out first, as freeing calls the library, which may call back and add to the list.
  std::vector<ExecutorRef> last;
  last.swap(dropped_);
}

void ThreadExecutors::Renew() {
  const uint64_t now = current_generation.load(std::memory_order_acquire);
  if (generation_ == now) return;
  for (ExecutorRef& executor : executors_) Replace(&executor, ExecutorRef());
  generation_ = now;
}

Executor* ThreadExecutors::Find(const Call& call, const CallKey& key, Device* device,
                                Stats* stats) {
  Renew();
  const auto index = static_cast<uint8_t>(key.hash() % kSize);
  if (executors_[index].get() == nullptr || !(executors_[index]->key() == key)) {
    auto* cache = static_cast<ExecutorCache*>(device->answers());
    ExecutorRef found = cache->Find(call, key, device, stats);
    Replace(&executors_[index], std::move(found));
  }
  RecentOf(call.func, device) = index;
  return executors_[index].get();
}

ExecutorCache::~ExecutorCache() {
  Clear();
  // No call is being executed, but threads that are idle still refer to executors.
  for (const ExecutorRef& executor : forgotten_) executor->FreeState();
}

ExecutorRef ExecutorCache::Find(const Call& call, const CallKey& key, Device* device,
                                Stats* stats) {
  while (true) {
    uint64_t before;
    bool is_full;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      const auto found = executors_.find(key);
      if (found != executors_.end()) return found->second;
      is_full = executors_.size() >= kMost;
      before = ThreadExecutors::current_generation.load(std::memory_order_relaxed);
    }
    if (is_full) {
      Clear();
      continue;
    }
    FreeForgotten();
    // Not under the lock: a library may compile for long.
    auto* made = new Executor(call, key, device, stats->Of(call.name()));
    const ExecutorRef asked(made);
    made->Release();
    std::lock_guard<std::mutex> lock(mutex_);
    // configure was called meanwhile: the library is asked anew, and `asked` frees the old answer.
    if (ThreadExecutors::current_generation.load(std::memory_order_relaxed) != before) continue;
    return executors_.try_emplace(key, asked).first->second;
  }
}

void ExecutorCache::Clear() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (auto& entry : executors_) {
      entry.second->Retire();
      forgotten_.push_back(std::move(entry.second));
    }
    executors_.clear();
    ThreadExecutors::current_generation.fetch_add(1, std::memory_order_acq_rel);
  }
  if (thread_executors != nullptr) thread_executors->Renew();
  FreeForgotten();
}

void ExecutorCache::FreeForgotten() {
  std::vector<ExecutorRef> last;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto others = std::partition(forgotten_.begin(), forgotten_.end(),
                                       [](const ExecutorRef& ref) { return !ref->IsLast(); });
    std::move(others, forgotten_.end(), std::back_inserter(last));
    forgotten_.erase(others, forgotten_.end());
  }
  // They go without the lock, as the library is called.
}

}  // namespace acc
}  // namespace mxnet
