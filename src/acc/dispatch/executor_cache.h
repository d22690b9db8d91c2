/*!
 * \file executor_cache.h
 * \brief Keeps executors, and rejections, by the key of calls.
 */
#ifndef MXNET_SRC_ACC_DISPATCH_EXECUTOR_CACHE_H_
#define MXNET_SRC_ACC_DISPATCH_EXECUTOR_CACHE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "acc/dispatch/executor.h"
#include "runtime/core/pool.h"

namespace mxnet {
namespace acc {

/*! \brief Shares an executor. */
class ExecutorRef {
 public:
  ExecutorRef() = default;
  explicit ExecutorRef(Executor* executor) : executor_(executor) {
    if (executor_ != nullptr) executor_->Retain();
  }
  ExecutorRef(ExecutorRef&& other) noexcept : executor_(other.executor_) {
    other.executor_ = nullptr;
  }
  ExecutorRef& operator=(ExecutorRef&& other) noexcept {
    std::swap(executor_, other.executor_);
    return *this;
  }
  ExecutorRef(const ExecutorRef& other) : ExecutorRef(other.executor_) {}
  ~ExecutorRef() {
    if (executor_ != nullptr) executor_->Release();
  }
  Executor* get() const { return executor_; }
  Executor* operator->() const { return executor_; }

 private:
  Executor* executor_{nullptr};
};

/*!
 * \brief Executors of one device by their keys. Any thread may call.
 *
 * It holds the last reference to an executor, so that the library frees it while the device is
 * still there.
 */
class ExecutorCache : public AnswerCache {
 public:
  ~ExecutorCache() override;
  /*! \brief The executor of a call, asked for if it is new. Throws what asking does. */
  ExecutorRef Find(const Call& call, const CallKey& key, Device* device, Stats* stats);
  /*! \brief Forgets all answers, and frees the executors that no thread has any more. */
  void Clear() override;

 private:
  struct Hash {
    size_t operator()(const CallKey& key) const { return key.hash(); }
  };
  /*! \brief Most keys that are kept: with more shapes none is likely to come again. */
  static constexpr size_t kMost = 4096;

  void FreeForgotten();

  std::mutex mutex_;
  std::unordered_map<CallKey, ExecutorRef, Hash> executors_;
  /*! \brief Executors that threads may still have; they drop them at their next call. */
  std::vector<ExecutorRef> forgotten_;
};

/*! \brief Makes the cache of a device, for Table::Load. */
inline std::unique_ptr<AnswerCache> NewExecutorCache() { return std::make_unique<ExecutorCache>(); }

/*! \brief Executors that a thread has used, by hash. */
class ThreadExecutors {
 public:
  /*! \brief The executor that was likely used last for this operator; NULL where there is none. */
  Executor* FindRecent(const FunctionObject& func, const Device* device) {
    if (generation_ != current_generation.load(std::memory_order_acquire)) return nullptr;
    return executors_[RecentOf(func, device)].get();
  }
  /*! \brief The executor of a call; most are found here, without a lock. */
  Executor* Find(const Call& call, const CallKey& key, Device* device, Stats* stats);

  /*! \brief Executors found between Begin and the last End stay alive until then. */
  void Begin() { ++uses_; }
  void End() {
    if (--uses_ == 0 && __builtin_expect(!dropped_.empty(), 0)) FreeDropped();
  }
  /*! \brief Drops executors whose answers were forgotten since. */
  void Renew();

  /*! \brief How often any cache has forgotten its answers. */
  static std::atomic<uint64_t> current_generation;

 private:
  static constexpr size_t kSize = 256;
  static constexpr int kRecentBits = 6;

  uint8_t& RecentOf(const FunctionObject& func, const Device* device) {
    const auto both = reinterpret_cast<uintptr_t>(&func) ^ reinterpret_cast<uintptr_t>(device);
    return recent_[(uint64_t{both} * 0x9e3779b97f4a7c15u) >> (64 - kRecentBits)];
  }
  void Replace(ExecutorRef* entry, ExecutorRef&& executor);
  [[gnu::noinline]] void FreeDropped();

  uint64_t generation_{0};
  uint64_t uses_{0};
  std::array<ExecutorRef, kSize> executors_;
  /*! \brief By operator and device: the position of the one used last. */
  std::array<uint8_t, size_t{1} << kRecentBits> recent_{};
  std::vector<ExecutorRef> dropped_;
};

/*! \brief The calling thread's cache; a pointer, as thread-local memory is scarce. */
extern __thread ThreadExecutors* thread_executors MXNET_TLS_INITIAL_EXEC;
[[gnu::noinline]] ThreadExecutors* MakeThreadExecutors();

/*! \brief Keeps executors alive that the calling thread finds during its life. */
class ExecutorsInUse {
 public:
  ExecutorsInUse() : mine_(thread_executors) {
    if (__builtin_expect(mine_ == nullptr, 0)) mine_ = MakeThreadExecutors();
    mine_->Begin();
  }
  ~ExecutorsInUse() { mine_->End(); }
  ExecutorsInUse(const ExecutorsInUse&) = delete;
  ExecutorsInUse& operator=(const ExecutorsInUse&) = delete;

  ThreadExecutors* operator->() const { return mine_; }

 private:
  ThreadExecutors* mine_;
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_DISPATCH_EXECUTOR_CACHE_H_
