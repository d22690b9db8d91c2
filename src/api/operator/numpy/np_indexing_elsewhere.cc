/*!
 * \file np_indexing_elsewhere.cc
 * \brief Keys come to the host, elements stay where they are.
 */
#include "api/operator/numpy/np_indexing_elsewhere.h"

#include <cstring>
#include <string>

#include "api/common/arguments.h"
#include "api/common/cast.h"
#include "api/common/views.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief As many copies within a device cost less than asking for an operator. */
constexpr size_t kFewCopies = 4;
/*! \brief With more, the array is brought to the host and back in about the same time. */
constexpr size_t kMostCopies = 64;

/*! \brief Indices whose offsets are evenly apart, so that one copy does for all of them. */
struct Run {
  int64_t first;
  int64_t count;
  int64_t step;
};

/*! \brief The runs that offsets fall into; more than kMostCopies are not told in full. */
std::vector<Run> RunsOf(const ScatteredBlocks& blocks) {
  std::vector<Run> runs;
  for (int64_t i = 0; i < blocks.count && runs.size() <= kMostCopies;) {
    Run run{i, 1, 0};
    if (i + 1 < blocks.count) run.step = blocks.offsets[i + 1] - blocks.offsets[i];
    // An element that is named twice is written twice, one after the other.
    while (run.step != 0 && i + run.count < blocks.count &&
           blocks.offsets[i + run.count] - blocks.offsets[i + run.count - 1] == run.step) {
      ++run.count;
    }
    i += run.count;
    runs.push_back(run);
  }
  return runs;
}

[[noreturn]] void ThrowTooMany() {
  MXNET_THROW("OffHost") << "its indices name elements in more than " << kMostCopies
                         << " places, and it has no take for them";
}

/*! \brief The blocks of a run, as a view of the array. */
NDArray BlocksOf(const NDArray& array, const ScatteredBlocks& blocks, const Run& run) {
  StridedAxes axes = blocks.prefix;
  axes.push_back(run.count, run.step);
  for (int d = 0; d < blocks.suffix.shape.ndim; ++d) {
    axes.push_back(blocks.suffix.shape[d], blocks.suffix.strides[d]);
  }
  char* data = blocks.data + blocks.offsets[run.first] * ItemSize(blocks.dtype);
  return array.View(data, axes.shape.view(), axes.strides.view(), blocks.dtype);
}

/*! \brief The selection in a dense array, with the axes of index arrays as one. */
NDArray WithOneIndexAxis(const NDArray& dense, const ScatteredBlocks& blocks) {
  DimBuffer shape = blocks.prefix.shape;
  shape.push_back(blocks.count);
  for (int64_t extent : blocks.suffix.shape.view()) shape.push_back(extent);
  return ReshapeTo(dense, shape);
}

/*! \brief Calls copy(view of the array, view of the dense one) for each run. */
template <typename Copy>
void ForEachRun(const NDArray& array, const Selection& selection, const std::vector<Run>& runs,
                const NDArray& dense, Copy&& copy) {
  const ScatteredBlocks& blocks = selection.blocks();
  const NDArray folded = WithOneIndexAxis(dense, blocks);
  for (const Run& run : runs) {
    copy(BlocksOf(array, blocks, run),
         RangeOfAxis(folded, blocks.prefix.shape.ndim, run.first, run.count));
  }
}

/*! \brief The accelerator's own `take` along an axis; a NULL array where it has none. */
NDArray TryTake(const NDArray& array, const NDArray& indices, int axis) {
  static const PackedFunc mode = PackedFunc::GetGlobal("mx.acc.fallback");
  if (mode("").As<std::string>() == "whole") return NDArray();
  const std::string device = ContextName(array.ctx());
  const std::string name = "acc." + device.substr(0, device.find('(')) + ".take";
  MXNetFunctionHandle handle = nullptr;
  MXNET_CHECK_CALL(MXNetFuncGetGlobal(name.c_str(), &handle));
  if (handle == nullptr) return NDArray();
  const PackedFunc take(ObjectRef::Steal(handle));
  try {
    const NDArray there = IsHost(indices.ctx()) ? BringTo(indices, array.ctx()) : indices;
    return take(array, there, axis);
  } catch (const Error& error) {
    if (error.kind() != "NotImplementedError") throw;
    return NDArray();
  }
}

