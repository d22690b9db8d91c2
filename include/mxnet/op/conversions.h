/*!
 * \file mxnet/op/conversions.h
 * \brief The conversions of floats to integers, as functions in C++ for the CPU, and for a device
 * where the compiler is one of CUDA or HIP.
 */
#ifndef MXNET_OP_CONVERSIONS_H_
#define MXNET_OP_CONVERSIONS_H_

#include <cstdint>

#if defined(__CUDACC__) || defined(__HIPCC__)
#define MXNET_CONVERSION_SIDES __host__ __device__
#else
#define MXNET_CONVERSION_SIDES
#endif
// What is compiled for an instruction set has its conversions compiled for that, too.
#ifdef __GNUC__
#define MXNET_CONVERSION_INLINE inline __attribute__((always_inline))
#else
#define MXNET_CONVERSION_INLINE inline
#endif

namespace mxnet {
namespace op {
namespace conversions {

/*! \brief See mxnet/op/conversions.inc. */
template <typename C_>
struct OfFloat {
  using C = C_;
#define MXNET_CONVERSION(name, ...) \
  MXNET_CONVERSION_SIDES static MXNET_CONVERSION_INLINE __VA_ARGS__
#include <mxnet/op/conversions.inc>
};

using int8 = int8_t;
using int16 = int16_t;
using int32 = int32_t;
using int64 = int64_t;
using uint8 = uint8_t;
using uint16 = uint16_t;
using uint32 = uint32_t;
using uint64 = uint64_t;

template <typename To>
struct Integer;
#define MXNET_INTEGER_OF_FLOAT(type, name)                                   \
  template <>                                                                \
  struct Integer<type> {                                                     \
    template <typename C>                                                    \
    MXNET_CONVERSION_SIDES static MXNET_CONVERSION_INLINE type Of(C value) { \
      return static_cast<type>(OfFloat<C>::name(value));                     \
    }                                                                        \
  };
#include <mxnet/op/conversions.inc>

}  // namespace conversions

/*! \brief A float or double as an element of an integer type, or bool. */
template <typename To, typename C>
MXNET_CONVERSION_SIDES MXNET_CONVERSION_INLINE To IntegerOfFloat(C value) {
  return conversions::Integer<To>::Of(value);
}

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_OP_CONVERSIONS_H_
