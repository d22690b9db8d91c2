/*!
 * \file exact_division.h
 * \brief Quotients rounded down, and the remainders they leave, of many numbers at a time.
 *
 * The quotient of two numbers of a register is rounded towards zero, which may give one too many;
 * the remainder, which is exact because a product and a difference are rounded once, tells so.
 */
#ifndef MXNET_SRC_OP_KERNELS_ELEMENTWISE_EXACT_DIVISION_H_
#define MXNET_SRC_OP_KERNELS_ELEMENTWISE_EXACT_DIVISION_H_

#include <cmath>
#include <cstdint>
#include <limits>

namespace mxnet {
namespace op {

/*!
 * \brief out[i] is a[i * a_step] divided by b[i * b_step], steps being 0 or 1, or what remains.
 *
 * False where it is not for some of them, which IsExact tells. out is apart from a and b. Of an
 * integer divided by 0 both are 0.
 */
template <typename T>
using ExactDivision = bool (*)(const T* a, int64_t a_step, const T* b, int64_t b_step, int64_t n,
                               T* out);

/*! \brief The one for float, double or int64; NULL where the processor has not the instructions. */
template <typename T>
ExactDivision<T> FindExactQuotients() noexcept;
template <typename T>
ExactDivision<T> FindExactRemainders() noexcept;

/*! \brief Whether an ExactDivision is exact for a and b. */
inline bool IsExact(double a, double b) {
  return std::fabs(a / b) < 0x1p50 && std::fabs(b) <= std::numeric_limits<double>::max();
}
inline bool IsExact(float a, float b) {
  return std::fabs(a / b) < 0x1p21f && std::fabs(b) <= std::numeric_limits<float>::max();
}
/*!
 * \brief Whether double has both, so that no quotient is rounded up to a whole number, and all
 * processors convert them by additions.
 */
inline bool IsExact(int64_t a, int64_t b) {
  constexpr uint64_t kBeyond = uint64_t(1) << 51;
  return static_cast<uint64_t>(a) + kBeyond < 2 * kBeyond &&
         static_cast<uint64_t>(b) + kBeyond < 2 * kBeyond;
}

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_ELEMENTWISE_EXACT_DIVISION_H_
