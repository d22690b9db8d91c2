/*!
 * \file join.cc
 * \brief Several arrays as one: concatenate, stack, hstack, vstack.
 */
#include <mxnet/op/operator.h>

#include <algorithm>

#include "op/schema/describe.h"
#include "op/semantics/input_types.h"
#include "op/tensor/axes.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief Python numbers have the type of all items together; arrays are converted as they are
 * copied. */
template <typename Attributes>
void PromoteItems(MXNetTensorSpec* in, int num_in, const Attributes&) {
  bool has_numbers = false;
  CommonOfMany common;
  for (int i = 0; i < num_in; ++i) {
    has_numbers |= in[i].weak != kMXNetWeakNone;
    common.Add(TypeOf(in[i]));
  }
  if (!has_numbers) return;
  const DLDataType dtype = common.dtype();
  for (int i = 0; i < num_in; ++i) {
    if (in[i].weak != kMXNetWeakNone) in[i].dtype = dtype;
  }
}

DLDataType CommonDType(const InferCall& call) {
  CommonType common;
  for (int i = 0; i < call.num_in; ++i) common.Add(call.in[i].dtype);
  return common.dtype();
}

/*! \brief The shape of an item with at least so many axes; new ones come first. */
DimBuffer AtLeast(ShapeView shape, int ndim) {
  DimBuffer result;
  for (int d = shape.ndim(); d < ndim; ++d) result.push_back(1);
  for (int64_t extent : shape) result.push_back(extent);
  return result;
}

void CheckJoins(const DimBuffer& first, const DimBuffer& other, int index, int axis) {
  if (other.ndim != first.ndim) {
    MXNET_THROW("ValueError") << "all the input arrays must have same number of dimensions, but "
                              << "the array at index 0 has " << first.ndim
                              << " dimension(s) and the array at index " << index << " has "
                              << other.ndim << " dimension(s)";
  }
  for (int d = 0; d < first.ndim; ++d) {
    if (d == axis || !AreDifferent(first[d], other[d])) continue;
    MXNET_THROW("ValueError") << "all the input array dimensions except for the concatenation axis "
                              << "must match exactly, but along dimension " << d
                              << ", the array at index 0 has size " << first[d]
                              << " and the array at index " << index << " has size " << other[d];
  }
}

void CheckHasItems(const InferCall& call, const char* function) {
  if (call.num_in == 0) MXNET_THROW("ValueError") << "need at least one array to " << function;
}

/*! \brief Infers the join along an axis of items that have at least so many axes. */
void InferAlong(const InferCall& call, int64_t given_axis, int least) {
  const DimBuffer first = AtLeast(ShapeOf(call.in[0]), least);
  if (first.ndim == 0) {
    MXNET_THROW("ValueError") << "zero-dimensional arrays cannot be concatenated";
  }
  const int axis = NormalizeAxis(given_axis, first.ndim);
  DimBuffer shape(first);
  for (int i = 1; i < call.num_in; ++i) {
    const DimBuffer item = AtLeast(ShapeOf(call.in[i]), least);
    CheckJoins(shape, item, i, axis);
    for (int d = 0; d < shape.ndim; ++d) {
      if (d == axis) shape[d] = AddExtent(shape[d], item[d]);
      // Equal to a number, where the one before is a symbol.
      if (d != axis && IsSymbolic(shape[d])) shape[d] = item[d];
    }
  }
  SetSpec(CommonDType(call), shape.view(), call.out);
}

/*! \brief Copies the items one after the other along an axis of the output. */
void CopyAlong(const RunCall& call, int axis) {
  DLTensor part = call.out[0];
  DimBuffer shape(ShapeView(part.shape, static_cast<size_t>(part.ndim)));
  int64_t strides[kMaxNdim];
  StridesOf(part, strides);
  part.shape = shape.data;
  part.strides = strides;
  const int64_t step = strides[axis] * ItemSize(part.dtype);
  for (int i = 0; i < call.num_in; ++i) {
    const int own_axis = axis - (part.ndim - call.in[i].ndim);
    shape[axis] = own_axis < 0 ? 1 : call.in[i].shape[own_axis];
    CopyCast(call.in[i], part);
    part.byte_offset += static_cast<uint64_t>(shape[axis] * step);
  }
}

struct ConcatenateAttributes {
  std::optional<Axis> axis;
};

void InferConcatenate(const InferCall& call, const ConcatenateAttributes& attributes) {
  CheckHasItems(call, "concatenate");
  if (attributes.axis) return InferAlong(call, attributes.axis->value, 0);
  int64_t size = 0;
  for (int i = 0; i < call.num_in; ++i) size = AddExtent(size, SizeOf(ShapeOf(call.in[i])));
  SetSpec(CommonDType(call), ShapeView(&size, 1), call.out);
}

