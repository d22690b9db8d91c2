/*!
 * \file attention_heads.h
 * \brief Heads of attention in arrays of four axes: batch, head, position and element.
 */
#ifndef MXNET_SRC_GRAPH_ATTENTION_HEADS_H_
#define MXNET_SRC_GRAPH_ATTENTION_HEADS_H_

#include <mxnet/op/kernel.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/training/lines.h"
#include "op/kernels/attention/attention.h"

namespace mxnet {
namespace graph {

/*! \brief An operand at any strides, which are 0 along an axis that is repeated. */
struct AttentionHeads {
  explicit AttentionHeads(const DLTensor& tensor);

  /*! \brief The positions of one head. */
  op::StridedRows Of(int64_t batch, int64_t head) const {
    return {data + batch * strides[0] + head * strides[1], strides[2], strides[3]};
  }

  /*! \brief The same of a mask, which has fewer axes perhaps. */
  op::AttentionMask MaskOf(int64_t batch, int64_t head, bool is_bool) const;

  const float* data;
  std::array<int64_t, 4> strides{};
};

/*! \brief Rows of one head in what is written, which has no gaps. */
struct WrittenHeads {
  int64_t heads;
  int64_t positions;
  int64_t size;
  bool joins; /*!< whether the heads are behind the positions */

  int64_t row() const { return joins ? heads * size : size; }
  int64_t At(int64_t batch, int64_t head) const {
    return batch * heads * positions * size + head * (joins ? size : positions * size);
  }
  training::Shape ShapeOf(int64_t batch) const {
    if (joins) return {batch, positions, heads, size};
    return {batch, heads, positions, size};
  }
};

/*! \brief The extents of attention; ValueError for shapes that do not go together, and empty ones.
 */
struct AttentionExtents {
  AttentionExtents(const training::Shape& q, const training::Shape& k, const training::Shape& v,
                   const std::optional<training::Shape>& mask);

  int64_t batch;
  int64_t heads;
  int64_t key_heads; /*!< a divisor of heads */
  int64_t queries;
  int64_t keys;
  int64_t size;
  int64_t value_size;
};

/*! \brief ValueError for a number that scores cannot be multiplied by. */
void CheckAttentionScale(double scale);

/*! \brief Adds that of a mask, if there is one. */
void AddMask(std::vector<op::KernelInput>* inputs, const std::optional<training::Shape>& mask,
             bool is_bool);

}  // namespace graph
}  // namespace mxnet

#endif  // MXNET_SRC_GRAPH_ATTENTION_HEADS_H_
