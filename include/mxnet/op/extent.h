/*!
 * \file mxnet/op/extent.h
 * \brief Arithmetic of extents that may be symbolic, for infer.
 *
 * An extent is an int64_t; a negative one stands for a symbol, or for what was computed of some.
 * Where both operands are known nothing but the arithmetic is done.
 */
#ifndef MXNET_OP_EXTENT_H_
#define MXNET_OP_EXTENT_H_

#include <mxnet/op/c_operator_api.h>
#include <mxnet/runtime/extents.h>

#include <string>

namespace mxnet {
namespace op {

inline bool IsSymbolic(int64_t extent) noexcept { return extent < 0; }

/*! \brief Whether all extents are known. */
inline bool IsKnown(runtime::ShapeView shape) noexcept {
  int64_t any = 0;
  for (int64_t extent : shape) any |= extent;
  return any >= 0;
}

/*! \brief Whether two extents cannot be equal; of symbols that is not known. */
inline bool AreDifferent(int64_t a, int64_t b) noexcept { return a != b && a >= 0 && b >= 0; }

namespace details MXNET_HIDDEN {

[[gnu::cold, gnu::noinline]] inline int64_t Combine(MXNetExtentOperation operation, int64_t a,
                                                    int64_t b) {
  int64_t result = 0;
  MXNET_CHECK_CALL(MXNetExtentCombine(operation, a, b, &result));
  return result;
}

}  // namespace details MXNET_HIDDEN

/*! \brief a + b. Throws ValueError beyond int64, as do the others. */
inline int64_t AddExtent(int64_t a, int64_t b) {
  if (__builtin_expect((a | b) >= 0, 1)) return runtime::AddExtents(a, b);
  return details::Combine(kMXNetExtentAdd, a, b);
}

/*! \brief a * b. */
inline int64_t MultiplyExtent(int64_t a, int64_t b) {
  if (__builtin_expect((a | b) >= 0, 1)) return runtime::MultiplyExtents(a, b);
  return details::Combine(kMXNetExtentMultiply, a, b);
}

/*! \brief a - b; ValueError where that is known to be negative. */
inline int64_t SubtractExtent(int64_t a, int64_t b) {
  if (__builtin_expect((a | b) >= 0 && a >= b, 1)) return a - b;
  return details::Combine(kMXNetExtentSubtract, a, b);
}

/*! \brief The greatest integer not above a / b, of a positive b. */
inline int64_t DivideExtent(int64_t a, int64_t b) {
  if (__builtin_expect(a >= 0 && b > 0, 1)) return a / b;
  return details::Combine(kMXNetExtentFloorDivide, a, b);
}

/*! \brief The smaller of two. */
inline int64_t MinExtent(int64_t a, int64_t b) {
  if (__builtin_expect((a | b) >= 0, 1)) return a < b ? a : b;
  return details::Combine(kMXNetExtentMin, a, b);
}

/*! \brief a - b, or 0 where that is negative. */
inline int64_t MonusExtent(int64_t a, int64_t b) {
  if (__builtin_expect((a | b) >= 0, 1)) return a > b ? a - b : 0;
  return details::Combine(kMXNetExtentMonus, a, b);
}

/*! \brief The extent of two axes that broadcast together, which AreDifferent or not must be told
 * before: of known ones that are, one has to be 1. */
inline int64_t BroadcastExtent(int64_t a, int64_t b) {
  if (a == b || b == 1) return a;
  if (a == 1) return b;
  return details::Combine(kMXNetExtentBroadcast, a, b);
}

/*! \brief A symbol that no other extent is equal to. */
inline int64_t NewExtent(const char* prefix) {
  int64_t extent = 0;
  MXNET_CHECK_CALL(MXNetExtentNew(prefix, &extent));
  return extent;
}

/*! \brief The number of elements of a shape. */
inline int64_t SizeOf(runtime::ShapeView shape) {
  int64_t size = 1;
  for (int64_t extent : shape) size = MultiplyExtent(size, extent);
  return size;
}

/*! \brief "3", or the text of a symbolic extent, "2*batch". */
inline std::string ExtentText(int64_t extent) {
  if (!IsSymbolic(extent)) return std::to_string(extent);
  const char* text = nullptr;
  MXNET_CHECK_CALL(MXNetExtentText(extent, &text));
  return text;
}

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_OP_EXTENT_H_
