/*!
 * \file unit_axes.cc
 * \brief Axes of one element: squeeze, expand_dims, broadcast_to.
 */
#include <mxnet/op/operator.h>

#include "op/schema/describe.h"
#include "op/tensor/axes.h"

namespace mxnet {
namespace op {
namespace {

struct SqueezeAttributes {
  std::optional<Axes> axis;
};

/*! \brief Which axes of a shape are taken away. */
struct Squeezed {
  Squeezed(ShapeView shape, const std::optional<Axes>& axis) {
    const int ndim = shape.ndim();
    if (!axis) {
      for (int d = 0; d < ndim; ++d) drop[d] = shape[static_cast<size_t>(d)] == 1;
      return;
    }
    if (ndim == 0 && axis->single) {
      NormalizeAxis((*axis)[0], 1);
      return;
    }
    DimBuffer axes;
    NormalizeAxes(axis->view(), ndim, &axes, "duplicate value in 'axis'");
    for (int64_t d : axes.view()) {
      if (AreDifferent(shape[static_cast<size_t>(d)], 1)) {
        MXNET_THROW("ValueError") << "cannot select an axis to squeeze out which has size not "
                                  << "equal to one";
      }
      drop[d] = true;
    }
  }

  bool drop[kMaxNdim] = {};
};

void InferSqueeze(const InferCall& call, const SqueezeAttributes& attributes) {
  const ShapeView shape = ShapeOf(call.in[0]);
  const Squeezed squeezed(shape, attributes.axis);
  DimBuffer kept;
  for (int d = 0; d < shape.ndim(); ++d) {
    if (!squeezed.drop[d]) kept.push_back(shape[static_cast<size_t>(d)]);
  }
  SetSpec(call.in[0].dtype, kept.view(), call.out);
}

MXNetViewKind ViewSqueezed(const ViewCall& call, const SqueezeAttributes& attributes) {
  const Squeezed squeezed(ShapeOf(call.in), attributes.axis);
  int64_t* stride = call.out->strides;
  for (int d = 0; d < call.in.ndim; ++d) {
    if (!squeezed.drop[d]) *stride++ = call.in.strides[d];
  }
  return kMXNetViewMade;
}

struct ExpandAttributes {
  Axes axis;
};

/*! \brief Which axes of a result are new. */
struct Expanded {
  Expanded(int ndim_before, ShapeView new_axes) : ndim(ndim_before + new_axes.ndim()) {
    CheckNdim(ndim);
    DimBuffer axes;
    NormalizeAxes(new_axes, ndim, &axes, "repeated axis");
    for (int64_t axis : axes.view()) is_new[axis] = true;
  }

  /*! \brief Writes, for each axis of the result, the next of `from`, or what a new one has. */
  void Spread(const int64_t* from, int64_t of_new, int64_t* to) const {
    for (int d = 0; d < ndim; ++d) to[d] = is_new[d] ? of_new : *from++;
  }

  int ndim;
  bool is_new[kMaxNdim] = {};
};

void InferExpand(const InferCall& call, const ExpandAttributes& attributes) {
  const Expanded expanded(call.in[0].ndim, attributes.axis.view());
  call.out->dtype = call.in[0].dtype;
  call.out->ndim = expanded.ndim;
  expanded.Spread(call.in[0].shape, 1, call.out->shape);
}

MXNetViewKind ViewExpanded(const ViewCall& call, const ExpandAttributes& attributes) {
  const Expanded expanded(call.in.ndim, attributes.axis.view());
  expanded.Spread(call.in.strides, 0, call.out->strides);
  return kMXNetViewMade;
}

struct BroadcastAttributes {
  Extents shape;
};

void InferBroadcast(const InferCall& call, const BroadcastAttributes& attributes) {
  const ShapeView from = ShapeOf(call.in[0]);
  const ShapeView to = attributes.shape.view();
  for (int64_t extent : to) {
    if (extent < 0) {
      MXNET_THROW("ValueError") << "all elements of broadcast shape must be non-negative";
    }
  }
  const size_t offset = to.size() - from.size();
  bool fits = to.size() >= from.size();
  for (size_t d = 0; fits && d < from.size(); ++d) {
    fits = from[d] == 1 || !AreDifferent(from[d], to[d + offset]);
  }
  if (!fits) {
    MXNET_THROW("ValueError") << "could not broadcast an array of shape " << CompactShape(from)
                              << " to shape " << CompactShape(to);
  }
  SetSpec(call.in[0].dtype, to, call.out);
}

MXNetViewKind ViewBroadcast(const ViewCall& call, const BroadcastAttributes&) {
  const int offset = call.out->ndim - call.in.ndim;
  for (int d = 0; d < call.out->ndim; ++d) {
    const bool repeated = d < offset || call.in.shape[d - offset] == 1;
    call.out->strides[d] = repeated ? 0 : call.in.strides[d - offset];
  }
  return kMXNetViewMade;
}

MXNET_REGISTER_OPERATOR("_npi.squeeze", SqueezeAttributes)
    .describe("A view of an array without axes of one element.")
    .input("a", kArrayDoc)
    .attribute("axis", &SqueezeAttributes::axis, nullptr, "Which of them; all if None.")
    .infer(&InferSqueeze)
    .view(&ViewSqueezed);

MXNET_REGISTER_OPERATOR("_npi.expand_dims", ExpandAttributes)
    .describe("A view of an array with new axes of one element.")
    .input("a", kArrayDoc)
    .attribute("axis", &ExpandAttributes::axis, "Where the new axes are in the result.")
    .infer(&InferExpand)
    .view(&ViewExpanded);

// One element stands for many, so that writing one would change others.
MXNET_REGISTER_OPERATOR("_npi.broadcast_to", BroadcastAttributes)
    .describe("A read-only view of an array, repeated to a shape it broadcasts to.")
    .input("array", kArrayDoc)
    .attribute("shape", &BroadcastAttributes::shape, "The shape of the result.")
    .properties(kMXNetOpReadOnly)
    .infer(&InferBroadcast)
    .view(&ViewBroadcast);

}  // namespace
}  // namespace op
}  // namespace mxnet
