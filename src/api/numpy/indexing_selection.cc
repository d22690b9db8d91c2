/*!
 * \file indexing_selection.cc
 * \brief From index arrays to offsets of elements.
 */
#include "api/numpy/indexing_selection.h"

#include <string>

#include "api/call/transfer.h"
#include "op/argument/arguments.h"
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

void CheckBounds(const AxisIndices& axis, const NDArray& indices) {
  const int64_t* values = indices.data_as<int64_t>();
  const int64_t size = indices.size();
  for (int64_t i = 0; i < size; ++i) {
    if (values[i] < -axis.extent || values[i] >= axis.extent) {
      ThrowOutOfBounds(values[i], axis.axis, axis.extent);
    }
  }
}

/*! \brief For each element of the common shape, how far into the array the indices lead. */
NDArray OffsetsOf(const std::vector<AxisIndices>& arrays, ShapeView shape) {
  NDArray offsets = NDArray::Zeros(shape, kInt64);
  // Where nothing is indexed in the end NumPy lets any index pass.
  if (offsets.size() == 0) return offsets;
  for (const AxisIndices& axis : arrays) {
    const NDArray indices = AsType(OnHost(axis.indices).tensor(), kInt64);
    CheckBounds(axis, indices);
    StridedLoop<2> loop(shape);
    loop.Set(0, offsets.tensor());
    loop.Set(1, indices.tensor());
    loop.Run([&](char* const* data, const int64_t* strides, int64_t n) {
      char* to = data[0];
      const char* from = data[1];
      for (int64_t i = 0; i < n; ++i) {
        const int64_t index = *reinterpret_cast<const int64_t*>(from);
        *reinterpret_cast<int64_t*>(to) += (index < 0 ? index + axis.extent : index) * axis.stride;
        to += strides[0];
        from += strides[1];
      }
    });
  }
  return offsets;
}

}  // namespace

Selection::Selection(const IndexKey& key, const DLTensor& tensor) {
  std::vector<AxisIndices> arrays;
  SubarrayLayout subarray;
  const int leading = key.ApplyAdvanced(tensor, &subarray, &arrays);
  DimBuffer index_shape;
  BroadcastIndices(arrays, &index_shape);
  const StridedAxes& axes = subarray.axes;
  if (axes.shape.ndim + index_shape.ndim > kMaxNdim) {
    MXNET_THROW("IndexError") << "number of dimensions must be within [0, " << kMaxNdim
                              << "], indexing result would have "
                              << axes.shape.ndim + index_shape.ndim;
  }
  offsets_ = OffsetsOf(arrays, index_shape.view());
  blocks_.data = subarray.data;
  blocks_.dtype = tensor.dtype;
  blocks_.offsets = offsets_.data_as<int64_t>();
  blocks_.count = offsets_.size();
  for (int d = 0; d < axes.shape.ndim; ++d) {
    if (d == leading) AddToShape(index_shape);
    (d < leading ? blocks_.prefix : blocks_.suffix).push_back(axes.shape[d], axes.strides[d]);
    shape_.push_back(axes.shape[d]);
  }
  if (leading == axes.shape.ndim) AddToShape(index_shape);
}

void Selection::AddToShape(const DimBuffer& dims) {
  for (int64_t dim : dims.view()) shape_.push_back(dim);
}

}  // namespace op
}  // namespace mxnet
