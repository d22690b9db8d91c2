/*!
 * \file axes.h
 * \brief Axes and strides as kernels get them.
 */
#ifndef MXACC_SDK_OPERATORS_AXES_H_
#define MXACC_SDK_OPERATORS_AXES_H_

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "../tensor.h"

namespace mxacc {

/*! \brief Axes that some tensors are walked by together; strides are in elements. */
struct Axes {
  explicit Axes(size_t tensors) : strides(tensors) {}

  void Add(int64_t extent, std::initializer_list<int64_t> steps) {
    shape.push_back(extent);
    size_t i = 0;
    for (int64_t step : steps) strides[i++].push_back(step);
  }
  /*! \brief How many elements there are. */
  int64_t count() const {
    int64_t product = 1;
    for (int64_t extent : shape) product *= extent;
    return product;
  }

  std::vector<int64_t> shape;
  std::vector<std::vector<int64_t>> strides; /*!< of each tensor */
};

/*! \brief Passed by value to kernels. */
struct Layout {
  static constexpr int kMaxAxes = 8;
  static constexpr int kMaxTensors = JoinedAxes::kMaxTensors;

  int64_t ndim;
  int64_t shape[kMaxAxes];
  int64_t strides[kMaxTensors][kMaxAxes];

  /*! \brief Whether a tensor's elements follow each other in the order of the walk. */
  bool IsDense(int tensor) const { return ndim == 0 || (ndim == 1 && strides[tensor][0] == 1); }
  /*! \brief Whether all is one element of the tensor's. */
  bool IsSingle(int tensor) const { return ndim == 0 || (ndim == 1 && strides[tensor][0] == 0); }
};

/*!
 * \brief The axes joined where they can be, so that the walk is along the first tensor's memory.
 * kMXAccUnsupported where more than kMaxAxes are left.
 */
Layout LayoutOf(const Axes& axes);
/*! \brief The same in row-major order of the axes. */
Layout RowMajorLayoutOf(const Axes& axes);

}  // namespace mxacc

#endif  // MXACC_SDK_OPERATORS_AXES_H_
