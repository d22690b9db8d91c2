/*!
 * \file walk.h
 * \brief From the number of an element to its positions in the tensors.
 */
#ifndef CUDAACC_WALK_H_
#define CUDAACC_WALK_H_

#include <cstdint>
#include <cstdlib>

#include "../../sdk/operators/axes.h"
#include "host_device.h"

namespace cudaacc {

using mxacc::Layout;

struct Walk {
  Layout layout;
  bool is_short; /*!< elements can be counted in 32 bits, by which devices divide faster */
};

inline Walk WalkOf(const Layout& layout, int64_t count) {
  return {layout, count <= static_cast<int64_t>(UINT32_MAX)};
}

/*! \brief Where a walk is in the first kTensors tensors. */
template <int kTensors>
struct Positions {
  int64_t at[kTensors];
};

template <typename Index, int kTensors>
CUDAACC_BOTH void AdvanceBy(const Layout& layout, Index rest, Positions<kTensors>* positions) {
  for (int axis = static_cast<int>(layout.ndim) - 1; axis >= 0; --axis) {
    const auto extent = static_cast<Index>(layout.shape[axis]);
    const auto position = static_cast<int64_t>(rest % extent);
    rest /= extent;
    for (int k = 0; k < kTensors; ++k) positions->at[k] += position * layout.strides[k][axis];
  }
}

/*! \brief Moves the positions on to element i. */
template <int kTensors>
CUDAACC_BOTH void Advance(const Walk& walk, int64_t i, Positions<kTensors>* positions) {
  if (walk.layout.ndim <= 1) {  // one axis, the usual case, needs no division
    for (int k = 0; k < kTensors; ++k) positions->at[k] += i * walk.layout.strides[k][0];
  } else if (walk.is_short) {
    AdvanceBy(walk.layout, static_cast<uint32_t>(i), positions);
  } else {
    AdvanceBy(walk.layout, static_cast<uint64_t>(i), positions);
  }
}

/*! \brief The smallest step of a tensor along the axes of a walk; 0 where there are none. */
inline int64_t SmallestStep(const Walk& walk, int tensor) {
  int64_t smallest = 0;
  for (int axis = 0; axis < walk.layout.ndim; ++axis) {
    const int64_t step = std::abs(walk.layout.strides[tensor][axis]);
    if (step != 0 && (smallest == 0 || step < smallest)) smallest = step;
  }
  return smallest;
}

}  // namespace cudaacc

#endif  // CUDAACC_WALK_H_
