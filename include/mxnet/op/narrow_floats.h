/*!
 * \file mxnet/op/narrow_floats.h
 * \brief The conversions of float16 and bfloat16, as functions in C++ for the CPU, and for a device
 * where the compiler is one of CUDA or HIP.
 */
#ifndef MXNET_OP_NARROW_FLOATS_H_
#define MXNET_OP_NARROW_FLOATS_H_

#include <cstdint>
#include <cstring>

#if defined(__CUDACC__) || defined(__HIPCC__)
#define MXNET_NARROW_FLOAT_SIDES __host__ __device__
#else
#define MXNET_NARROW_FLOAT_SIDES
#endif
// What is compiled for an instruction set has its conversions compiled for that, too.
#ifdef __GNUC__
#define MXNET_NARROW_FLOAT_INLINE inline __attribute__((always_inline))
#else
#define MXNET_NARROW_FLOAT_INLINE inline
#endif

namespace mxnet {
namespace op {
namespace narrow_floats {

#define MXNET_NARROW_FLOAT(name, ...) MXNET_NARROW_FLOAT_SIDES MXNET_NARROW_FLOAT_INLINE __VA_ARGS__
#define MXNET_NARROW_FLOAT_BITS MXNET_NARROW_FLOAT
#include <mxnet/op/narrow_floats.inc>

}  // namespace narrow_floats
}  // namespace op
}  // namespace mxnet

#endif  // MXNET_OP_NARROW_FLOATS_H_
