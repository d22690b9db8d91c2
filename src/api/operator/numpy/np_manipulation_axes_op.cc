/*!
 * \file np_manipulation_axes_op.cc
 * \brief Axes in another order or direction: transpose, swapaxes, moveaxis, flip, roll.
 */
#include <algorithm>
#include <utility>

#include "api/common/arguments.h"
#include "api/common/cast.h"
#include "api/common/describe.h"
#include "api/common/views.h"

namespace mxnet {
namespace op {
namespace {

NDArray Transpose(const NDArray& array, const MXNetArgValue& axes) {
  DimBuffer order;
  if (axes.is_null()) {
    for (int d = array.ndim() - 1; d >= 0; --d) order.push_back(d);
  } else {
    const IntsArgument given(axes);
    if (given.size() != array.ndim()) MXNET_THROW("ValueError") << "axes don't match array";
    NormalizeAxes(given.view(), array.ndim(), &order, "repeated axis in transpose");
  }
  return PermuteAxes(array, order);
}

NDArray SwapAxes(const NDArray& array, int64_t first, int64_t second) {
  const int axis1 = NormalizeAxis(first, array.ndim(), "axis1: ");
  const int axis2 = NormalizeAxis(second, array.ndim(), "axis2: ");
  DimBuffer order;
  for (int d = 0; d < array.ndim(); ++d) order.push_back(d);
  std::swap(order[axis1], order[axis2]);
  return PermuteAxes(array, order);
}

NDArray MoveAxis(const NDArray& array, ShapeView source, ShapeView destination) {
  const int ndim = array.ndim();
  DimBuffer from;
  DimBuffer to;
  NormalizeAxes(source, ndim, &from, "repeated axis in `source` argument");
  NormalizeAxes(destination, ndim, &to, "repeated axis in `destination` argument");
  if (from.ndim != to.ndim) {
    MXNET_THROW("ValueError") << "`source` and `destination` arguments must have the same number "
                              << "of elements";
  }
  DimBuffer order;
  order.ndim = ndim;
  bool moved[kMaxNdim] = {};
  bool taken[kMaxNdim] = {};
  for (int i = 0; i < from.ndim; ++i) {
    order[static_cast<int>(to[i])] = from[i];
    moved[from[i]] = true;
    taken[to[i]] = true;
  }
  int next = 0;
  for (int d = 0; d < ndim; ++d) {
    if (taken[d]) continue;
    while (moved[next]) ++next;
    order[d] = next++;
  }
  return PermuteAxes(array, order);
}

NDArray Flip(const NDArray& array, const MXNetArgValue& axis) {
  DimBuffer axes;
  if (axis.is_null()) {
    for (int d = 0; d < array.ndim(); ++d) axes.push_back(d);
  } else {
    NormalizeAxes(IntsArgument(axis).view(), array.ndim(), &axes, "repeated axis");
  }
  DimBuffer strides(array.strides());
  int64_t offset = 0;
  for (int64_t d : axes.view()) {
    if (array->shape[d] > 0) offset += (array->shape[d] - 1) * array->strides[d];
    strides[static_cast<int>(d)] = -array->strides[d];
  }
  if (array.size() == 0) offset = 0;
  char* data = array.data_as<char>() + offset * ItemSize(array.dtype());
  return array.View(data, array.shape(), strides.view(), array.dtype());
}

/*! \brief A copy whose elements along one axis have moved on by shift, around the end. */
NDArray RollAxis(const NDArray& array, int axis, int64_t shift) {
  const int64_t extent = array->shape[axis];
  NDArray rolled = NDArray::Empty(array.shape(), array.dtype(), array.ctx());
  if (rolled.size() == 0) return rolled;
  shift %= extent;
  if (shift < 0) shift += extent;
  CopyCast(RangeOfAxis(array, axis, 0, extent - shift).tensor(),
           RangeOfAxis(rolled, axis, shift, extent - shift).tensor());
  CopyCast(RangeOfAxis(array, axis, extent - shift, shift).tensor(),
           RangeOfAxis(rolled, axis, 0, shift).tensor());
  return rolled;
}

NDArray Roll(const NDArray& array, ShapeView shifts, const MXNetArgValue& axis) {
  if (axis.is_null()) {
    AnnounceResult(array.shape(), array.dtype(), array.ctx());
    int64_t shift = 0;
    const int64_t size = std::max<int64_t>(array.size(), 1);
    for (int64_t one : shifts) shift = static_cast<int64_t>((__int128{shift} + one) % size);
    return ReshapeTo(RollAxis(Flattened(array), 0, shift), DimBuffer(array.shape()));
  }
  const IntsArgument axes(axis);
  const size_t count = std::max(shifts.size(), axes.view().size());
  if ((shifts.size() != count && shifts.size() != 1) ||
      (axes.view().size() != count && axes.view().size() != 1)) {
    MXNET_THROW("ValueError") << "'shift' and 'axis' should be scalars or 1D sequences of one "
                              << "length, got " << shifts.size() << " and " << axes.size();
  }
  for (int64_t one : axes.view()) NormalizeAxis(one, array.ndim());
  AnnounceResult(array.shape(), array.dtype(), array.ctx());
  NDArray rolled = Contiguous(array.tensor());
  for (size_t i = 0; i < count; ++i) {
    const int one = NormalizeAxis(axes.view()[axes.size() == 1 ? 0 : i], array.ndim());
    rolled = RollAxis(rolled, one, shifts[shifts.size() == 1 ? 0 : i]);
  }
  return rolled;
}

MXNET_REGISTER_OP("_npi.transpose")
    .flags(kMXNetFuncView)
    .describe("A view of an array with its axes in another order.")
    .add_argument("a", kArrayType, kArrayDoc)
    .add_argument("axes", "Sequence[int] | None", nullptr,
                  "For each axis of the result, which axis of a it is; reversed order if None.")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      *ret = Transpose(ToArray(args[0]), args[1]);
    });

MXNET_REGISTER_OP("_npi.swapaxes")
    .flags(kMXNetFuncView)
    .describe("A view of an array with two of its axes interchanged.")
    .add_argument("a", kArrayType, kArrayDoc)
    .add_argument("axis1", kAxisType, "First axis.")
    .add_argument("axis2", kAxisType, "Second axis.")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      *ret = SwapAxes(ToArray(args[0]), ToInt(args[1]), ToInt(args[2]));
    });

