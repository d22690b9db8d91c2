/*!
 * \file layout.h
 * \brief Axes and strides as kernels get them.
 */
#ifndef OPENCL_LAYOUT_H_
#define OPENCL_LAYOUT_H_

#include "../sdk/operators/axes.h"
#include "sdk.h"

namespace opencl {

/*! \brief struct Layout, and ADVANCE(layout, tensor, ...): see layout.cc. */
extern const char kLayoutSource[];

}  // namespace opencl

#endif  // OPENCL_LAYOUT_H_
