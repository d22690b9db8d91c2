/*!
 * \file indexing_selection.cc
 * \brief From index arrays to offsets of elements.
 */
#include "api/numpy/indexing_selection.h"

#include <algorithm>
#include <string>

#include "api/argument/arguments.h"
#include "api/call/transfer.h"
#include "op/kernels/index/take.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief The common shape of index arrays. */
void BroadcastIndices(const std::vector<AxisIndices>& arrays, DimBuffer* shape) {
  std::vector<ShapeView> shapes;
  for (const AxisIndices& axis : arrays) shapes.push_back(axis.indices.shape());
  try {
    BroadcastShapes(shapes.data(), static_cast<int>(shapes.size()), shape);
  } catch (const Error&) {
    std::string text;
    for (ShapeView one : shapes) text += CompactShape(one) + " ";
    MXNET_THROW("IndexError") << "shape mismatch: indexing arrays could not be broadcast together "
                              << "with shapes " << text;
  }
}

/*! \brief Indices as row-major int64 on the host; the array itself where it is that. */
NDArray ReadyIndices(const NDArray& indices) {
  const NDArray array = OnHost(indices);
  const DLTensor& tensor = array.tensor();
  const bool is_ready = tensor.dtype == kInt64 && IsContiguous(tensor) && IsAligned(tensor);
  return is_ready ? array : AsType(tensor, kInt64);
}

void CheckBounds(const AxisIndices& axis, const NDArray& indices) {
  const int64_t* values = indices.data_as<int64_t>();
  const int64_t out = FindOutOfBounds({values, indices.size()}, axis.extent);
  if (out != indices.size()) ThrowOutOfBounds(values[out], axis.axis, axis.extent);
}

/*! \brief For each element of the common shape, how far into the array the indices lead. */
NDArray OffsetsOf(const std::vector<AxisIndices>& arrays, ShapeView shape) {
  const NDArray offsets = NDArray::Empty(shape, kInt64);
  int64_t* const to = offsets.data_as<int64_t>();
  const int64_t size = offsets.size();
  std::fill_n(to, size, 0);
  // Where nothing is indexed in the end NumPy lets any index pass.
  if (size == 0) return offsets;
  for (const AxisIndices& axis : arrays) {
    const NDArray indices = ReadyIndices(axis.indices);
    CheckBounds(axis, indices);
    const auto offset = [&](int64_t index) {
      return (index + (axis.extent & (index >> 63))) * axis.stride;
    };
    if (indices.shape() == shape) {
      const int64_t* values = indices.data_as<int64_t>();
      for (int64_t i = 0; i < size; ++i) to[i] += offset(values[i]);
      continue;
    }
    StridedLoop<2> loop(shape);
    loop.Set(0, offsets.tensor());
    loop.Set(1, indices.tensor());
    loop.Run([&](char* const* data, const int64_t* strides, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        *reinterpret_cast<int64_t*>(data[0] + i * strides[0]) +=
            offset(*reinterpret_cast<const int64_t*>(data[1] + i * strides[1]));
      }
    });
  }
  return offsets;
}

/*! \brief Sets a shape to that of a selection: the axes of index arrays among those of slices. */
void SetShape(const DimBuffer& axes, int leading, const DimBuffer& index_shape, DimBuffer* shape) {
  const auto add = [shape](const DimBuffer& dims, int first, int last) {
    for (int d = first; d < last; ++d) shape->push_back(dims[d]);
  };
  if (axes.ndim + index_shape.ndim > kMaxNdim) {
    MXNET_THROW("IndexError") << "number of dimensions must be within [0, " << kMaxNdim
                              << "], indexing result would have " << axes.ndim + index_shape.ndim;
  }
  add(axes, 0, leading);
  add(index_shape, 0, index_shape.ndim);
  add(axes, leading, axes.ndim);
}

}  // namespace

void InferSelection(const IndexKey& key, const MXNetTensorSpec& spec, DimBuffer* shape) {
  SubarrayLayout subarray;
  std::vector<AxisIndices> arrays;
  const int leading = key.ApplyToSpec(spec, &subarray, &arrays);
  if (key.is_basic()) {
    *shape = subarray.axes.shape;
    return;
  }
  DimBuffer index_shape;
  BroadcastIndices(arrays, &index_shape);
  SetShape(subarray.axes.shape, leading, index_shape, shape);
}

Selection::Selection(const IndexKey& key, const DLTensor& tensor) {
  SubarrayLayout subarray;
  const int leading = key.ApplyAdvanced(tensor, &subarray, &arrays_);
  BroadcastIndices(arrays_, &index_shape_);
  const StridedAxes& axes = subarray.axes;
  SetShape(axes.shape, leading, index_shape_, &shape_);
  blocks_.data = subarray.data;
  blocks_.dtype = tensor.dtype;
  for (int d = 0; d < axes.shape.ndim; ++d) {
    (d < leading ? blocks_.prefix : blocks_.suffix).push_back(axes.shape[d], axes.strides[d]);
  }
}

void Selection::ReadIndices() {
  offsets_ = OffsetsOf(arrays_, index_shape_.view());
  blocks_.offsets = offsets_.data_as<int64_t>();
  blocks_.count = offsets_.size();
}

}  // namespace op
}  // namespace mxnet
