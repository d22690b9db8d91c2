/*!
 * \file transpose.cc
 * \brief Axes in another order or direction: transpose, swapaxes, moveaxis, flip.
 */
#include <mxnet/op/operator.h>

#include <utility>

#include "op/schema/describe.h"
#include "op/tensor/axes.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief infer and view of an operator that gives axes another order, which OrderOf tells. */
template <typename Attributes, void (*OrderOf)(int ndim, const Attributes&, DimBuffer* order)>
struct Permutation {
  static void Infer(const InferCall& call, const Attributes& attributes) {
    DimBuffer order;
    OrderOf(call.in[0].ndim, attributes, &order);
    call.out->dtype = call.in[0].dtype;
    call.out->ndim = order.ndim;
    for (int d = 0; d < order.ndim; ++d) call.out->shape[d] = call.in[0].shape[order[d]];
  }

  static MXNetViewKind View(const ViewCall& call, const Attributes& attributes) {
    DimBuffer order;
    OrderOf(call.in.ndim, attributes, &order);
    for (int d = 0; d < order.ndim; ++d) call.out->strides[d] = call.in.strides[order[d]];
    return kMXNetViewMade;
  }
};

struct TransposeAttributes {
  std::optional<Axes> axes;
};

void TransposedOrder(int ndim, const TransposeAttributes& attributes, DimBuffer* order) {
  if (!attributes.axes) {
    for (int d = ndim - 1; d >= 0; --d) order->push_back(d);
    return;
  }
  if (attributes.axes->ndim != ndim) MXNET_THROW("ValueError") << "axes don't match array";
  NormalizeAxes(attributes.axes->view(), ndim, order, "repeated axis in transpose");
}

struct SwapAttributes {
  Axis axis1;
  Axis axis2;
};

void SwappedOrder(int ndim, const SwapAttributes& attributes, DimBuffer* order) {
  const int axis1 = NormalizeAxis(attributes.axis1.value, ndim, "axis1: ");
  const int axis2 = NormalizeAxis(attributes.axis2.value, ndim, "axis2: ");
  for (int d = 0; d < ndim; ++d) order->push_back(d);
  std::swap((*order)[axis1], (*order)[axis2]);
}

struct MoveAttributes {
  Axes source;
  Axes destination;
};

void MovedOrder(int ndim, const MoveAttributes& attributes, DimBuffer* order) {
  DimBuffer from;
  DimBuffer to;
  NormalizeAxes(attributes.source.view(), ndim, &from, "repeated axis in `source` argument");
  NormalizeAxes(attributes.destination.view(), ndim, &to,
                "repeated axis in `destination` argument");
  if (from.ndim != to.ndim) {
    MXNET_THROW("ValueError") << "`source` and `destination` arguments must have the same number "
                              << "of elements";
  }
  order->ndim = ndim;
  bool moved[kMaxNdim] = {};
  bool taken[kMaxNdim] = {};
  for (int i = 0; i < from.ndim; ++i) {
    (*order)[static_cast<int>(to[i])] = from[i];
    moved[from[i]] = true;
    taken[to[i]] = true;
  }
  int next = 0;
  for (int d = 0; d < ndim; ++d) {
    if (taken[d]) continue;
    while (moved[next]) ++next;
    (*order)[d] = next++;
  }
}

struct FlipAttributes {
  std::optional<Axes> axis;
};

void FlippedAxes(int ndim, const FlipAttributes& attributes, DimBuffer* axes) {
  if (attributes.axis) return NormalizeAxes(attributes.axis->view(), ndim, axes, "repeated axis");
  for (int d = 0; d < ndim; ++d) axes->push_back(d);
}

void InferFlip(const InferCall& call, const FlipAttributes& attributes) {
  DimBuffer axes;
  FlippedAxes(call.in[0].ndim, attributes, &axes);
  SetSpec(call.in[0].dtype, ShapeOf(call.in[0]), call.out);
}

MXNetViewKind ViewFlipped(const ViewCall& call, const FlipAttributes& attributes) {
  const DLTensor& in = call.in;
  DimBuffer axes;
  FlippedAxes(in.ndim, attributes, &axes);
  for (int d = 0; d < in.ndim; ++d) call.out->strides[d] = in.strides[d];
  int64_t offset = 0;
  for (int64_t d : axes.view()) {
    offset += (in.shape[d] - 1) * in.strides[d];
    call.out->strides[d] = -in.strides[d];
  }
  if (TensorSize(in) == 0) return kMXNetViewMade;
  // Of negative strides the first element lies before, which wraps as the address does.
  call.out->byte_offset = static_cast<uint64_t>(offset * ItemSize(in.dtype));
  return kMXNetViewMade;
}

using Transpose = Permutation<TransposeAttributes, &TransposedOrder>;
using Swap = Permutation<SwapAttributes, &SwappedOrder>;
using Move = Permutation<MoveAttributes, &MovedOrder>;

MXNET_REGISTER_OPERATOR("_npi.transpose", TransposeAttributes)
    .describe("A view of an array with its axes in another order.")
    .input("a", kArrayDoc)
    .attribute("axes", &TransposeAttributes::axes, nullptr,
               "For each axis of the result, which axis of a it is; reversed order if None.")
    .infer(&Transpose::Infer)
    .view(&Transpose::View);

MXNET_REGISTER_OPERATOR("_npi.swapaxes", SwapAttributes)
    .describe("A view of an array with two of its axes interchanged.")
    .input("a", kArrayDoc)
    .attribute("axis1", &SwapAttributes::axis1, "First axis.")
    .attribute("axis2", &SwapAttributes::axis2, "Second axis.")
    .infer(&Swap::Infer)
    .view(&Swap::View);

MXNET_REGISTER_OPERATOR("_npi.moveaxis", MoveAttributes)
    .describe("A view of an array with some axes moved; the others keep their order.")
    .input("a", kArrayDoc)
    .attribute("source", &MoveAttributes::source, "The axes that move.")
    .attribute("destination", &MoveAttributes::destination, "Where each of them goes.")
    .infer(&Move::Infer)
    .view(&Move::View);

MXNET_REGISTER_OPERATOR("_npi.flip", FlipAttributes)
    .describe("A view of an array with the elements along some axes in reverse order.")
    .input("m", kArrayDoc)
    .attribute("axis", &FlipAttributes::axis, nullptr, "The axes; all if None.")
    .infer(&InferFlip)
    .view(&ViewFlipped);

}  // namespace
}  // namespace op
}  // namespace mxnet
