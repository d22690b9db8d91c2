/*!
 * \file vector_math.h
 * \brief Elementary functions of many numbers at a time.
 *
 * The vector functions of the C library's libmvec take a register of numbers each, with at most 4
 * units in the last place of error. They are there with glibc on x86-64; elsewhere, and where the
 * library is too old to have a function, operators call the scalar one for each element.
 */
#ifndef MXNET_SRC_OP_KERNELS_ELEMENTWISE_VECTOR_MATH_H_
#define MXNET_SRC_OP_KERNELS_ELEMENTWISE_VECTOR_MATH_H_

#include <cstdint>

namespace mxnet {
namespace op {

/*! \brief A vector function and the loop that applies it; run is NULL where there is none. */
template <typename T>
struct VectorUnary {
  void (*function)();
  void (*run)(void (*function)(), const T* x, T* out, int64_t n);
  explicit operator bool() const noexcept { return run != nullptr; }
  /*! \brief out[i] = f(x[i]); out is x or apart from it. */
  void operator()(const T* x, T* out, int64_t n) const { run(function, x, out, n); }
};

template <typename T>
struct VectorBinary {
  void (*function)();
  void (*run)(void (*function)(), const T* a, const T* b, T* out, int64_t n);
  explicit operator bool() const noexcept { return run != nullptr; }
  /*! \brief out[i] = f(a[i], b[i]); out is one of the inputs or apart from both. */
  void operator()(const T* a, const T* b, T* out, int64_t n) const { run(function, a, b, out, n); }
};

/*! \brief The vector function for the C function of this name ("exp"), or for "sigmoid", of float
 * or double. */
template <typename T>
VectorUnary<T> FindVectorUnary(const char* name) noexcept;
template <typename T>
VectorBinary<T> FindVectorBinary(const char* name) noexcept;

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_ELEMENTWISE_VECTOR_MATH_H_
