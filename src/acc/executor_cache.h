/*!
 * \file executor_cache.h
 * \brief The answers of a library that are kept.
 */
#ifndef MXNET_SRC_ACC_EXECUTOR_CACHE_H_
#define MXNET_SRC_ACC_EXECUTOR_CACHE_H_

#include <mutex>
#include <unordered_map>

#include "acc/executor.h"

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

/*! \brief Executors of one device by their keys. Any thread may call. */
class ExecutorCache {
 public:
  /*! \brief The executor of a call, asked for if it is new. Throws what asking does. */
  ExecutorRef Find(const Call& call, const CallKey& key, Device* device, Stats* stats);
  /*! \brief Forgets all answers, and frees the executors that no run is under way in. */
  void Clear();

 private:
  struct Hash {
    size_t operator()(const CallKey& key) const { return key.hash(); }
  };
  /*! \brief Of more shapes than these at a time none is likely to come again. */
  static constexpr size_t kMost = 4096;

  std::mutex mutex_;
  std::unordered_map<CallKey, ExecutorRef, Hash> executors_;
};

/*!
 * \brief The executor of a call; most are found in a table of the thread's, without a lock.
 *
 * The table keeps it until the thread's next call.
 */
Executor* FindExecutor(const Call& call, const CallKey& key, Device* device, Stats* stats);

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_EXECUTOR_CACHE_H_
