/*!
 * \file common.h
 * \brief What accelerators share, under names of this one.
 */
#ifndef OPENCL_COMMON_H_
#define OPENCL_COMMON_H_

#include "../common/geometry.h"
#include "../common/json.h"
#include "../common/library.h"
#include "../common/status.h"

namespace opencl {

using namespace mxacc;

}  // namespace opencl

#endif  // OPENCL_COMMON_H_
