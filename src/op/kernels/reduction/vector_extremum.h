/*!
 * \file vector_extremum.h
 * \brief The largest or smallest of a span of numbers in the registers of AVX2 and AVX-512.
 */
#ifndef MXNET_SRC_OP_KERNELS_REDUCTION_VECTOR_EXTREMUM_H_
#define MXNET_SRC_OP_KERNELS_REDUCTION_VECTOR_EXTREMUM_H_

#include <cstdint>
#include <type_traits>

namespace mxnet {
namespace op {

/*! \brief Rows that are combined at a time. */
constexpr int kRowsOfExtremum = 4;

/*! \brief What works on a span of n > 0 numbers; NULL on lesser processors. */
template <typename T>
struct VectorExtremum {
  /*! \brief The largest, or smallest; where *has_nan the result is not specified. */
  T (*extremum)(const T* x, int64_t n, bool* has_nan){nullptr};
  /*! \brief Position of the first that equals a value, which is there. */
  int64_t (*find)(const T* x, int64_t n, T value){nullptr};
  /*!
   * \brief Combines the addresses' kRowsOfExtremum rows of n elements with what their columns have
   * so far; a NaN stays.
   */
  void (*rows)(const char* const* rows, int64_t n, T* total){nullptr};
  /*! \brief The same of rows of which every other element counts, from the first on. */
  void (*even_rows)(const char* const* rows, int64_t n, T* total){nullptr};
};

/*! \brief Whether there are such for T. */
template <typename T>
constexpr bool kHasVectorExtremum = std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t> ||
                                    std::is_same_v<T, float> || std::is_same_v<T, double>;

template <bool kLargest, typename T>
VectorExtremum<T> FindVectorExtremum() noexcept;

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_REDUCTION_VECTOR_EXTREMUM_H_
