/*!
 * \file common.h
 * \brief What accelerators share, under names of this one.
 */
#ifndef REFACC_COMMON_H_
#define REFACC_COMMON_H_

#include "../common/geometry.h"
#include "../common/json.h"
#include "../common/library.h"
#include "../common/status.h"

namespace refacc {

using namespace mxacc;

}  // namespace refacc

#endif  // REFACC_COMMON_H_
