/*!
 * \file np_manipulation_split_op.cc
 * \brief One array as several, and elements more than once: split, array_split, repeat, tile.
 */
#include <mxnet/runtime/extents.h>
#include <mxnet/runtime/signals.h>

#include <algorithm>

#include "api/common/arguments.h"
#include "api/common/cast.h"
#include "api/common/describe.h"
#include "api/common/views.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief Each axis of a tiled array is two while it is filled. */
constexpr int kMaxTileDims = kMaxNdim / 2;
constexpr char kSplitDoc[] = "Into how many parts; or the positions at which parts begin.";

Tuple TupleOf(const std::vector<NDArray>& arrays) {
  std::vector<Any> items;
  for (const NDArray& array : arrays) items.push_back(runtime::details::AnyOfObject(array));
  return Tuple(std::move(items));
}

/*! \brief The range from one split position to the next, read as a slice reads them. */
NDArray Part(const NDArray& array, int axis, int64_t start, int64_t stop) {
  const int64_t extent = array->shape[axis];
  const auto clamp = [extent](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + extent : at, 0, extent);
  };
  const int64_t first = clamp(start);
  return RangeOfAxis(array, axis, first, std::max<int64_t>(0, clamp(stop) - first));
}

/*! \brief MemoryError at once for so many views that the system would end the process for them. */
void CheckRoomForViews(int64_t count) {
  constexpr int64_t kFew = 1 << 16;
  constexpr int64_t kBytesOfView = 256;
  if (count > kFew) NDArray::Empty(Shape{count, kBytesOfView}, kUInt8);
}

std::vector<NDArray> SplitEvenly(const NDArray& array, int axis, int64_t parts, bool equal) {
  if (parts == 0 && equal) MXNET_THROW("ZeroDivisionError") << "split into 0 parts";
  if (parts <= 0) {
    MXNET_THROW("ValueError") << "number sections must be larger than 0, got " << parts;
  }
  const int64_t extent = array->shape[axis];
  if (equal && extent % parts != 0) {
    MXNET_THROW("ValueError") << "array split does not result in an equal division: " << extent
                              << " elements in " << parts << " parts";
  }
  CheckRoomForViews(parts);
  std::vector<NDArray> pieces;
  int64_t start = 0;
  for (int64_t i = 0; i < parts; ++i) {
    if (i % kSignalInterval == 0) CheckSignals();
    const int64_t length = extent / parts + (i < extent % parts ? 1 : 0);
    pieces.push_back(RangeOfAxis(array, axis, start, length));
    start += length;
  }
  return pieces;
}

std::vector<NDArray> Split(const MXNetArgs& args, bool equal) {
  const NDArray array = ToArray(args[0]);
  const IntsArgument positions(args[1]);
  const int axis = NormalizeAxis(ToInt(args[2]), array.ndim());
  if (positions.is_single()) return SplitEvenly(array, axis, positions[0], equal);
  std::vector<NDArray> pieces;
  int64_t start = 0;
  for (int64_t position : positions.view()) {
    pieces.push_back(Part(array, axis, start, position));
    start = position;
  }
  const int64_t extent = array->shape[axis];
  pieces.push_back(Part(array, axis, start, extent));
  return pieces;
}

/*! \brief How often each position of an axis is repeated; one count stands for all. */
class Counts {
 public:
  Counts(NDArray counts, int64_t extent)
      : array_(std::move(counts)), step_(array_.size() == 1 ? 0 : 1) {
    if (step_ != 0 && array_.size() != extent) {
      MXNET_THROW("ValueError") << "operands could not be broadcast together with shape (" << extent
                                << ",) " << CompactShape(array_.shape());
    }
    for (int64_t i = 0; i < array_.size(); ++i) {
      if (at(i) < 0) MXNET_THROW("ValueError") << "repeats may not contain negative values.";
      if (step_ != 0) total_ = AddExtents(total_, at(i));
    }
    if (step_ == 0) total_ = MultiplyExtents(extent, at(0));
  }

  int64_t at(int64_t i) const noexcept { return array_.data_as<int64_t>()[i * step_]; }
  /*! \brief The extent of the axis after. */
  int64_t total() const noexcept { return total_; }

 private:
  NDArray array_;
  int64_t step_;
  int64_t total_{0};
};

/*! \brief Writes each of `extent` runs of `bytes` bytes as often as counts says. */
char* RepeatRuns(const char* from, int64_t extent, int64_t bytes, const Counts& counts, char* to) {
  for (int64_t i = 0; i < extent; ++i, from += bytes) {
    for (int64_t left = counts.at(i); left > 0; --left, to += bytes) {
      std::memcpy(to, from, static_cast<size_t>(bytes));
    }
  }
  return to;
}

/*! \brief The same for runs of one element of the size of T. */
template <typename T>
char* RepeatElements(const char* from, int64_t extent, const Counts& counts, char* to) {
  // By memcpy, as a run of several smaller elements may begin anywhere.
  for (int64_t i = 0; i < extent; ++i, from += sizeof(T)) {
    T run;
    std::memcpy(&run, from, sizeof(T));
    for (int64_t left = counts.at(i); left > 0; --left, to += sizeof(T)) {
      std::memcpy(to, &run, sizeof(T));
    }
  }
  return to;
}

