/*!
 * \file mxnet/op/dims.h
 * \brief DimBuffer: extents or axes without an allocation.
 */
#ifndef MXNET_OP_DIMS_H_
#define MXNET_OP_DIMS_H_

#include <mxnet/runtime/extents.h>

namespace mxnet {
namespace op {

/*! \brief Up to kMaxNdim integers without an allocation; only the first ndim are set. */
struct DimBuffer {
  int ndim{0};
  int64_t data[runtime::kMaxNdim];

  DimBuffer() noexcept {}  // NOLINT: data stays uninitialized on purpose
  explicit DimBuffer(runtime::ShapeView dims) noexcept : ndim(dims.ndim()) {
    for (int i = 0; i < ndim; ++i) data[i] = dims[i];
  }
  DimBuffer(const DimBuffer& other) noexcept : DimBuffer(other.view()) {}
  DimBuffer& operator=(const DimBuffer& other) noexcept {
    ndim = other.ndim;
    for (int i = 0; i < ndim; ++i) data[i] = other.data[i];
    return *this;
  }
  int64_t& operator[](int i) noexcept { return data[i]; }
  int64_t operator[](int i) const noexcept { return data[i]; }
  void push_back(int64_t value) noexcept { data[ndim++] = value; }
  runtime::ShapeView view() const noexcept { return {data, static_cast<size_t>(ndim)}; }
  int64_t product() const noexcept {
    int64_t size = 1;
    for (int i = 0; i < ndim; ++i) size *= data[i];
    return size;
  }
};

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_OP_DIMS_H_