/*! \brief By the one index array there is, along its axis; a NULL array where it has no take. */
NDArray TryTakeAlongAxis(const NDArray& array, const Place& place, const AxisIndices& along,
                         int leading) {
  StridedAxes axes;
  for (int d = 0; d <= place.axes.shape.ndim; ++d) {
    if (d == leading) axes.push_back(along.extent, along.stride);
    if (d < place.axes.shape.ndim) axes.push_back(place.axes.shape[d], place.axes.strides[d]);
  }
  if (axes.shape.ndim > kMaxNdim) return NDArray();
  const NDArray view =
      array.View(place.data, axes.shape.view(), axes.strides.view(), array.dtype());
  return TryTake(view, along.indices, leading);
}

/*! \brief The same where blocks are row-major, and lie as rows of a matrix do. */
NDArray TryTakeRows(const NDArray& array, const Selection& selection) {
  const ScatteredBlocks& blocks = selection.blocks();
  if (blocks.prefix.shape.ndim != 0) return NDArray();
  int64_t row = 1;
  for (int d = blocks.suffix.shape.ndim - 1; d >= 0; --d) {
    if (blocks.suffix.strides[d] != row) return NDArray();
    row *= blocks.suffix.shape[d];
  }
  NDArray numbers = NDArray::Empty(ShapeView(&blocks.count, 1), kInt64);
  int64_t rows = 0;
  for (int64_t i = 0; i < blocks.count; ++i) {
    const int64_t offset = blocks.offsets[i];
    if (offset < 0 || offset % row != 0) return NDArray();
    numbers.data_as<int64_t>()[i] = offset / row;
    rows = std::max(rows, offset / row + 1);
  }
  DimBuffer shape, strides;
  shape.push_back(rows);
  shape.push_back(row);
  strides.push_back(row);
  strides.push_back(1);
  const NDArray matrix = array.View(blocks.data, shape.view(), strides.view(), array.dtype());
  const NDArray taken = TryTake(matrix, numbers, 0);
  return taken.get() == nullptr ? taken : ReshapeTo(taken, DimBuffer(selection.shape()));
}

}  // namespace

NDArray GatherElsewhere(const NDArray& array, const IndexKey& key) {
  Place place;
  std::vector<AxisIndices> arrays;
  const int leading = key.ApplyAdvanced(array.tensor(), &place, &arrays);
  const bool is_along = arrays.size() == 1 && key.has_no_mask();
  // Indices that are there stay there, unless they are needed here after all.
  const bool is_there = is_along && !IsHost(arrays[0].indices.ctx());
  if (is_there) {
    NDArray taken = TryTakeAlongAxis(array, place, arrays[0], leading);
    if (taken.get() != nullptr) return taken;
  }
  const Selection selection(key, array.tensor());
  NDArray result = NDArray::Empty(selection.shape(), array.dtype(), array.ctx());
  if (result.size() == 0) return result;
  const std::vector<Run> runs = RunsOf(selection.blocks());
  if (runs.size() > kFewCopies && !is_there) {
    NDArray taken = is_along ? TryTakeAlongAxis(array, place, arrays[0], leading)
                             : TryTakeRows(array, selection);
    if (taken.get() != nullptr) return taken;
  }
  if (runs.size() > kMostCopies) ThrowTooMany();
  ForEachRun(array, selection, runs, result,
             [](const NDArray& there, const NDArray& dense) { Assign(dense, there); });
  return result;
}

void ScatterElsewhere(const NDArray& array, const Selection& selection, const Elements& value) {
  const std::vector<Run> runs = RunsOf(selection.blocks());
  if (runs.size() > kMostCopies) ThrowTooMany();
  const NDArray dense = NDArray::Empty(selection.shape(), array.dtype(), array.ctx());
  CopyAnywhere(value, {dense.tensor(), dense});
  ForEachRun(array, selection, runs, dense,
             [](const NDArray& there, const NDArray& part) { Assign(there, part); });
}

void FillMaskElsewhere(const NDArray& array, const NDArray& mask, const NDArray& value) {
  static const PackedFunc where = PackedFunc::GetGlobal("_npi.where");
  const NDArray there = IsHost(mask.ctx()) ? BringTo(mask, array.ctx()) : mask;
  const NDArray filled = where(there, value, array);
  Assign(array, filled);
}

}  // namespace op
}  // namespace mxnet
