/*!
 * \file outputs.cc
 * \brief Placing outputs, so that each is written once.
 */
#include "api/call/outputs.h"

#include <mxnet/op/operator.h>

#include <algorithm>
#include <utility>

#include "op/semantics/promotion.h"
#include "op/tensor/cast.h"

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

NDArray NewArray(const MXNetTensorSpec& spec, Context ctx, bool zeros) {
  if (__builtin_expect(!IsKnown(ShapeOf(spec)), 0)) {
    MXNET_THROW("NotImplementedError") << "outputs whose shape depends on elements";
  }
  return zeros ? NDArray::Zeros(ShapeOf(spec), spec.dtype, ctx)
               : NDArray::Empty(ShapeOf(spec), spec.dtype, ctx);
}

}  // namespace

OutputSpecs::OutputSpecs(const MXNetOperator& op, int count, const MXNetTensorSpec* inputs,
                         int num_in)
    : count_(count) {
  one_.shape = one_shape_.data;
  if (count == 1) return;
  int room = MXNET_MAX_NDIM;
  if (op.view != nullptr) {
    room = 0;
    for (int i = 0; i < num_in; ++i) room += std::max(inputs[i].ndim, 0);
  }
  const auto outputs = static_cast<size_t>(count);
  extents_.resize(outputs * static_cast<size_t>(room));
  many_.resize(outputs);
  for (size_t i = 0; i < outputs; ++i) {
    many_[i].shape = extents_.data() + i * static_cast<size_t>(room);
  }
}

Output::Output(const MXNetTensorSpec& spec, Context ctx, bool zeros)
    : written_(NewArray(spec, ctx, zeros)) {}

Output::Output(const MXNetTensorSpec& spec, Context ctx, const MXNetArgValue& out,
               const MXNetOperator& op, const DLTensor* inputs, int num_in)
    : target_(TargetOf(spec, out, op)) {
  const bool zeros = (op.properties & kMXNetOpZeroed) != 0;
  const bool direct = !zeros && CanWriteTo(target_.tensor(), spec.dtype, op, inputs, num_in);
  written_ = direct ? target_ : NewArray(spec, ctx, zeros);
}

NDArray Output::Finish() {
  if (!target_.defined()) return std::move(written_);
  if (target_.get() != written_.get()) CopyCast(written_.tensor(), target_.tensor());
  return std::move(target_);
}

}  // namespace op
}  // namespace mxnet
