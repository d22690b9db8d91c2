/*!
 * \file functions_of_host.h
 * \brief The one function of each callable of the host language.
 */
#ifndef MXNET_SRC_RUNTIME_CORE_FUNCTIONS_OF_HOST_H_
#define MXNET_SRC_RUNTIME_CORE_FUNCTIONS_OF_HOST_H_

#include "runtime/core/function.h"

namespace mxnet {
namespace runtime {

/*! \brief The function with this body that was shared for host and lives still; or nothing. */
ObjectRef FindFunctionOfHost(MXNetPackedCFunc body, void* host);

/*!
 * \brief Makes a new function, which keeps host alive, the one that is found by it.
 *
 * Gives the one that another thread has shared since nothing was found, and changes nothing then.
 */
ObjectRef ShareFunctionOfHost(FunctionObject* function, void* host);

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_SRC_RUNTIME_CORE_FUNCTIONS_OF_HOST_H_
