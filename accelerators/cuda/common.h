/*!
 * \file common.h
 * \brief What accelerators share, under names of this one; `cuda` is a namespace of NVIDIA's.
 */
#ifndef CUDAACC_COMMON_H_
#define CUDAACC_COMMON_H_

#include "../common/geometry.h"
#include "../common/json.h"
#include "../common/library.h"
#include "../common/status.h"

namespace cudaacc {

using namespace mxacc;

}  // namespace cudaacc

#endif  // CUDAACC_COMMON_H_
