/*!
 * \file nonzero.h
 * \brief Where the bytes of a mask are not zero.
 */
#ifndef MXNET_SRC_OP_KERNELS_SELECT_NONZERO_H_
#define MXNET_SRC_OP_KERNELS_SELECT_NONZERO_H_

#include <cstdint>

namespace mxnet {
namespace op {

/*! \brief How many of n bytes are not zero. */
int64_t CountNonzero(const uint8_t* mask, int64_t n);

/*! \brief Writes the positions of the `count` bytes of n that are not zero. */
void WriteNonzero(const uint8_t* mask, int64_t n, int64_t count, int64_t* positions);

/*!
 * \brief From ascending row-major positions to indices along ndim axes.
 *
 * The indices along axis d go to indices[d].
 */
void UnravelAscending(const int64_t* positions, int64_t count, const int64_t* shape, int ndim,
                      int64_t* const* indices);

/*! \brief Writes the `count` of n elements of `item` bytes whose byte in the mask is not zero. */
void CompressElements(const char* data, int64_t item, const uint8_t* mask, int64_t n, int64_t count,
                      char* out);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_SELECT_NONZERO_H_
