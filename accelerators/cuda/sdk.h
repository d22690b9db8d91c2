/*!
 * \file sdk.h
 * \brief The names of the SDK, in this library's namespace; `cuda` is a namespace of NVIDIA's.
 */
#ifndef CUDAACC_SDK_H_
#define CUDAACC_SDK_H_

#include "../sdk/attribute.h"
#include "../sdk/library.h"
#include "../sdk/status.h"
#include "../sdk/tensor.h"

namespace cudaacc {

using namespace mxacc;

}  // namespace cudaacc

#endif  // CUDAACC_SDK_H_