char* RepeatAlong(const char* from, int64_t extent, int64_t bytes, const Counts& counts, char* to) {
  switch (bytes) {
    case 1:
      return RepeatElements<uint8_t>(from, extent, counts, to);
    case 2:
      return RepeatElements<uint16_t>(from, extent, counts, to);
    case 4:
      return RepeatElements<uint32_t>(from, extent, counts, to);
    case 8:
      return RepeatElements<uint64_t>(from, extent, counts, to);
    default:
      return RepeatRuns(from, extent, bytes, counts, to);
  }
}

NDArray CountsOf(const MXNetArgValue& arg) {
  const DLTensor* tensor = nullptr;
  if (arg.TryAs(&tensor) == Match::kOk) {
    if (!IsIntDType(tensor->dtype) && !IsBoolDType(tensor->dtype)) {
      MXNET_THROW("TypeError") << arg.text() << " expected integers, got an array of "
                               << DataTypeName(tensor->dtype);
    }
    return AsType(*tensor, kInt64);
  }
  const IntsArgument given(arg);
  const int64_t size = given.size();
  NDArray counts = NDArray::Empty(ShapeView(&size, 1), kInt64);
  std::copy(given.view().begin(), given.view().end(), counts.data_as<int64_t>());
  return counts;
}

NDArray Repeat(NDArray array, NDArray given_counts, const MXNetArgValue& axis) {
  if (axis.is_null() || array.ndim() == 0) array = Flattened(array);
  const int d = NormalizeAxis(ToAxisOr(axis, 0), array.ndim());
  const int64_t extent = array->shape[d];
  const Counts counts(std::move(given_counts), extent);
  DimBuffer shape(array.shape());
  shape[d] = counts.total();
  NDArray repeated = NDArray::Empty(shape.view(), array.dtype(), array.ctx());
  if (repeated.size() == 0) return repeated;
  if (!IsContiguous(array.tensor())) array = Contiguous(array.tensor());
  int64_t bytes = ItemSize(array.dtype());
  for (int e = d + 1; e < array.ndim(); ++e) bytes *= array->shape[e];
  const char* from = array.data_as<char>();
  char* to = repeated.data_as<char>();
  const char* const end = to + repeated.size() * ItemSize(array.dtype());
  for (; to != end; from += extent * bytes) to = RepeatAlong(from, extent, bytes, counts, to);
  return repeated;
}

/*! \brief Seen with an axis for the repetitions before each of its own, the result is a broadcast.
 */
NDArray Tile(const NDArray& array, ShapeView reps) {
  const int ndim = std::max(array.ndim(), reps.ndim());
  if (ndim > kMaxTileDims) {
    MXNET_THROW("ValueError") << "at most " << kMaxTileDims << " axes are possible, got " << ndim;
  }
  DimBuffer whole, parts, once;
  for (int d = 0; d < ndim; ++d) {
    const int own = d - (ndim - array.ndim());
    const int rep = d - (ndim - reps.ndim());
    const int64_t extent = own < 0 ? 1 : array.shape()[static_cast<size_t>(own)];
    const int64_t times = rep < 0 ? 1 : reps[static_cast<size_t>(rep)];
    if (times < 0) MXNET_THROW("ValueError") << "negative dimensions are not allowed";
    whole.push_back(MultiplyExtents(extent, times));
    parts.push_back(times);
    parts.push_back(extent);
    once.push_back(1);
    once.push_back(extent);
  }
  NDArray tiled = NDArray::Empty(whole.view(), array.dtype(), array.ctx());
  if (tiled.size() == 0) return tiled;
  CopyCast(ReshapeTo(Contiguous(array.tensor()), once).tensor(), ReshapeTo(tiled, parts).tensor());
  return tiled;
}

MXNET_REGISTER_OP("_npi.split")
    .flags(kMXNetFuncView)
    .describe("Views of the parts of an array along an axis; they must be of one length.")
    .add_argument("ary", kArrayType, kArrayDoc)
    .add_argument("indices_or_sections", kAxesType, kSplitDoc)
    .add_argument("axis", kAxisType, 0, "The axis that is split.")
    .returns("tuple[ndarray, ...]")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) { *ret = TupleOf(Split(args, true)); });

MXNET_REGISTER_OP("_npi.array_split")
    .flags(kMXNetFuncView)
    .describe("Views of the parts of an array along an axis; their lengths may differ by one.")
    .add_argument("ary", kArrayType, kArrayDoc)
    .add_argument("indices_or_sections", kAxesType, kSplitDoc)
    .add_argument("axis", kAxisType, 0, "The axis that is split.")
    .returns("tuple[ndarray, ...]")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) { *ret = TupleOf(Split(args, false)); });

MXNET_REGISTER_OP("_npi.repeat")
    .describe("Repeat each element of an array.")
    .add_argument("a", kArrayType, kArrayDoc)
    .add_argument("repeats", "int | Sequence[int] | ndarray", "How often; for all, or for each.")
    .add_argument("axis", kOptionalAxisType, nullptr, "The axis; if None a is flattened first.")
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      *ret = Repeat(ToArray(args[0]), CountsOf(args[1]), args[2]);
    });

MXNET_REGISTER_OP("_npi.tile")
    .describe("Repeat a whole array along its axes.")
    .add_argument("A", kArrayType, kArrayDoc)
    .add_argument("reps", kAxesType, "How often along each axis, counted from the last.")
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      *ret = Tile(ToArray(args[0]), IntsArgument(args[1]).view());
    });

}  // namespace
}  // namespace op
}  // namespace mxnet
