/*!
 * \file take.h
 * \brief Elements by position.
 */
#ifndef MXNET_SRC_OP_KERNELS_INDEX_TAKE_H_
#define MXNET_SRC_OP_KERNELS_INDEX_TAKE_H_

#include <cstdint>

namespace mxnet {
namespace op {

/*! \brief Positions that are `step` words apart; negative ones count from the end. */
struct Indices {
  const int64_t* data;
  int64_t size;
  int64_t step{1};

  int64_t operator[](int64_t i) const noexcept { return data[i * step]; }
};

/*! \brief The number of the first index that is not from -extent to extent - 1; their size if none.
 */
int64_t FindOutOfBounds(const Indices& indices, int64_t extent);

/*!
 * \brief out[i] = data[indices[i]] for elements of `item` bytes, 1, 2, 4, 8 or 16. data is `stride`
 * bytes from one element to the next.
 */
void TakeElements(const char* data, int64_t stride, int64_t extent, int64_t item,
                  const Indices& indices, char* out);

/*! \brief data[indices[i]] = values[i], in this order; the values step by `value_stride` bytes. */
void PutElements(char* data, int64_t stride, int64_t extent, int64_t item, const Indices& indices,
                 const char* values, int64_t value_stride);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_INDEX_TAKE_H_