void RunConcatenate(const RunCall& call, const ConcatenateAttributes& attributes) {
  if (attributes.axis) {
    return CopyAlong(call, NormalizeAxis(attributes.axis->value, call.out[0].ndim));
  }
  DLTensor part = call.out[0];
  part.strides = nullptr;
  for (int i = 0; i < call.num_in; ++i) {
    part.ndim = call.in[i].ndim;
    part.shape = call.in[i].shape;
    CopyCast(call.in[i], part);
    part.byte_offset += static_cast<uint64_t>(TensorSize(part) * ItemSize(part.dtype));
  }
}

struct StackAttributes {
  Axis axis;
};

void InferStack(const InferCall& call, const StackAttributes& attributes) {
  CheckHasItems(call, "stack");
  DimBuffer shape(ShapeOf(call.in[0]));
  CheckNdim(shape.ndim + 1);
  for (int i = 1; i < call.num_in; ++i) {
    const ShapeView item = ShapeOf(call.in[i]);
    bool fits = item.ndim() == shape.ndim;
    for (int d = 0; fits && d < shape.ndim; ++d) {
      fits = !AreDifferent(shape[d], item[static_cast<size_t>(d)]);
      if (IsSymbolic(shape[d])) shape[d] = item[static_cast<size_t>(d)];
    }
    if (fits) continue;
    MXNET_THROW("ValueError") << "all input arrays must have the same shape, got "
                              << CompactShape(ShapeOf(call.in[0])) << " and " << CompactShape(item);
  }
  const int axis = NormalizeAxis(attributes.axis.value, shape.ndim + 1);
  std::copy_backward(shape.data + axis, shape.data + shape.ndim, shape.data + shape.ndim + 1);
  shape[axis] = call.num_in;
  ++shape.ndim;
  SetSpec(CommonDType(call), shape.view(), call.out);
}

void RunStack(const RunCall& call, const StackAttributes& attributes) {
  DLTensor part = call.out[0];
  const int axis = NormalizeAxis(attributes.axis.value, part.ndim);
  int64_t strides[kMaxNdim];
  StridesOf(part, strides);
  const auto step = static_cast<uint64_t>(strides[axis] * ItemSize(part.dtype));
  std::copy(strides + axis + 1, strides + part.ndim, strides + axis);
  --part.ndim;
  part.strides = strides;
  for (int i = 0; i < call.num_in; ++i) {
    part.shape = call.in[i].shape;
    CopyCast(call.in[i], part);
    part.byte_offset += step;
  }
}

void InferHStack(const InferCall& call, const NoAttributes&) {
  CheckHasItems(call, "concatenate");
  InferAlong(call, call.in[0].ndim > 1 ? 1 : 0, 1);
}

void RunHStack(const RunCall& call, const NoAttributes&) {
  CopyAlong(call, call.out[0].ndim > 1 ? 1 : 0);
}

void InferVStack(const InferCall& call, const NoAttributes&) {
  CheckHasItems(call, "concatenate");
  InferAlong(call, 0, 2);
}

void RunVStack(const RunCall& call, const NoAttributes&) { CopyAlong(call, 0); }

MXNET_REGISTER_OPERATOR("_npi.concatenate", ConcatenateAttributes)
    .describe("Join arrays along an axis they have.")
    .inputs("seq", "Arrays of one shape, but for the extent of that axis.")
    .attribute("axis", &ConcatenateAttributes::axis, 0,
               "The axis; if None the arrays are flattened first.")
    .types(&PromoteItems<ConcatenateAttributes>)
    .release_gil(kReleaseBytes)
    .infer(&InferConcatenate)
    .run(&RunConcatenate);

MXNET_REGISTER_OPERATOR("_npi.stack", StackAttributes)
    .describe("Join arrays along a new axis.")
    .inputs("arrays", "Arrays of one shape.")
    .attribute("axis", &StackAttributes::axis, 0, "Where the new axis is in the result.")
    .types(&PromoteItems<StackAttributes>)
    .release_gil(kReleaseBytes)
    .infer(&InferStack)
    .run(&RunStack);

MXNET_REGISTER_OPERATOR("_npi.hstack", NoAttributes)
    .describe("Join arrays along their second axis, or along the first where they have but one.")
    .inputs("tup", "Arrays of one shape, but for the extent of that axis.")
    .types(&PromoteItems<NoAttributes>)
    .release_gil(kReleaseBytes)
    .infer(&InferHStack)
    .run(&RunHStack);

MXNET_REGISTER_OPERATOR("_npi.vstack", NoAttributes)
    .describe("Join arrays along their first axis; an array of one axis is a row.")
    .inputs("tup", "Arrays of one shape, but for the extent of that axis.")
    .types(&PromoteItems<NoAttributes>)
    .release_gil(kReleaseBytes)
    .infer(&InferVStack)
    .run(&RunVStack);

}  // namespace
}  // namespace op
}  // namespace mxnet
