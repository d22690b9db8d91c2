/*!
 * \file sdk.h
 * \brief The names of the SDK, in this library's namespace.
 */
#ifndef OPENCL_SDK_H_
#define OPENCL_SDK_H_

#include "../sdk/attribute.h"
#include "../sdk/library.h"
#include "../sdk/status.h"
#include "../sdk/tensor.h"

namespace opencl {

using namespace mxacc;

}  // namespace opencl

#endif  // OPENCL_SDK_H_
