/*!
 * \file fill.h
 * \brief One element, written many times.
 */
#ifndef MXNET_SRC_OP_KERNELS_ELEMENTWISE_FILL_H_
#define MXNET_SRC_OP_KERNELS_ELEMENTWISE_FILL_H_

#include <cstdint>

namespace mxnet {
namespace op {

/*! \brief Writes an element of `item` bytes, 1, 2, 4, 8 or 16, n times, one after the other; both
 * may lie at any address. */
void FillDense(const void* element, int64_t item, int64_t n, void* to);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_ELEMENTWISE_FILL_H_
