/*!
 * \file views.cc
 * \brief Arrays that show the memory of another in a different layout.
 */
#include "op/tensor/views.h"

#include "op/tensor/cast.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief Neighbouring axes that step evenly, as one axis. */
struct AxisRun {
  int64_t size;
  int64_t stride;
};

int EvenRuns(const DLTensor& tensor, AxisRun* runs) {
  int count = 0;
  for (int d = 0; d < tensor.ndim; ++d) {
    const int64_t extent = tensor.shape[d];
    const int64_t stride = tensor.strides[d];
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

}  // namespace

bool StridesForShape(const DLTensor& tensor, ShapeView shape, int64_t* strides) {
  if (IsContiguous(tensor) || TensorSize(tensor) == 0) {
    SetRowMajorStrides(shape, strides);
    return true;
  }
  AxisRun runs[kMaxNdim];
  int run = EvenRuns(tensor, runs) - 1;
  int64_t rest = run >= 0 ? runs[run].size : 1;
  int64_t stride = run >= 0 ? runs[run].stride : 1;
  for (int d = shape.ndim() - 1; d >= 0; --d) {
    const int64_t extent = shape[static_cast<size_t>(d)];
    strides[d] = stride;
    if (extent == 1) continue;
    if (rest == 1 && run > 0) {
      rest = runs[--run].size;
      stride = strides[d] = runs[run].stride;
    }
    if (rest % extent != 0) return false;
    rest /= extent;
    stride *= extent;
  }
  return true;
}

void CopyRowMajor(const DLTensor& from, const DLTensor& to) {
  DLTensor alike = from;
  alike.data = to.data;
  alike.byte_offset = to.byte_offset;
  alike.strides = nullptr;
  CopyCast(from, alike);
}

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

NDArray ReshapeTo(const NDArray& array, const DimBuffer& shape) {
  DimBuffer strides;
  strides.ndim = shape.ndim;
  if (StridesForShape(array.tensor(), shape.view(), strides.data)) {
    return ViewOf(array, shape, strides);
  }
  SetRowMajorStrides(shape.view(), strides.data);
  return ViewOf(Contiguous(array.tensor()), shape, strides);
}

NDArray Flattened(const NDArray& array) {
  DimBuffer shape;
  shape.push_back(array.size());
  return ReshapeTo(array, shape);
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
