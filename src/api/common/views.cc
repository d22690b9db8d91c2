/*!
 * \file views.cc
 * \brief Arrays that show the memory of another in a different geometry.
 */
#include "api/common/views.h"

#include "api/common/cast.h"
#include "api/common/gather.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief A run of neighbouring axes that step evenly, as one axis. */
struct AxisRun {
  int64_t size;
  int64_t stride;
};

int EvenRuns(const NDArray& array, AxisRun* runs) {
  int count = 0;
  for (int d = 0; d < array.ndim(); ++d) {
    const int64_t extent = array->shape[d];
    const int64_t stride = array->strides[d];
    if (extent == 1) continue;
    if (count > 0 && runs[count - 1].stride == stride * extent) {
      runs[count - 1].size *= extent;
      runs[count - 1].stride = stride;
    } else {
      runs[count++] = AxisRun{extent, stride};
    }
  }
  return count;
}

/*! \brief Strides with which the array shows the shape; false where no strides can. */
bool StridesForShape(const NDArray& array, const DimBuffer& shape, DimBuffer* strides) {
  AxisRun runs[kMaxNdim];
  int run = EvenRuns(array, runs) - 1;
  int64_t rest = run >= 0 ? runs[run].size : 1;
  int64_t stride = run >= 0 ? runs[run].stride : 1;
  strides->ndim = shape.ndim;
  for (int d = shape.ndim - 1; d >= 0; --d) {
    (*strides)[d] = stride;
    if (shape[d] == 1) continue;
    if (rest == 1 && run > 0) {
      rest = runs[--run].size;
      stride = (*strides)[d] = runs[run].stride;
    }
    if (rest % shape[d] != 0) return false;
    rest /= shape[d];
    stride *= shape[d];
  }
  return true;
}

void SetRowMajor(const DimBuffer& shape, DimBuffer* strides) {
  strides->ndim = shape.ndim;
  SetRowMajorStrides(shape.view(), strides->data);
}

}  // namespace

NDArray AsReadOnly(NDArray view) {
  reinterpret_cast<MXNetNDArrayObject*>(view.get())->flags |= kMXNetNDArrayReadOnly;
  return view;
}

NDArray RepeatTo(const NDArray& array, ShapeView shape) {
  const int offset = shape.ndim() - array.ndim();
  DimBuffer strides;
  for (int d = 0; d < shape.ndim(); ++d) {
    const bool repeated = d < offset || array->shape[d - offset] == 1;
    strides.push_back(repeated ? 0 : array->strides[d - offset]);
  }
  return array.View(array.data(), shape, strides.view(), array.dtype());
}

NDArray PermuteAxes(const NDArray& array, const DimBuffer& order) {
  DimBuffer shape;
  DimBuffer strides;
  for (int64_t axis : order.view()) {
    shape.push_back(array->shape[axis]);
    strides.push_back(array->strides[axis]);
  }
  return ViewOf(array, shape, strides);
}

NDArray ReshapeTo(const NDArray& array, const DimBuffer& shape) {
  DimBuffer strides;
  if (IsContiguous(array.tensor()) || array.size() == 0) {
    SetRowMajor(shape, &strides);
    return ViewOf(array, shape, strides);
  }
  if (StridesForShape(array, shape, &strides)) return ViewOf(array, shape, strides);
  SetRowMajor(shape, &strides);
  if (IsMeta(array.tensor())) return ViewOf(array, shape, strides);
  return ViewOf(Contiguous(array.tensor()), shape, strides);
}

NDArray Flattened(const NDArray& array) {
  DimBuffer shape;
  shape.push_back(array.size());
  return ReshapeTo(array, shape);
}

NDArray PickFromAxis(const NDArray& array, int axis, std::vector<int64_t> positions) {
  for (int64_t& position : positions) position *= array->strides[axis];
  DimBuffer shape(array.shape());
  shape[axis] = static_cast<int64_t>(positions.size());
  NDArray picked = NDArray::Empty(shape.view(), array.dtype(), array.ctx());
  if (picked.size() == 0) return picked;
  ScatteredBlocks blocks;
  blocks.data = array.data_as<char>();
  blocks.dtype = array.dtype();
  blocks.offsets = positions.data();
  blocks.count = shape[axis];
  for (int d = 0; d < array.ndim(); ++d) {
    if (d == axis) continue;
    (d < axis ? blocks.prefix : blocks.suffix).push_back(array->shape[d], array->strides[d]);
  }
  GatherBlocks(blocks, picked.data());
  return picked;
}

NDArray RangeOfAxis(const NDArray& array, int axis, int64_t start, int64_t length) {
  DimBuffer shape(array.shape());
  shape[axis] = length;
  const int64_t offset = length > 0 ? start * array->strides[axis] : 0;
  char* data = array.data_as<char>() + offset * ItemSize(array.dtype());
  return array.View(data, shape.view(), array.strides(), array.dtype());
}

}  // namespace op
}  // namespace mxnet
