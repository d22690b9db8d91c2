/*!
 * \file np_take_op.cc
 * \brief Elements by position along an axis: take.
 */
#include <algorithm>
#include <string_view>

#include "api/common/arguments.h"
#include "api/common/cast.h"
#include "api/common/describe.h"
#include "api/common/nested.h"
#include "api/common/operand.h"
#include "api/common/views.h"
#include "api/operator/numpy/np_elemwise.h"
#include "op/kernels/index/take.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief Indices that the mode makes positions within the axis; those of "raise" stay. */
NDArray InBounds(const NDArray& indices, int64_t extent, int axis, std::string_view mode) {
  const auto* index = indices.data_as<const int64_t>();
  const int64_t n = indices.size();
  if (mode == "raise") {
    const int64_t out = FindOutOfBounds(index, n, extent);
    if (out == n) return indices;
    MXNET_THROW("IndexError") << "index " << index[out] << " is out of bounds for axis " << axis
                              << " with size " << extent;
  }
  NDArray positions = NDArray::Empty(indices.shape(), kInt64);
  const bool clips = mode == "clip";
  std::transform(index, index + n, positions.data_as<int64_t>(), [&](int64_t one) {
    if (clips) return std::clamp<int64_t>(one, 0, extent - 1);
    const int64_t rest = one % extent;
    return rest < 0 ? rest + extent : rest;
  });
  return positions;
}

NDArray IndicesOf(const MXNetArgValue& arg) {
  const NDArray given = ArrayFromNested(arg, std::nullopt, Context{kDLCPU, 0}, ArrayUse::kOperand);
  if (given.size() != 0 && !IsIntDType(given.dtype()) && !IsBoolDType(given.dtype())) {
    MXNET_THROW("TypeError") << arg.text() << " expected integers, got "
                             << DataTypeName(given.dtype());
  }
  const bool is_ready = given.dtype() == kInt64 && IsContiguous(given.tensor()) &&
                        IsAligned(given.tensor()) && IsHost(given.ctx());
  return is_ready ? given : AsType(given.tensor(), kInt64);
}

/*! \brief The shape with that of the indices in the place of an axis. */
DimBuffer TakenShape(const NDArray& array, ShapeView indices, int axis) {
  DimBuffer shape;
  for (int d = 0; d < axis; ++d) shape.push_back(array->shape[d]);
  for (int64_t extent : indices) shape.push_back(extent);
  for (int d = axis + 1; d < array.ndim(); ++d) shape.push_back(array->shape[d]);
  return shape;
}

NDArray Take(const NDArray& array, const NDArray& indices, int axis, std::string_view mode) {
  const int64_t extent = array->shape[axis];
  if (extent == 0 && indices.size() > 0) {
    MXNET_THROW("IndexError") << "cannot do a non-empty take from an empty axes.";
  }
  const NDArray positions = InBounds(indices, extent, axis, mode);
  const auto* position = positions.data_as<const int64_t>();
  if (array.ndim() == 1 && IsHost(array.ctx()) && IsAligned(array.tensor())) {
    const NDArray elements = NDArray::Empty(indices.shape(), array.dtype(), array.ctx());
    const int64_t item = ItemSize(array.dtype());
    TakeElements(array.data_as<char>(), array->strides[0] * item, extent, item, position,
                 positions.size(), elements.data_as<char>());
    return elements;
  }
  std::vector<int64_t> places(position, position + positions.size());
  for (int64_t& place : places) place += place < 0 ? extent : 0;
  const NDArray taken = PickFromAxis(array, axis, std::move(places));
  if (array.ndim() - 1 + indices.ndim() > kMaxNdim) {
    MXNET_THROW("ValueError") << "an array has 0 to " << kMaxNdim << " dimensions, got "
                              << array.ndim() - 1 + indices.ndim();
  }
  return ReshapeTo(taken, TakenShape(array, indices.shape(), axis));
}

void AnnounceTaken(const NDArray& array, const Operand& indices, int axis) {
  // What is wrong with the indices is said where their elements are read.
  const bool fits = array.ndim() - 1 + indices.shape().ndim() <= kMaxNdim;
  if (!fits || !IsIntDType(indices.dtype())) CheckHost(array.tensor());
  AnnounceResult(TakenShape(array, indices.shape(), axis).view(), array.dtype(), array.ctx());
}

MXNET_REGISTER_OP("_npi.take")
    .describe("Elements of an array by their positions along an axis.")
    .add_argument("a", kArrayType, kArrayDoc)
    .add_argument("indices", kArrayType, "Integers; their shape takes the place of the axis.")
    .add_argument("axis", kOptionalAxisType, nullptr, "The axis; if None a is flattened first.")
    .add_argument("out", kOutType, nullptr, kOutDoc)
    .written()
    .add_argument("mode", "str", "raise",
                  "What an index out of bounds does: 'raise', 'wrap' around, or 'clip'.")
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const auto mode = args[4].As<std::string_view>();
      if (mode != "raise" && mode != "wrap" && mode != "clip") {
        MXNET_THROW("ValueError") << args[4].text() << " expected 'raise', 'wrap' or 'clip', got '"
                                  << mode << "'";
      }
      NDArray array = ToArray(args[0]);
      if (args[2].is_null() || array.ndim() == 0) array = Flattened(array);
      const int taken = NormalizeAxis(ToAxisOr(args[2], 0), array.ndim());
      if (IsMeta(array.tensor())) AnnounceTaken(array, Operand(args[1]), taken);
      ReturnInto(Take(array, IndicesOf(args[1]), taken, mode), args[3], ret);
    });

}  // namespace
}  // namespace op
}  // namespace mxnet
