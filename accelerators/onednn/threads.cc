#include "threads.h"

#include <algorithm>
#include <mutex>

#include "onednn/openmp.h"
#include "op/parallel/thread_pool.h"

namespace {

/*! \brief Less work than this is finished before a second thread has woken up. */
constexpr int64_t kWorkOfThread = int64_t{1} << 17;

thread_local int threads_of_models = 1;

std::mutex mutex_of_uses;
int uses = 0;

}  // namespace

namespace mxnet {
namespace onednn {

int NumThreads() { return threads_of_models; }

op::ThreadPool* Pool() { return op::ThreadPool::Global(); }

}  // namespace onednn
}  // namespace mxnet

namespace onednn {

ThreadsInUse::ThreadsInUse() {
  const std::lock_guard<std::mutex> lock(mutex_of_uses);
  ++uses;
}

ThreadsInUse::~ThreadsInUse() {
  const std::lock_guard<std::mutex> lock(mutex_of_uses);
  if (--uses == 0 && mxnet::onednn::LeaveOpenMP()) mxnet::op::ThreadPool::Release();
}

int FindThreads() { return mxnet::onednn::RegionThreads(); }

int ThreadsFor(int64_t work, int limit) {
  return static_cast<int>(std::clamp<int64_t>(work / kWorkOfThread, 1, limit));
}

void SetThreadsOfModels(int threads) { threads_of_models = threads; }

}  // namespace onednn
