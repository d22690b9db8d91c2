/*!
 * \file lookup.h
 * \brief Results of a function of one byte, looked up instead of computed.
 */
#ifndef MXNET_SRC_OP_KERNELS_ELEMENTWISE_LOOKUP_H_
#define MXNET_SRC_OP_KERNELS_ELEMENTWISE_LOOKUP_H_

#include <cstdint>

namespace mxnet {
namespace op {

/*! \brief How many values a byte has. */
constexpr int kByteValues = 256;

/*!
 * \brief out[i] = results[x[i]], x being n bytes that are `stride` apart; out is apart from them.
 */
void LookUpBytes(const uint16_t* results, const char* x, int64_t stride, int64_t n, uint16_t* out);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_ELEMENTWISE_LOOKUP_H_
