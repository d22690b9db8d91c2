/*!
 * \file threads.cc
 * \brief A byte of each thread, and Linux's membarrier.
 */
#include "acc/sync/threads.h"

#if defined(__linux__) && __has_include(<linux/membarrier.h>)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace mxnet {
namespace acc {

__thread char this_thread MXNET_TLS_INITIAL_EXEC = 0;

#if defined(SYS_membarrier)
bool HasThreadBarrier() {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void PassThreadBarrier() {
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0) return;
  // The slow one, which needs no registering, in a child of fork.
  (void)syscall(SYS_membarrier, MEMBARRIER_CMD_SHARED, 0, 0);
}
#else
bool HasThreadBarrier() { return false; }
void PassThreadBarrier() {}
#endif

}  // namespace acc
}  // namespace mxnet
