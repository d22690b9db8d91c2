/*!
 * \file outputs.cc
 * \brief Placing outputs, so that each is written once.
 */
#include "api/call/outputs.h"

#include <mxnet/op/operator.h>

#include <utility>

#include "api/common/cast.h"
#include "api/common/promotion.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief Whether an operator can write to out at once, and no input changes under it. */
bool CanWriteTo(const DLTensor& out, DLDataType dtype, const MXNetOperator& op,
                const DLTensor* inputs, int num_in) {
  if (out.dtype != dtype || !IsAligned(out)) return false;
  if ((op.properties & kMXNetOpStridedOutput) == 0 && !IsContiguous(out)) return false;
  const bool in_place = (op.properties & kMXNetOpInPlace) != 0;
  for (int i = 0; i < num_in; ++i) {
    const DLTensor& input = inputs[i];
    if (input.ndim < 0 || !MayOverlap(input, out)) continue;
    if (!in_place || !SameElements(input, out)) return false;
  }
  return true;
}

/*! \brief What `out` is; throws where it does not fit. */
NDArray TargetOf(const MXNetTensorSpec& spec, const MXNetArgValue& out, const MXNetOperator& op) {
  const DLTensor* tensor = nullptr;
  const bool narrow = (op.properties & kMXNetOpNarrowOut) != 0 && out.TryAs(&tensor) == Match::kOk;
  if (!narrow) return CheckedOut(out, ShapeOf(spec), spec.dtype);
  if (PromoteTypes(tensor->dtype, spec.dtype) != spec.dtype) {
    MXNET_THROW("TypeError") << out.text() << ": Cannot cast array data from dtype('"
                             << DataTypeName(tensor->dtype) << "') to dtype('"
                             << DataTypeName(spec.dtype) << "') according to the rule 'safe'";
  }
  return CheckedOut(out, ShapeOf(spec), tensor->dtype);
}

NDArray NewArray(const MXNetTensorSpec& spec, Context ctx) {
  if (__builtin_expect(!IsKnown(ShapeOf(spec)), 0)) {
    MXNET_THROW("NotImplementedError") << "outputs whose shape depends on elements";
  }
  return NDArray::Empty(ShapeOf(spec), spec.dtype, ctx);
}

}  // namespace

NDArray CheckedOut(const MXNetArgValue& out, ShapeView shape, DLDataType dtype) {
  if (out.type_code() != kMXNetNDArrayHandle) {
    MXNET_THROW("TypeError") << out.text() << " expected an array of this package or None, got "
                             << (out.type_name() == "ndarray" ? "a foreign array"
                                                              : out.type_name());
  }
  NDArray array = out.As<NDArray>();
  if (array.read_only()) MXNET_THROW("ValueError") << out.text() << " is read-only";
  if (array.shape() != shape) {
    MXNET_THROW("ValueError") << out.text() << " has shape " << array.shape().str()
                              << ", but the result has shape " << shape.str();
  }
  if (!CanCastSameKind(dtype, array.dtype())) {
    MXNET_THROW("TypeError") << out.text() << ": Cannot cast output from dtype('"
                             << DataTypeName(dtype) << "') to dtype('"
                             << DataTypeName(array.dtype()) << "') with casting rule 'same_kind'";
  }
  return array;
}

OutputSpecs::OutputSpecs(int count) : count_(count) {
  one_.shape = one_shape_.data;
  if (count == 1) return;
  shapes_.resize(static_cast<size_t>(count));
  for (DimBuffer& shape : shapes_) many_.push_back({{}, {}, 0, kMXNetWeakNone, shape.data});
}

Output::Output(const MXNetTensorSpec& spec, Context ctx, bool zeros)
    : written_(zeros ? NDArray::Zeros(ShapeOf(spec), spec.dtype, ctx) : NewArray(spec, ctx)) {}

Output::Output(const MXNetTensorSpec& spec, Context ctx, const MXNetArgValue& out,
               const MXNetOperator& op, const DLTensor* inputs, int num_in)
    : target_(TargetOf(spec, out, op)) {
  const bool direct = CanWriteTo(target_.tensor(), spec.dtype, op, inputs, num_in);
  written_ = direct ? target_ : NewArray(spec, ctx);
}

NDArray Output::Finish() {
  if (!target_.defined()) return std::move(written_);
  if (target_.get() != written_.get()) CopyCast(written_.tensor(), target_.tensor());
  return std::move(target_);
}

}  // namespace op
}  // namespace mxnet
