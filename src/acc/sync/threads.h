/*!
 * \file threads.h
 * \brief The identity of a thread, and a memory barrier for all threads of the process.
 *
 * Where two threads each write something and then read what the other one writes, at least one of
 * them must see the write of the other; that takes a barrier in both. If one of them comes seldom,
 * it can pass this barrier for both, and the other one needs only a barrier for the compiler.
 */
#ifndef MXNET_SRC_ACC_SYNC_THREADS_H_
#define MXNET_SRC_ACC_SYNC_THREADS_H_

#include <atomic>

#include "runtime/core/pool.h"

namespace mxnet {
namespace acc {

/*! \brief A thread is identified by the address of its own. */
extern __thread char this_thread MXNET_TLS_INITIAL_EXEC;

/*! \brief Whether there is one on this system. Called before PassThreadBarrier, which needs it. */
bool HasThreadBarrier();
/*! \brief The barrier of the thread that comes seldom. */
void PassThreadBarrier();
/*! \brief The barrier of the thread that comes often. */
inline void PassCompilerBarrier() { std::atomic_signal_fence(std::memory_order_seq_cst); }

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_SYNC_THREADS_H_
