/*!
 * \file fill.cc
 * \brief Filling arrays with one element.
 */
#include "op/kernels/elementwise/fill.h"

#include "op/creation/creation.h"
#include "op/tensor/axes.h"
#include "op/tensor/cast.h"
#include "op/tensor/strided.h"

namespace mxnet {
namespace op {

void SetMade(DLDataType dtype, ShapeView shape, MXNetTensorSpec* out) {
  CheckedIndexOfDType(dtype);
  runtime::CheckedBytes(shape, dtype);
  SetSpec(dtype, shape, out);
}

void FillElements(const DLTensor& tensor, const void* value) {
  FillDense(value, ItemSize(tensor.dtype), TensorSize(tensor), TensorData(tensor));
}

void FillNumber(const DLTensor& tensor, const MXNetValue& number, int type_code) {
  ElementBuffer element;
  StoreNumber(number, type_code, tensor.dtype, &element);
  FillElements(tensor, &element);
}

void FillArray(const DLTensor& tensor, const DLTensor& array) {
  CheckBroadcastInto(TensorShape(array), TensorShape(tensor));
  CopyCast(array, tensor);
}

const ElementBuffer& OneOf(DLDataType dtype) {
  static const struct Ones {
    Ones() {
      MXNetValue one;
      one.v_int64 = 1;
      for (int i = 0; i < kNumDTypes; ++i) StoreNumber(one, kMXNetInt, kDTypes[i], &elements[i]);
    }
    ElementBuffer elements[kNumDTypes];
  } ones;
  return ones.elements[CheckedIndexOfDType(dtype)];
}

void FillOnes(const DLTensor& tensor) { FillElements(tensor, &OneOf(tensor.dtype)); }

}  // namespace op
}  // namespace mxnet
