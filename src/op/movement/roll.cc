/*!
 * \file roll.cc
 * \brief roll.
 */
#include <mxnet/op/operator.h>

#include "op/schema/describe.h"
#include "op/tensor/axes.h"
#include "op/tensor/cast.h"
#include "op/tensor/views.h"

namespace mxnet {
namespace op {
namespace {

struct RollAttributes {
  Axes shift;
  std::optional<Axes> axis;
};

/*! \brief By how much each axis is moved, from 0 to its extent. */
void ShiftsOf(ShapeView shape, const RollAttributes& attributes, DimBuffer* shifts) {
  const Axes& shift = attributes.shift;
  const Axes& axis = *attributes.axis;
  for (int d = 0; d < shape.ndim(); ++d) shifts->push_back(0);
  for (int64_t d : axis.view()) NormalizeAxis(d, shape.ndim());
  const int count = shift.ndim == 1 ? axis.ndim : shift.ndim;
  if (axis.ndim != count && axis.ndim != 1) {
    MXNET_THROW("ValueError") << "'shift' and 'axis' should be scalars or 1D sequences of one "
                              << "length, got " << shift.ndim << " and " << axis.ndim;
  }
  for (int i = 0; i < count; ++i) {
    const int d = NormalizeAxis(axis[axis.ndim == 1 ? 0 : i], shape.ndim());
    const int64_t extent = shape[static_cast<size_t>(d)];
    if (extent <= 0) continue;
    const int64_t moved = ((*shifts)[d] + shift[shift.ndim == 1 ? 0 : i] % extent) % extent;
    (*shifts)[d] = moved < 0 ? moved + extent : moved;
  }
}

void InferRoll(const InferCall& call, const RollAttributes& attributes) {
  DimBuffer shifts;
  if (attributes.axis) ShiftsOf(ShapeOf(call.in[0]), attributes, &shifts);
  SetSpec(call.in[0].dtype, ShapeOf(call.in[0]), call.out);
}

/*! \brief The elements of a range of one axis. */
DLTensor RangeOf(const DLTensor& tensor, int axis, int64_t start, int64_t* shape) {
  DLTensor range = tensor;
  range.shape = shape;
  range.byte_offset += static_cast<uint64_t>(start * tensor.strides[axis] * ItemSize(tensor.dtype));
  return range;
}

/*! \brief Copies what moves on together, of axes from `axis` on: before the end, and around it. */
void CopyRolled(const DLTensor& from, const DLTensor& to, const DimBuffer& shifts, int axis) {
  while (axis < from.ndim && shifts[axis] == 0) ++axis;
  if (axis == from.ndim) return CopyCast(from, to);
  const int64_t extent = from.shape[axis];
  const int64_t shift = shifts[axis];
  DimBuffer shape(ShapeOf(from));
  shape[axis] = extent - shift;
  CopyRolled(RangeOf(from, axis, 0, shape.data), RangeOf(to, axis, shift, shape.data), shifts,
             axis + 1);
  shape[axis] = shift;
  CopyRolled(RangeOf(from, axis, extent - shift, shape.data), RangeOf(to, axis, 0, shape.data),
             shifts, axis + 1);
}

/*! \brief The same elements as one axis. */
struct Flat {
  explicit Flat(const DLTensor& of) : tensor(of), size(TensorSize(of)) {
    tensor.ndim = 1;
    tensor.shape = &size;
    tensor.strides = &step;
  }

  DLTensor tensor;
  int64_t size;
  int64_t step{1};
};

/*! \brief Of all elements as one row. */
void RollFlat(const DLTensor& from, const DLTensor& to, ShapeView given) {
  const NDArray packed = IsContiguous(from) ? NDArray() : Contiguous(from);
  const Flat source(packed.defined() ? packed.tensor() : from);
  const Flat target(to);
  DimBuffer shift;
  shift.push_back(0);
  for (int64_t one : given) shift[0] = (shift[0] + one % source.size) % source.size;
  if (shift[0] < 0) shift[0] += source.size;
  CopyRolled(source.tensor, target.tensor, shift, 0);
}

void RunRoll(const RunCall& call, const RollAttributes& attributes) {
  const DLTensor& from = call.in[0];
  if (TensorSize(from) == 0) return;
  if (!attributes.axis) return RollFlat(from, call.out[0], attributes.shift.view());
  DimBuffer shifts;
  ShiftsOf(ShapeOf(from), attributes, &shifts);
  DimBuffer from_strides;
  DimBuffer to_strides;
  StridesOf(from, from_strides.data);
  StridesOf(call.out[0], to_strides.data);
  DLTensor source = from;
  DLTensor target = call.out[0];
  source.strides = from_strides.data;
  target.strides = to_strides.data;
  CopyRolled(source, target, shifts, 0);
}

MXNET_REGISTER_OPERATOR("_npi.roll", RollAttributes)
    .describe("Move elements along axes; those that pass the end come in at the start.")
    .input("a", kArrayDoc)
    .attribute("shift", &RollAttributes::shift,
               "By how many positions; one number for each axis, or for all.")
    .attribute("axis", &RollAttributes::axis, nullptr,
               "The axes; if None the elements are one row, and get their shape back after.")
    .release_gil(kReleaseBytes)
    .infer(&InferRoll)
    .run(&RunRoll);

}  // namespace
}  // namespace op
}  // namespace mxnet
