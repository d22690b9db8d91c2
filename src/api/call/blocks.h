/*!
 * \file blocks.h
 * \brief Elementwise operators whose operands have to be converted, executed block by block.
 *
 * What is converted, before it is computed with or before it is written, is a block that stays in
 * the cache, so that elements in memory are read once and written once and no array is made of
 * them.
 */
#ifndef MXNET_SRC_API_CALL_BLOCKS_H_
#define MXNET_SRC_API_CALL_BLOCKS_H_

#include <mxnet/op/c_operator_api.h>

#include "op/tensor/strided.h"

namespace mxnet {
namespace op {

/*! \brief Whether an operator can be executed in blocks, and an output is worth it. */
bool IsForBlocks(const MXNetOperator& op, const MXNetTensorSpec& output);

/*! \brief A call of such an operator, whose inputs are of the types that they were given. */
struct BlockCall {
  const MXNetOperator& op;
  const void* attributes;
  const MXNetTensorSpec* specs; /*!< of the inputs, of the types that they are converted to */
  const DLTensor* inputs;
  int num_in;
  DLDataType result; /*!< what run gives, before it is converted to the type of the output */
};

/*! \brief Whether any input is given in another type than the operator takes. */
bool ConvertsInputs(const BlockCall& call);

/*!
 * \brief Executes a call in blocks, on several threads where it is long.
 *
 * False, and nothing is done, where that gains nothing, as nothing is converted and run can write
 * to out, and where out lies over other elements of an input than those that it is computed of.
 */
bool TryInBlocks(const BlockCall& call, const DLTensor& out);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_CALL_BLOCKS_H_
