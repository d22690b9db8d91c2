/*!
 * \file indexing_selection.h
 * \brief The elements that a key with index arrays names.
 */
#ifndef MXNET_SRC_API_NUMPY_INDEXING_SELECTION_H_
#define MXNET_SRC_API_NUMPY_INDEXING_SELECTION_H_

#include <vector>

#include "api/numpy/indexing_key.h"

namespace mxnet {
namespace op {

/*!
 * \brief The shape of what any key selects of a tensor without elements, whose extents may be
 * symbolic. The values of index arrays are not checked, and only those of masks are read.
 */
void InferSelection(const IndexKey& key, const MXNetTensorSpec& spec, DimBuffer* shape);

/*!
 * \brief An advanced key applied to an array: the elements it names, and the shape they have.
 *
 * The array may be anywhere, as only its layout is read; index arrays are brought to the
 * host.
 */
class Selection {
 public:
  Selection(const IndexKey& key, const DLTensor& tensor);

  /*! \brief Reads the indices, for blocks(). IndexError for one that is out of bounds. */
  void ReadIndices();

  const ScatteredBlocks& blocks() const noexcept { return blocks_; }
  ShapeView shape() const noexcept { return shape_.view(); }
  int64_t size() const noexcept { return shape_.product(); }

 private:
  std::vector<AxisIndices> arrays_;
  DimBuffer index_shape_;
  NDArray offsets_;
  ScatteredBlocks blocks_;
  DimBuffer shape_;
};

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_NUMPY_INDEXING_SELECTION_H_
