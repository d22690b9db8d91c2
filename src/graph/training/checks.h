/*!
 * \file checks.h
 * \brief What makers of kernels require of their arguments; functions name themselves in errors.
 */
#ifndef MXNET_SRC_GRAPH_TRAINING_CHECKS_H_
#define MXNET_SRC_GRAPH_TRAINING_CHECKS_H_

#include <mxnet/runtime/error.h>
#include <mxnet/runtime/ndarray.h>

#include <cstdint>
#include <limits>
#include <string>

#include "graph/training/lines.h"

namespace mxnet {
namespace graph {
namespace training {

/*! \brief A shape in an error. */
inline std::string TextOf(const Shape& shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return text + ")";
}

/*! \brief ValueError for an array that is not on the CPU, TypeError for one not of float32. */
inline void CheckWeight(const char* argument, const runtime::NDArray& array) {
  using runtime::operator!=;
  if (array.ctx().device_type != kDLCPU) {
    MXNET_THROW("ValueError") << argument << ": expected an array on the CPU";
  }
  if (array.dtype() != runtime::kFloat32) {
    MXNET_THROW("TypeError") << argument << ": expected float32, got "
                             << runtime::DataTypeName(array.dtype());
  }
}

/*! \brief ValueError for numbers below `least`, or so large that products of two are not int64. */
inline void CheckNumbers(const char* argument, const Shape& numbers, int64_t least) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  for (const int64_t number : numbers) {
    if (number >= least && number <= kMost) continue;
    MXNET_THROW("ValueError") << argument << ": expected " << least << " to " << kMost << ", got "
                              << number;
  }
}

/*! \brief ValueError for negative extents, and for more elements than memory can have, whose
 * number of bytes might not be an int64. */
inline void CheckShape(const char* argument, const Shape& shape) {
  constexpr int64_t kMost = int64_t{1} << 48;
  int64_t size = 1;
  for (const int64_t extent : shape) {
    if (extent < 0) {
      MXNET_THROW("ValueError") << argument << ": expected extents of 0 or more, got " << extent;
    }
    const bool is_too_large = __builtin_mul_overflow(size, std::max<int64_t>(extent, 1), &size);
    if (is_too_large || size > kMost) {
      MXNET_THROW("ValueError") << argument << ": expected 2 ** 48 elements or fewer, got more";
    }
  }
}

/*! \brief ValueError for a wrong shape, and for an axis that it does not have. */
inline void CheckAxis(const Shape& shape, int64_t axis) {
  CheckShape("shape", shape);
  const auto ndim = static_cast<int64_t>(shape.size());
  if (ndim == 0) MXNET_THROW("ValueError") << "shape: expected one axis or more, got none";
  if (axis < 0 || axis >= ndim) {
    MXNET_THROW("ValueError") << "axis: expected 0 to " << ndim - 1 << ", got " << axis;
  }
}

}  // namespace training
}  // namespace graph
}  // namespace mxnet

#endif  // MXNET_SRC_GRAPH_TRAINING_CHECKS_H_
