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

[[noreturn]] inline void Unsupported(const std::string& reason) {
  throw Failure(kMXAccUnsupported, reason);
}

}  // namespace opencl

#endif  // OPENCL_COMMON_H_
