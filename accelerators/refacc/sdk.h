/*!
 * \file sdk.h
 * \brief The names of the SDK, in this library's namespace.
 */
#ifndef REFACC_SDK_H_
#define REFACC_SDK_H_

#include "../sdk/attribute.h"
#include "../sdk/host_memory.h"
#include "../sdk/library.h"
#include "../sdk/status.h"
#include "../sdk/tensor.h"

namespace refacc {

using namespace mxacc;

}  // namespace refacc

#endif  // REFACC_SDK_H_
