/*!
 * \file intrinsics.h
 * \brief The instructions of x86-64 as functions, where loops are compiled for several levels.
 */
#ifndef MXNET_SRC_OP_KERNELS_LANES_INTRINSICS_H_
#define MXNET_SRC_OP_KERNELS_LANES_INTRINSICS_H_

#include "op/kernels/cpu.h"

#if MXNET_CPU_LEVELS
#if !defined(__clang__)
// GCC 12 warns of the undefined registers that its own intrinsics start from.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif

#endif  // MXNET_SRC_OP_KERNELS_LANES_INTRINSICS_H_
