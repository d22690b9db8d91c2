/*!
 * \file lines.h
 * \brief Sums over lines of numbers, and what kernels of training read and write.
 *
 * Sums are taken in lanes, whose number does not depend on the processor, so that the order of
 * additions is the same everywhere.
 */
#ifndef MXNET_SRC_GRAPH_TRAINING_LINES_H_
#define MXNET_SRC_GRAPH_TRAINING_LINES_H_

#include <mxnet/op/kernel.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "op/kernels/cpu.h"
#include "op/parallel/parallel.h"

namespace mxnet {
namespace graph {
namespace training {

using Shape = std::vector<int64_t>;

constexpr int kLanes = 32;

inline int64_t SizeOf(const Shape& shape) {
  int64_t size = 1;
  for (const int64_t extent : shape) size *= extent;
  return size;
}

template <typename T>
const T* In(const DLTensor& tensor) {
  return static_cast<const T*>(runtime::TensorData(tensor));
}

template <typename T>
T* Out(const DLTensor& tensor) {
  return static_cast<T*>(runtime::TensorData(tensor));
}

/*! \brief body(begin, end) for pieces of so many lines, of `length` numbers each. */
template <typename Body>
void ForLines(int64_t lines, int64_t length, const Body& body) {
  if (lines * length < op::kFewForThreads) return body(int64_t{0}, lines);
  op::InParallel(lines, op::kElementsTimed / std::max<int64_t>(length, 1) + 1, body);
}

/*! \brief What lanes add up to. */
MXNET_ALWAYS_INLINE float Total(float* lanes) {
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int l = 0; l < width; ++l) lanes[l] += lanes[l + width];
  }
  return lanes[0];
}

MXNET_ALWAYS_INLINE float Sum(const float* x, int64_t n) {
  float lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) lanes[l] += x[i + l];
  }
  for (int l = 0; i < n; ++i, ++l) lanes[l] += x[i];
  return Total(lanes);
}

/*! \brief Of squared distances from a number. */
MXNET_ALWAYS_INLINE float SumOfSquares(const float* x, float from, int64_t n) {
  float lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) lanes[l] += (x[i + l] - from) * (x[i + l] - from);
  }
  for (int l = 0; i < n; ++i, ++l) lanes[l] += (x[i] - from) * (x[i] - from);
  return Total(lanes);
}

MXNET_ALWAYS_INLINE float Dot(const float* a, const float* b, int64_t n) {
  float lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) lanes[l] += a[i + l] * b[i + l];
  }
  for (int l = 0; i < n; ++i, ++l) lanes[l] += a[i] * b[i];
  return Total(lanes);
}

}  // namespace training
}  // namespace graph
}  // namespace mxnet

#endif  // MXNET_SRC_GRAPH_TRAINING_LINES_H_
