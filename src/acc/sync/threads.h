/*!
 * \file threads.h
 * \brief Which thread it is, and a memory barrier for all threads of the process.
 *
 * Of two threads that each write something and then read what the other writes, one must see the
 * other; for that both need a barrier between the two. Where one of them comes seldom it passes
 * this barrier for both, and the other one needs none but for the compiler.
 */
#ifndef MXNET_SRC_ACC_SYNC_THREADS_H_
#define MXNET_SRC_ACC_SYNC_THREADS_H_

#include <atomic>

#include "runtime/core/pool.h"

namespace mxnet {
namespace acc {

/*! \brief Its address tells a thread from all others that there are. */
extern __thread char this_thread MXNET_TLS_INITIAL_EXEC;

/*! \brief Whether there is one on this system. Called before PassThreadBarrier, which needs it. */
bool HasThreadBarrier();
/*! \brief The side that comes seldom. */
void PassThreadBarrier();
/*! \brief The side that comes often. */
inline void PassCompilerBarrier() { std::atomic_signal_fence(std::memory_order_seq_cst); }

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_SYNC_THREADS_H_
