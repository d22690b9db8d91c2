#include "threads.h"

#include <mxnet/runtime/error.h>

#include <algorithm>

#include "../sdk/status.h"

namespace {

/*! \brief Less work than this is finished before a second thread has woken up. */
constexpr int64_t kWorkOfThread = int64_t{1} << 17;

thread_local int threads_of_models = 1;

}  // namespace

namespace mxnet {
namespace onednn {

int NumThreads() { return threads_of_models; }

}  // namespace onednn
}  // namespace mxnet

namespace onednn {

int FindThreads() {
  try {
    return mxnet::onednn::MaxThreads();
  } catch (const mxnet::runtime::Error& error) {
    throw mxacc::Failure(kMXAccFailed, error.message());
  }
}

int ThreadsFor(int64_t work, int limit) {
  return static_cast<int>(std::clamp<int64_t>(work / kWorkOfThread, 1, limit));
}

void SetThreadsOfModels(int threads) { threads_of_models = threads; }

}  // namespace onednn
