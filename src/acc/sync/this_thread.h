/*!
 * \file this_thread.h
 * \brief Which thread it is.
 */
#ifndef MXNET_SRC_ACC_SYNC_THIS_THREAD_H_
#define MXNET_SRC_ACC_SYNC_THIS_THREAD_H_

#include "runtime/core/pool.h"

namespace mxnet {
namespace acc {

/*! \brief Its address tells a thread from all others that there are. */
extern __thread char this_thread MXNET_TLS_INITIAL_EXEC;

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_SYNC_THIS_THREAD_H_
