/*!
 * \file outputs.cc
 * \brief Placing outputs, so that each is written once.
 */
#include "api/call/outputs.h"

#include <mxnet/op/operator.h>

#include <algorithm>
#include <utility>

#include "api/call/tensor_spec.h"
#include "op/semantics/promotion.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief Outputs that are more than this take memory that is asked for before. */
constexpr int kManyOutputs = 1 << 16;

/*! \brief The type of a result that `out` of a type takes. */
DLDataType WrittenType(DLDataType dtype, DLDataType given, const MXNetArgValue& out,
                       const MXNetOperator& op) {
  if ((op.properties & kMXNetOpNarrowOut) == 0) return dtype;
  if (PromoteTypes(given, dtype) == dtype) return given;
  MXNET_THROW("TypeError") << out.text() << ": Cannot cast array data from dtype('"
                           << DataTypeName(given) << "') to dtype('" << DataTypeName(dtype)
                           << "') according to the rule 'safe'";
}

NDArray NewArray(const MXNetTensorSpec& spec, Context ctx, bool zeros) {
  if (__builtin_expect(!IsKnown(ShapeOf(spec)), 0)) {
    MXNET_THROW("NotImplementedError") << "outputs whose shape depends on elements";
  }
  return zeros ? NDArray::Zeros(ShapeOf(spec), spec.dtype, ctx)
               : NDArray::Empty(ShapeOf(spec), spec.dtype, ctx);
}

}  // namespace

bool CanWriteTo(const DLTensor& out, DLDataType dtype, const MXNetOperator& op,
                const DLTensor* inputs, int num_in) {
  const bool converts = (op.properties & kMXNetOpConvertsOut) != 0;
  if ((out.dtype != dtype && !converts) || !IsAligned(out)) return false;
  if ((op.properties & kMXNetOpStridedOutput) == 0 && !IsContiguous(out)) return false;
  const bool in_place = (op.properties & kMXNetOpInPlace) != 0;
  for (int i = 0; i < num_in; ++i) {
    const DLTensor& input = inputs[i];
    if (input.ndim < 0 || !MayOverlap(input, out)) continue;
    if (!in_place || !SameElements(input, out)) return false;
  }
  return true;
}

NDArray TargetOf(const MXNetTensorSpec& spec, const MXNetArgValue& out, const MXNetOperator& op) {
  const DLTensor* tensor = nullptr;
  const bool narrow = (op.properties & kMXNetOpNarrowOut) != 0 && out.TryAs(&tensor) == Match::kOk;
  return CheckedOut(out, ShapeOf(spec),
                    narrow ? WrittenType(spec.dtype, tensor->dtype, out, op) : spec.dtype);
}

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

void CheckRoomFor(int outputs, int64_t bytes_of_each) {
  if (outputs <= kManyOutputs) return;
  const int64_t bytes = outputs * bytes_of_each;
  NDArray::Empty(ShapeView(&bytes, 1), kUInt8);
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

void InferOut(const MXNetArgValue& out, const MXNetOperator& op, MXNetTensorSpec* spec) {
  Ref<TensorSpec> given;
  NDArray array;
  ShapeView shape;
  DLDataType dtype;
  if (out.TryAs(&given) == Match::kOk) {
    shape = ShapeView(given->extents().data(), given->extents().size());
    dtype = given->dtype();
    CheckOutSpec(out, shape, dtype, ShapeOf(*spec), WrittenType(spec->dtype, dtype, out, op));
  } else {
    array = TargetOf(*spec, out, op);
    shape = array.shape();
    dtype = array.dtype();
  }
  SetSpec(dtype, shape, spec);
}

NDArray Output::Finish() {
  if (!target_.defined()) return std::move(written_);
  if (target_.get() != written_.get()) CopyCast(written_.tensor(), target_.tensor());
  return std::move(target_);
}

}  // namespace op
}  // namespace mxnet
