/*!
 * \file creation.h
 * \brief What operators that make arrays share.
 */
#ifndef MXNET_SRC_OP_CREATION_CREATION_H_
#define MXNET_SRC_OP_CREATION_CREATION_H_

#include <mxnet/op/operator.h>

#include "op/tensor/number.h"
#include "op/tensor/strided.h"

namespace mxnet {
namespace op {

/*! \brief Writes the spec of a new array whose extents are all known, and throws what making it
 * throws: TypeError for the type, ValueError for a negative extent, MemoryError beyond int64. */
void SetMade(DLDataType dtype, ShapeView shape, MXNetTensorSpec* out);

/*! \brief Sets every element of a row-major tensor to the element at `value`. */
void FillElements(const DLTensor& tensor, const void* value);

/*! \brief The same with a Python number; errors of StoreNumber. */
void FillNumber(const DLTensor& tensor, const MXNetValue& number, int type_code);

/*! \brief The same with an array that broadcasts to the shape. */
void FillArray(const DLTensor& tensor, const DLTensor& array);

/*! \brief The element that 1 is in a type. */
const ElementBuffer& OneOf(DLDataType dtype);

/*! \brief Sets every element of a row-major tensor to 1. */
void FillOnes(const DLTensor& tensor);

/*!
 * \brief What an operator of one input and one output gives where nothing is promoted or converted,
 * and the output is where the input is.
 */
template <auto kInfer, auto kRun, typename Attributes>
NDArray MakeOf(const DLTensor& in, const Attributes& attributes, bool zeroed = false) {
  const MXNetTensorSpec input{in.dtype, in.dtype, in.ndim, kMXNetWeakNone, in.shape};
  DimBuffer shape;
  MXNetTensorSpec spec{{}, {}, 0, kMXNetWeakNone, shape.data};
  kInfer({&input, 1, &spec, 1, nullptr}, attributes);
  NDArray made = zeroed ? NDArray::Zeros(ShapeOf(spec), spec.dtype, in.device)
                        : NDArray::Empty(ShapeOf(spec), spec.dtype, in.device);
  DLTensor output = made.tensor();
  kRun({&in, 1, &output, 1, nullptr, nullptr}, attributes);
  return made;
}

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_CREATION_CREATION_H_
