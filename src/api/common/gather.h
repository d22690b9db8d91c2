/*!
 * \file gather.h
 * \brief Moving blocks of elements between scattered places and a dense run.
 */
#ifndef MXNET_SRC_API_COMMON_GATHER_H_
#define MXNET_SRC_API_COMMON_GATHER_H_

#include "api/common/strided.h"

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

/*! \brief Copies the elements to a dense run. */
void GatherBlocks(const ScatteredBlocks& blocks, void* dense);

/*! \brief Copies a dense run to the elements; of a place named twice the last one counts. */
void ScatterBlocks(const ScatteredBlocks& blocks, const void* dense);

/*! \brief Sets all of the elements to one. */
void FillBlocks(const ScatteredBlocks& blocks, const void* element);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_COMMON_GATHER_H_
