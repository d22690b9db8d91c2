/*!
 * \file reinterpret.cc
 * \brief Views of the same memory as other elements: view, real, imag.
 */
#include <mxnet/op/operator.h>

#include "op/schema/describe.h"
#include "op/semantics/promotion.h"
#include "op/tensor/views.h"

namespace mxnet {
namespace op {
namespace {

struct ViewAttributes {
  std::optional<DLDataType> dtype;
};

void InferView(const InferCall& call, const ViewAttributes& attributes) {
  const MXNetTensorSpec& in = call.in[0];
  const DLDataType dtype = attributes.dtype.value_or(in.dtype);
  CheckedIndexOfDType(dtype);
  SetSpec(dtype, ShapeOf(in), call.out);
  const int64_t from = ItemSize(in.dtype);
  const int64_t to = ItemSize(dtype);
  if (from == to) return;
  if (in.ndim == 0) {
    MXNET_THROW("ValueError") << "Changing the dtype of a 0d array is only supported if the "
                              << "itemsize is unchanged";
  }
  const int64_t bytes = MultiplyExtent(in.shape[in.ndim - 1], from);
  if (!IsSymbolic(bytes) && bytes % to != 0) {
    MXNET_THROW("ValueError") << "When changing to a larger dtype, its size must be a divisor of "
                              << "the total size in bytes of the last axis of the array.";
  }
  call.out->shape[in.ndim - 1] = DivideExtent(bytes, to);
}

MXNetViewKind ViewAs(const ViewCall& call, const ViewAttributes&) {
  const DLTensor& in = call.in;
  int64_t* strides = call.out->strides;
  for (int d = 0; d < in.ndim; ++d) strides[d] = in.strides[d];
  const int64_t from = ItemSize(in.dtype);
  const int64_t to = ItemSize(call.out->dtype);
  if (from == to) return kMXNetViewMade;
  const int last = in.ndim - 1;
  const bool empty = TensorSize(in) == 0;
  if (!empty && in.shape[last] != 1 && in.strides[last] != 1) {
    MXNET_THROW("ValueError") << "To change to a dtype of a different size, the last axis must be "
                              << "contiguous";
  }
  for (int d = 0; d < last; ++d) {
    if (!empty && in.shape[d] > 1 && strides[d] * from % to != 0) {
      MXNET_THROW("ValueError") << "axis " << d << " steps by " << strides[d] * from
                                << " bytes, which is no multiple of the new itemsize";
    }
    strides[d] = strides[d] * from / to;
  }
  strides[last] = 1;
  return kMXNetViewMade;
}

void InferPart(const InferCall& call, const NoAttributes&) {
  SetSpec(RealOfDType(call.in[0].dtype), ShapeOf(call.in[0]), call.out);
}

/*! \brief Every second component of complex elements, from the first or the second on. */
MXNetViewKind ViewPart(const ViewCall& call, int part) {
  for (int d = 0; d < call.in.ndim; ++d) call.out->strides[d] = 2 * call.in.strides[d];
  if (TensorSize(call.in) != 0) {
    call.out->byte_offset = static_cast<uint64_t>(part * ItemSize(call.out->dtype));
  }
  return kMXNetViewMade;
}

MXNetViewKind ViewReal(const ViewCall& call, const NoAttributes&) {
  return IsComplexDType(call.in.dtype) ? ViewPart(call, 0) : kMXNetViewInput;
}

MXNetViewKind ViewImaginary(const ViewCall& call, const NoAttributes&) {
  return IsComplexDType(call.in.dtype) ? ViewPart(call, 1) : kMXNetViewNone;
}

MXNET_REGISTER_OPERATOR("_npi.view", ViewAttributes)
    .describe("A view of the memory of an array as elements of another type, along its last axis.")
    .input("a", kArrayDoc)
    .attribute("dtype", &ViewAttributes::dtype, nullptr, "The type; that of the array if None.")
    .infer(&InferView)
    .view(&ViewAs);

MXNET_REGISTER_OPERATOR("_npi.real", NoAttributes)
    .describe(
        "The real part, of the shape of val: a view into a complex array, another array itself.")
    .input("val", "The array.")
    .infer(&InferPart)
    .view(&ViewReal);

MXNET_REGISTER_OPERATOR("_npi.imag", NoAttributes)
    .describe(
        "The imaginary part, of the shape of val: a view into a complex array, else zeros, which "
        "are read-only.")
    .input("val", "The array.")
    .properties(kMXNetOpZeros | kMXNetOpReadOnlyCopy)
    .infer(&InferPart)
    .view(&ViewImaginary);

}  // namespace
}  // namespace op
}  // namespace mxnet
