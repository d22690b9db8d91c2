/*!
 * \file gather.h
 * \brief Moving blocks of elements between scattered positions and a dense span.
 */
#ifndef MXNET_SRC_OP_TENSOR_GATHER_H_
#define MXNET_SRC_OP_TENSOR_GATHER_H_

#include "op/tensor/strided.h"

namespace mxnet {
namespace op {

/*! \brief Some axes of an array; strides count elements. */
struct StridedAxes {
  DimBuffer shape;
  DimBuffer strides;

  void push_back(int64_t extent, int64_t stride) noexcept {
    shape.push_back(extent);
    strides.push_back(stride);
  }
};

/*!
 * \brief Elements of an array in the order: prefix axes, then offsets, then suffix axes.
 *
 * Offsets count elements, from data.
 */
struct ScatteredBlocks {
  char* data{nullptr};
  DLDataType dtype{};
  StridedAxes prefix;
  const int64_t* offsets{nullptr};
  int64_t count{0};
  StridedAxes suffix;
};

/*! \brief Copies the elements to a dense span. */
void GatherBlocks(const ScatteredBlocks& blocks, void* dense);

/*! \brief Copies a dense span to the elements; of a position named twice the last one counts. */
void ScatterBlocks(const ScatteredBlocks& blocks, const void* dense);

/*! \brief Sets all of the elements to one. */
void FillBlocks(const ScatteredBlocks& blocks, const void* element);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_TENSOR_GATHER_H_
