#include "onednn/threads.h"

#include <atomic>

#include "onednn/redirect.h"
#include "op/parallel/thread_pool.h"

namespace mxnet {
namespace onednn {
namespace {

/*! \brief How many threads the innermost scope of the calling thread has; 0 outside of all. */
thread_local int of_scope = 0;
/*! \brief Of the library whose functions oneDNN calls; nullptr while this one has not asked. */
std::atomic<SetThreads> set{nullptr};

bool Set(int threads) {
  SetThreads found = set.load(std::memory_order_acquire);
  if (found == nullptr) set.store(found = RedirectOpenMP(), std::memory_order_release);
  of_scope = threads;
  return found(threads);
}

}  // namespace

ThreadScope::ThreadScope(int threads) : before_(of_scope) {
  if (threads == before_ || Set(threads)) return;
  Set(before_);
  op::ThrowTooFewThreads("oneDNN", threads - 1);
}

ThreadScope::~ThreadScope() {
  if (before_ != of_scope) Set(before_);
}

bool LeaveOpenMP() {
  if (!RestoreOpenMP()) return false;
  set.store(nullptr, std::memory_order_release);
  return true;
}

}  // namespace onednn
}  // namespace mxnet
