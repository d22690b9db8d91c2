/*!
 * \file indexing_elsewhere.cc
 * \brief Keys come to the host, elements stay where they are.
 */
#include "api/numpy/indexing_elsewhere.h"

#include <algorithm>
#include <string>
#include <utility>

#include "api/argument/arguments.h"
#include "op/tensor/cast.h"
#include "op/tensor/views.h"

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

/*!
 * \brief The runs that offsets fall into; more than kMostCopies are not told in full.
 *
 * With each, every index is one of its own.
 */
std::vector<Run> RunsOf(const ScatteredBlocks& blocks, bool each = false) {
  std::vector<Run> runs;
  for (int64_t i = 0; i < blocks.count && runs.size() <= kMostCopies;) {
    Run run{i, 1, 0};
    if (!each && i + 1 < blocks.count) run.step = blocks.offsets[i + 1] - blocks.offsets[i];
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
  throw ElementsElsewhere("its indices name elements in more than " + std::to_string(kMostCopies) +
                          " positions, and it has no take for them");
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

/*!
 * \brief Copies each run within the device, from the dense array or to it.
 *
 * ElementsElsewhere, with nothing changed, where there are too many or the library does not copy
 * so.
 */
void CopyRuns(const NDArray& array, const Selection& selection, const NDArray& dense,
              bool from_dense) {
  const ScatteredBlocks& blocks = selection.blocks();
  const NDArray blocked = WithOneIndexAxis(dense, blocks);
  // Of any strides; else one by one, as a library may copy what is row-major only.
  for (const bool each : {false, true}) {
    const std::vector<Run> runs = RunsOf(blocks, each);
    if (runs.size() > kMostCopies) ThrowTooMany();
    for (size_t i = 0; i < runs.size(); ++i) {
      NDArray target = BlocksOf(array, blocks, runs[i]);
      NDArray source = RangeOfAxis(blocked, blocks.prefix.shape.ndim, runs[i].first, runs[i].count);
      if (!from_dense) std::swap(target, source);
      const bool done = TryAssignWithin(target, source);
      if (!done && i == 0) break;
      if (!done) Assign(target, source);
      if (i + 1 == runs.size()) return;
    }
  }
  throw ElementsElsewhere(
      "its indices name elements that its library does not copy within the device");
}

NDArray TryTake(const NDArray& array, const NDArray& indices, int axis) {
  static const PackedFunc take = PackedFunc::GetGlobal("_npi.take");
  return TryOnDevice(array.ctx(), take,
                     {Any::Of(array), Any::Of(BringTo(indices, array.ctx())), Any::Of(axis)});
}

/*! \brief By the one index array there is, along its axis; a NULL array where it has no take. */
NDArray TryTakeAlongAxis(const NDArray& array, const SubarrayLayout& subarray,
                         const AxisIndices& along, int leading) {
  StridedAxes axes;
  for (int d = 0; d <= subarray.axes.shape.ndim; ++d) {
    if (d == leading) axes.push_back(along.extent, along.stride);
    if (d < subarray.axes.shape.ndim)
      axes.push_back(subarray.axes.shape[d], subarray.axes.strides[d]);
  }
  // What is wrong with indices into nothing has other words in take.
  if (axes.shape.ndim > kMaxNdim || along.extent == 0) return NDArray();
  const NDArray view =
      array.View(subarray.data, axes.shape.view(), axes.strides.view(), array.dtype());
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
  SubarrayLayout subarray;
  std::vector<AxisIndices> arrays;
  int leading = 0;
  // A mask is read once, for the selection.
  if (key.has_no_mask()) leading = key.ApplyAdvanced(array.tensor(), &subarray, &arrays);
  const bool is_along = arrays.size() == 1;
  // Indices that are there stay there, unless they are needed here after all.
  const bool is_there = is_along && !IsHost(arrays[0].indices.ctx());
  if (is_there) {
    NDArray taken = TryTakeAlongAxis(array, subarray, arrays[0], leading);
    if (taken.get() != nullptr) return taken;
  }
  Selection selection(key, array.tensor());
  selection.ReadIndices();
  NDArray result = NDArray::Empty(selection.shape(), array.dtype(), array.ctx());
  if (result.size() == 0) return result;
  if (!is_there && RunsOf(selection.blocks()).size() > kFewCopies) {
    NDArray taken = is_along ? TryTakeAlongAxis(array, subarray, arrays[0], leading)
                             : TryTakeRows(array, selection);
    if (taken.get() != nullptr) return taken;
  }
  CopyRuns(array, selection, result, false);
  return result;
}

void ScatterElsewhere(const NDArray& array, const Selection& selection, const Elements& value) {
  if (RunsOf(selection.blocks()).size() > kMostCopies) ThrowTooMany();
  const NDArray dense = NDArray::Empty(selection.shape(), array.dtype(), array.ctx());
  CopyAnywhere(value, {dense.tensor(), dense});
  CopyRuns(array, selection, dense, true);
}

bool TryFillMaskElsewhere(const NDArray& array, const NDArray& mask, const NDArray& value) {
  static const PackedFunc where = PackedFunc::GetGlobal("_npi.where");
  const NDArray filled = TryOnDevice(
      array.ctx(), where, {Any::Of(BringTo(mask, array.ctx())), Any::Of(value), Any::Of(array)});
  if (filled.get() == nullptr) return false;
  Assign(array, filled);
  return true;
}

}  // namespace op
}  // namespace mxnet
