/*!
 * \file vector_sort.h
 * \brief Sorting of one span of numbers in the registers of AVX2 and AVX-512.
 */
#ifndef MXNET_SRC_OP_KERNELS_SORT_VECTOR_SORT_H_
#define MXNET_SRC_OP_KERNELS_SORT_VECTOR_SORT_H_

#include <cstdint>

namespace mxnet {
namespace op {

/*! \brief What works on a span of int32_t, int64_t, float or double; NULL on lesser processors. */
template <typename T>
struct VectorSort {
  /*! \brief Whether elements are in order, which NaN are not. */
  bool (*is_sorted)(const T* x, int64_t n){nullptr};
  /*! \brief Sorts n elements in place. There is no NaN; -0 and 0 are equal. */
  void (*sort)(T* x, int64_t n){nullptr};
  /*! \brief Moves the first of each run of equal elements of a sorted span to the front; how many.
   * NaN equals nothing. */
  int64_t (*unique)(T* x, int64_t n){nullptr};
};

template <typename T>
VectorSort<T> FindVectorSort() noexcept;

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_SORT_VECTOR_SORT_H_
