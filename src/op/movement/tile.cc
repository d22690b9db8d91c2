/*!
 * \file tile.cc
 * \brief tile.
 */
#include <mxnet/op/operator.h>

#include <algorithm>

#include "op/schema/describe.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief Each axis of a tiled array is two while it is filled. */
constexpr int kMaxTileDims = kMaxNdim / 2;

struct TileAttributes {
  Axes reps;
};

/*! \brief How an axis of the result comes about. */
struct TiledAxis {
  int64_t extent; /*!< of the input; 1 before its first axis */
  int64_t times;
  int input_axis; /*!< negative before the first */
};

TiledAxis AxisOf(ShapeView shape, ShapeView reps, int ndim, int d) {
  const int own = d - (ndim - shape.ndim());
  const int rep = d - (ndim - reps.ndim());
  return {own < 0 ? 1 : shape[static_cast<size_t>(own)],
          rep < 0 ? 1 : reps[static_cast<size_t>(rep)], own};
}

void InferTile(const InferCall& call, const TileAttributes& attributes) {
  const ShapeView shape = ShapeOf(call.in[0]);
  const ShapeView reps = attributes.reps.view();
  const int ndim = std::max(shape.ndim(), reps.ndim());
  if (ndim > kMaxTileDims) {
    MXNET_THROW("ValueError") << "at most " << kMaxTileDims << " axes are possible, got " << ndim;
  }
  call.out->dtype = call.in[0].dtype;
  call.out->ndim = ndim;
  for (int d = 0; d < ndim; ++d) {
    const TiledAxis axis = AxisOf(shape, reps, ndim, d);
    if (axis.times < 0) MXNET_THROW("ValueError") << "negative dimensions are not allowed";
    call.out->shape[d] = MultiplyExtent(axis.extent, axis.times);
  }
}

/*! \brief With an axis for the repetitions before each of its own, the result is a broadcast. */
void RunTile(const RunCall& call, const TileAttributes& attributes) {
  const DLTensor& from = call.in[0];
  const int ndim = call.out[0].ndim;
  DimBuffer strides;
  StridesOf(from, strides.data);
  DimBuffer once, steps, parts;
  for (int d = 0; d < ndim; ++d) {
    const TiledAxis axis = AxisOf(ShapeOf(from), attributes.reps.view(), ndim, d);
    once.push_back(1);
    once.push_back(axis.extent);
    steps.push_back(0);
    steps.push_back(axis.input_axis < 0 ? 0 : strides[axis.input_axis]);
    parts.push_back(axis.times);
    parts.push_back(axis.extent);
  }
  DLTensor source = from;
  source.ndim = once.ndim;
  source.shape = once.data;
  source.strides = steps.data;
  DLTensor target = call.out[0];
  target.ndim = parts.ndim;
  target.shape = parts.data;
  target.strides = nullptr;
  CopyCast(source, target);
}

MXNET_REGISTER_OPERATOR("_npi.tile", TileAttributes)
    .describe("Repeat a whole array along its axes.")
    .input("A", kArrayDoc)
    .attribute("reps", &TileAttributes::reps, "How often along each axis, counted from the last.")
    .release_gil(kReleaseBytes)
    .infer(&InferTile)
    .run(&RunTile);

}  // namespace
}  // namespace op
}  // namespace mxnet