MXNET_REGISTER_OP("_npi.moveaxis")
    .flags(kMXNetFuncView)
    .describe("A view of an array with some axes moved; the others keep their order.")
    .add_argument("a", kArrayType, kArrayDoc)
    .add_argument("source", kAxesType, "The axes that move.")
    .add_argument("destination", kAxesType, "Where each of them goes.")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      *ret = MoveAxis(ToArray(args[0]), IntsArgument(args[1]).view(), IntsArgument(args[2]).view());
    });

MXNET_REGISTER_OP("_npi.flip")
    .flags(kMXNetFuncView)
    .describe("A view of an array with the elements along some axes in reverse order.")
    .add_argument("m", kArrayType, kArrayDoc)
    .add_argument("axis", kOptionalAxesType, nullptr, "The axes; all if None.")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) { *ret = Flip(ToArray(args[0]), args[1]); });

MXNET_REGISTER_OP("_npi.roll")
    .describe("Move elements along axes; those that pass the end come in at the start.")
    .add_argument("a", kArrayType, kArrayDoc)
    .add_argument("shift", kAxesType, "By how many places; one number for each axis, or for all.")
    .add_argument("axis", kOptionalAxesType, nullptr,
                  "The axes; if None the elements are one row, and get their shape back after.")
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      *ret = Roll(ToArray(args[0]), IntsArgument(args[1]).view(), args[2]);
    });

}  // namespace
}  // namespace op
}  // namespace mxnet
