/*!
 * \file mxnet/runtime/extents.h
 * \brief Sizes computed of extents: what is beyond 64 bits is an error, and never wraps.
 */
#ifndef MXNET_RUNTIME_EXTENTS_H_
#define MXNET_RUNTIME_EXTENTS_H_

#include <mxnet/runtime/container/shape.h>
#include <mxnet/runtime/data_type.h>

namespace mxnet {
namespace runtime {

/*! \brief Axes that an array has at most. */
constexpr int kMaxNdim = 64;

namespace details MXNET_HIDDEN {

[[noreturn, gnu::cold, gnu::noinline]] inline void ThrowExtent(int64_t a, char sign, int64_t b) {
  MXNET_THROW("ValueError") << "an axis of " << a << " " << sign << " " << b
                            << " elements is longer than 2**63 - 1";
}

[[noreturn, gnu::cold, gnu::noinline]] inline void ThrowNoMemory(ShapeView shape,
                                                                 DLDataType dtype) {
  MXNET_THROW("MemoryError") << "unable to allocate an array with shape " << shape.str()
                             << " and data type " << DataTypeName(dtype);
}

}  // namespace details MXNET_HIDDEN

/*! \brief The extent of two axes one after the other. Throws ValueError beyond int64. */
inline int64_t AddExtents(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) details::ThrowExtent(a, '+', b);
  return sum;
}

/*! \brief The extent of an axis repeated, or of two axes as one. Throws ValueError beyond int64. */
inline int64_t MultiplyExtents(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) details::ThrowExtent(a, '*', b);
  return product;
}

/*!
 * \brief Bytes of all elements of a shape without negative extents; false beyond int64.
 *
 * Also where the shape is empty, and the other extents alone are too large: strides are computed
 * without those that are 0, and must not overflow either.
 */
inline bool TryBytes(ShapeView shape, DLDataType dtype, int64_t* out) noexcept {
  int64_t bytes = ItemSize(dtype);
  bool empty = false;
  for (int64_t extent : shape) {
    empty |= extent == 0;
    if (extent != 0 && __builtin_mul_overflow(bytes, extent, &bytes)) return false;
  }
  *out = empty ? 0 : bytes;
  return true;
}

namespace details MXNET_HIDDEN {

/*! \brief CheckedBytes where an extent is not positive, or there are too many elements. */
[[gnu::cold, gnu::noinline]] inline size_t CheckedOddBytes(ShapeView shape, DLDataType dtype) {
  for (int64_t extent : shape) {
    if (extent < 0) {
      MXNET_THROW("ValueError") << "negative dimensions are not allowed, got shape " << shape.str();
    }
  }
  int64_t bytes;
  if (!TryBytes(shape, dtype, &bytes)) ThrowNoMemory(shape, dtype);
  return static_cast<size_t>(bytes);
}

}  // namespace details MXNET_HIDDEN

/*!
 * \brief Bytes of all elements of a shape.
 *
 * Throws ValueError where an extent is negative, MemoryError where they are beyond int64. The rare
 * cases are told apart only once something is odd.
 */
inline size_t CheckedBytes(ShapeView shape, DLDataType dtype) {
  int64_t bytes = ItemSize(dtype);
  bool odd = false;
  for (int64_t extent : shape) odd |= __builtin_mul_overflow(bytes, extent, &bytes) || extent <= 0;
  return __builtin_expect(!odd, 1) ? static_cast<size_t>(bytes)
                                   : details::CheckedOddBytes(shape, dtype);
}

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_EXTENTS_H_
