/*!
 * \file this_thread.cc
 * \brief A byte of each thread.
 */
#include "acc/sync/this_thread.h"

namespace mxnet {
namespace acc {

__thread char this_thread MXNET_TLS_INITIAL_EXEC = 0;

}  // namespace acc
}  // namespace mxnet
