/*!
 * \file sdk.h
 * \brief What the SDK has, under names of this one.
 */
#ifndef REFACC_SDK_H_
#define REFACC_SDK_H_

#include "../sdk/attribute.h"
#include "../sdk/library.h"
#include "../sdk/status.h"
#include "../sdk/tensor.h"

namespace refacc {

using namespace mxacc;

}  // namespace refacc

#endif  // REFACC_SDK_H_
