/*!
 * \file executor_cache.cc
 * \brief Keeping executors.
 */
#include "acc/executor_cache.h"

#include <array>

#include "runtime/pool.h"

namespace mxnet {
namespace acc {
namespace {

/*! \brief Counts the times that answers were forgotten, anywhere. */
std::atomic<uint64_t> generation{1};

/*! \brief Executors that a thread has used, by hash. */
struct Front {
  static constexpr size_t kSize = 256;
  uint64_t generation{0};
  std::array<ExecutorRef, kSize> executors;

  /*! \brief Drops what has been forgotten since. */
  void Renew(uint64_t now) {
    for (ExecutorRef& executor : executors) executor = ExecutorRef();
    generation = now;
  }
};

/*! \brief The calling thread's; found without a call, as little as there may be of such memory. */
__thread Front* front MXNET_TLS_INITIAL_EXEC = nullptr;

/*! \brief Frees a thread's table when it ends. */
struct FrontOwner {
  ~FrontOwner() {
    delete front;
    front = nullptr;
  }
};

[[gnu::noinline]] Front* MakeFront() {
  thread_local FrontOwner owner;
  (void)owner;
  return front = new Front();
}

}  // namespace

Executor* FindExecutor(const Call& call, const CallKey& key, Device* device, Stats* stats) {
  const uint64_t now = generation.load(std::memory_order_acquire);
  Front* mine = front != nullptr ? front : MakeFront();
  if (mine->generation != now) mine->Renew(now);
  ExecutorRef& place = mine->executors[key.hash() % Front::kSize];
  if (place.get() == nullptr || !(place->key() == key)) {
    place = device->executors()->Find(call, key, device, stats);
  }
  return place.get();
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
      before = generation.load(std::memory_order_relaxed);
    }
    if (is_full) {
      Clear();
      continue;
    }
    // Not under the lock: a library may compile for long.
    auto* made = new Executor(call, key, device, stats->Of(call.name()));
    const ExecutorRef asked(made);
    made->Release();
    std::lock_guard<std::mutex> lock(mutex_);
    // An answer from before configure is no answer any more; this one goes with the reference.
    if (generation.load(std::memory_order_relaxed) != before) continue;
    return executors_.try_emplace(key, asked).first->second;
  }
}

void ExecutorCache::Clear() {
  std::unordered_map<CallKey, ExecutorRef, Hash> forgotten;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    forgotten.swap(executors_);
    generation.fetch_add(1, std::memory_order_acq_rel);
  }
  for (const auto& entry : forgotten) entry.second->Retire();
}

}  // namespace acc
}  // namespace mxnet
