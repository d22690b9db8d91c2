#include "onednn/threads.h"

#include "onednn/openmp.h"
#include "onednn/redirect.h"
#include "op/parallel/thread_pool.h"

namespace mxnet {
namespace onednn {
namespace {

/*! \brief How many threads the innermost scope of the calling thread has; 0 outside of all. */
thread_local int of_scope = 0;

void Set(int threads) {
  static const SetThreads set = RedirectOpenMP();
  set(threads);
  of_scope = threads;
}

}  // namespace

ThreadScope::ThreadScope(int threads) : before_(of_scope) {
  if (threads == before_) return;
  // Who is missing in a region would be waited for without end.
  if (threads > 1) Pool()->Reserve(threads - 1);
  Set(threads);
}

ThreadScope::~ThreadScope() {
  if (before_ != of_scope) Set(before_);
}

}  // namespace onednn
}  // namespace mxnet
