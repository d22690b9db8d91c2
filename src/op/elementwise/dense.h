/*!
 * \file dense.h
 * \brief Elementwise operators on dense arrays: row-major, aligned, and of nonzero extents.
 */
#ifndef MXNET_SRC_OP_ELEMENTWISE_DENSE_H_
#define MXNET_SRC_OP_ELEMENTWISE_DENSE_H_

#include "op/elementwise/elementwise.h"

namespace mxnet {
namespace op {

/*! \brief Whether an array is dense; its size. */
inline bool IsDense(const DLTensor& array, int64_t item, int64_t* size) {
  int64_t expected = 1;
  for (int d = array.ndim - 1; d >= 0; --d) {
    if (array.strides[d] != expected) return false;
    expected *= array.shape[d];
  }
  *size = expected;
  return (reinterpret_cast<uintptr_t>(array.data) & static_cast<uintptr_t>(item - 1)) == 0;
}

/*! \brief Whether b has the shape of a, is dense as a is, and has its type. */
inline bool IsDenseLike(const DLTensor& b, const DLTensor& a, int64_t item) {
  if (b.ndim != a.ndim || b.dtype != a.dtype) return false;
  for (int d = 0; d < a.ndim; ++d) {
    if (b.shape[d] != a.shape[d] || b.strides[d] != a.strides[d]) return false;
  }
  return (reinterpret_cast<uintptr_t>(b.data) & static_cast<uintptr_t>(item - 1)) == 0;
}

/*! \brief Whether the result of a and b can be written to out, dense like a and either an input or
 * apart from both. */
inline bool TakesDense(const DLTensor& out, const DLTensor& a, const DLTensor& b, int64_t item,
                       int64_t size) {
  if (!IsDenseLike(out, a, item)) return false;
  const auto* to = static_cast<const char*>(out.data);
  for (const DLTensor* input : {&a, &b}) {
    const auto* data = static_cast<const char*>(input->data);
    if (data != to && data < to + size * item && to < data + size * item) return false;
  }
  return true;
}

/*! \brief Runs a loop over so many operands; a long one on several threads. */
template <int Count>
[[gnu::noinline]] void RunLong(InnerLoop loop, char* const* data, const int64_t* strides,
                               int64_t size) {
  InParallel(size, kElementsTimed, [&](int64_t begin, int64_t end) {
    char* moved[Count];
    for (int i = 0; i < Count; ++i) moved[i] = data[i] + begin * strides[i];
    loop(moved, strides, end - begin);
  });
}

template <int Count>
inline void RunDense(InnerLoop loop, char* const* data, const int64_t* strides, int64_t size) {
  if (__builtin_expect(size < kFewForThreads, 1)) return loop(data, strides, size);
  RunLong<Count>(loop, data, strides, size);
}

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_ELEMENTWISE_DENSE_H_
