/*!
 * \file cast.h
 * \brief Copying with conversion of the element type.
 */
#ifndef MXNET_SRC_OP_TENSOR_CAST_H_
#define MXNET_SRC_OP_TENSOR_CAST_H_

#include <mxnet/op/conversions.h>
#include <mxnet/runtime/ndarray.h>

#include "op/semantics/dispatch.h"
#include "op/tensor/strided.h"

namespace mxnet {
namespace op {

/*!
 * \brief Converts one value as NumPy's astype does.
 *
 * To bool it compares with zero; of a complex number a real type takes the real part; integers
 * wrap. What floats are as integers is that of mxnet/op/conversions.inc.
 */
template <typename To, typename From>
inline To CastValue(From value) noexcept {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<To, bool>) {
    if constexpr (kIsComplexType<From>) {
      return CastValue<bool>(value.real()) || CastValue<bool>(value.imag());
    } else if constexpr (kIsHalfType<From>) {
      return CastValue<bool>(static_cast<float>(value));
    } else if constexpr (std::is_floating_point_v<From>) {
      return IntegerOfFloat<bool>(value);
    } else {
      return value != 0;
    }
  } else if constexpr (kIsHalfType<From>) {
    return CastValue<To>(static_cast<float>(value));
  } else if constexpr (kIsComplexType<To>) {
    using Part = typename To::value_type;
    if constexpr (kIsComplexType<From>) {
      return To(static_cast<Part>(value.real()), static_cast<Part>(value.imag()));
    } else {
      return To(static_cast<Part>(value), Part(0));
    }
  } else if constexpr (kIsComplexType<From>) {
    return CastValue<To>(value.real());
  } else if constexpr (kIsHalfType<To>) {
    if constexpr (std::is_same_v<From, double>) return To(value);
    return To(static_cast<float>(value));
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    return IntegerOfFloat<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

/*! \brief An inner loop of N operands: data and byte strides of each, number of elements. */
using InnerLoop = void (*)(char* const* data, const int64_t* strides, int64_t n);

/*! \brief The inner loop (to, from) that converts elements; arguments are of DTypeIndex. */
InnerLoop CastLoop(int from, int to) noexcept;

/*!
 * \brief Copies src, which broadcasts to the shape of dst, into dst with conversion.
 *
 * The two may overlap in any way: dst is as if src had been read whole before. ValueError where the
 * shapes do not fit.
 */
void CopyCast(const DLTensor& src, const DLTensor& dst);

/*! \brief A new row-major array of the elements, of another type or the same. */
NDArray AsType(const DLTensor& src, DLDataType dtype);

/*! \brief A new row-major array of the elements. */
NDArray Contiguous(const DLTensor& src);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_TENSOR_CAST_H_
