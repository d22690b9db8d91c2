/*!
 * \file contract.cc
 * \brief A contraction is a matrix product once its axes are sorted into kept and summed ones.
 */
#include "op/product/contract.h"

#include <algorithm>
#include <cstring>

#include "op/kernels/product/gemm.h"
#include "op/tensor/axes.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief Packed operands up to this size stay on the stack. */
constexpr int64_t kStackBytes = 2048;

/*! \brief Extents and strides of some axes of an array. */
struct SideAxes {
  int ndim{0};
  int64_t extent[kMaxNdim];
  int64_t stride[kMaxNdim];

  SideAxes() noexcept {}  // NOLINT: the rows stay uninitialized on purpose

  void push_back(int64_t n, int64_t step) noexcept {
    extent[ndim] = n;
    stride[ndim++] = step;
  }
  int64_t size() const noexcept {
    int64_t product = 1;
    for (int i = 0; i < ndim; ++i) product *= extent[i];
    return product;
  }
  /*! \brief Makes one axis of neighbours that step evenly together, and drops those of one element.
   */
  void Merge() noexcept {
    int last = -1;
    for (int i = 0; i < ndim; ++i) {
      if (extent[i] == 1) continue;
      if (last >= 0 && stride[last] == stride[i] * extent[i]) {
        extent[last] *= extent[i];
        stride[last] = stride[i];
      } else {
        ++last;
        extent[last] = extent[i];
        stride[last] = stride[i];
      }
    }
    ndim = last + 1;
  }
};

/*! \brief One operand of the product as a matrix: kept axes its rows, summed axes its columns. */
struct Side {
  const char* data;
  SideAxes kept;
  SideAxes summed;
};

void SplitAxes(const DLTensor& tensor, ShapeView summed_axes, Side* side) {
  int64_t strides[kMaxNdim];
  bool is_summed[kMaxNdim];
  StridesOf(tensor, strides);
  std::fill_n(is_summed, tensor.ndim, false);
  side->data = static_cast<const char*>(TensorData(tensor));
  for (int64_t axis : summed_axes) {
    is_summed[axis] = true;
    side->summed.push_back(tensor.shape[axis], strides[axis]);
  }
  for (int axis = 0; axis < tensor.ndim; ++axis) {
    if (!is_summed[axis]) side->kept.push_back(tensor.shape[axis], strides[axis]);
  }
}

/*! \brief Sorts the pairs of summed axes so that those of the first side merge where they can. */
void SortSummed(SideAxes* lead, SideAxes* other) {
  for (int i = 1; i < lead->ndim; ++i) {
    for (int j = i; j > 0 && lead->stride[j - 1] < lead->stride[j]; --j) {
      std::swap(lead->stride[j - 1], lead->stride[j]);
      std::swap(lead->extent[j - 1], lead->extent[j]);
      std::swap(other->stride[j - 1], other->stride[j]);
      std::swap(other->extent[j - 1], other->extent[j]);
    }
  }
}

/*! \brief Copies elements, as values of T, into a dense span; returns its end. */
template <typename T>
T* CopyDense(const T* from, const SideAxes& axes, int axis, T* to) {
  const int64_t extent = axes.extent[axis];
  const int64_t stride = axes.stride[axis];
  if (axis == axes.ndim - 1) {
    for (int64_t i = 0; i < extent; ++i) to[i] = from[i * stride];
    return to + extent;
  }
  for (int64_t i = 0; i < extent; ++i) to = CopyDense(from + i * stride, axes, axis + 1, to);
  return to;
}

/*! \brief Copies a side of at least one axis into dense rows. */
void CopySide(const char* data, SideAxes* axes, DLDataType dtype, int64_t size, void* to) {
  // Few elements are copied before the general copy, which is better with many, is set up.
  constexpr int64_t kFew = 512;
  const int64_t item = ItemSize(dtype);
  if (size <= kFew && item == 4) {
    CopyDense(reinterpret_cast<const uint32_t*>(data), *axes, 0, static_cast<uint32_t*>(to));
  } else if (size <= kFew && item == 8) {
    CopyDense(reinterpret_cast<const uint64_t*>(data), *axes, 0, static_cast<uint64_t*>(to));
  } else {
    DLTensor from{const_cast<char*>(data),
                  Context{kDLCPU, 0},
                  axes->ndim,
                  dtype,
                  axes->extent,
                  axes->stride,
                  0};
    DLTensor dense = from;
    dense.data = to;
    dense.strides = nullptr;
    CopyCast(from, dense);
  }
}

/*! \brief A side as a matrix, packed into dense rows where its axes do not merge to two. */
class PackedSide {
 public:
  PackedSide(Side* side, DLDataType dtype) {
    const int64_t columns = side->summed.size();
    const int64_t rows = side->kept.size();
    side->kept.Merge();
    side->summed.Merge();
    if (side->kept.ndim <= 1 && side->summed.ndim <= 1) {
      matrix_ = Matrix{side->data, side->kept.ndim == 0 ? columns : side->kept.stride[0],
                       side->summed.ndim == 0 ? 1 : side->summed.stride[0]};
      return;
    }
    SideAxes& all = side->kept;
    for (int i = 0; i < side->summed.ndim; ++i) {
      all.push_back(side->summed.extent[i], side->summed.stride[i]);
    }
    void* room = stack_;
    if (rows * columns * ItemSize(dtype) > kStackBytes) {
      const int64_t size = rows * columns;
      heap_ = NDArray::Empty(ShapeView(&size, 1), dtype);
      room = heap_.data();
    }
    CopySide(side->data, &all, dtype, rows * columns, room);
    matrix_ = Matrix{room, columns, 1};
  }

  /*! \brief Kept axes are rows. */
  const Matrix& matrix() const noexcept { return matrix_; }
  /*! \brief Summed axes are rows. */
  Matrix transposed() const noexcept {
    return Matrix{matrix_.data, matrix_.column_stride, matrix_.row_stride};
  }

 private:
  Matrix matrix_;
  NDArray heap_;
  alignas(16) char stack_[kStackBytes];
};

}  // namespace

void InferContract(const MXNetTensorSpec& a, ShapeView a_axes, const MXNetTensorSpec& b,
                   ShapeView b_axes, MXNetTensorSpec* out) {
  bool is_summed[2][kMaxNdim] = {};
  for (size_t i = 0; i < a_axes.size(); ++i) {
    const int64_t of_a = a.shape[a_axes[i]];
    const int64_t of_b = b.shape[b_axes[i]];
    is_summed[0][a_axes[i]] = true;
    is_summed[1][b_axes[i]] = true;
    if (!AreDifferent(of_a, of_b)) continue;
    MXNET_THROW("ValueError") << "shape-mismatch for sum: " << of_a << " (axis " << a_axes[i]
                              << " of a) != " << of_b << " (axis " << b_axes[i] << " of b)";
  }
  CheckNdim(a.ndim + b.ndim - 2 * a_axes.ndim());
  out->dtype = a.dtype;
  out->ndim = 0;
  for (int d = 0; d < a.ndim; ++d) {
    if (!is_summed[0][d]) out->shape[out->ndim++] = a.shape[d];
  }
  for (int d = 0; d < b.ndim; ++d) {
    if (!is_summed[1][d]) out->shape[out->ndim++] = b.shape[d];
  }
}

int64_t ContractOperations(const MXNetTensorSpec& a, const MXNetTensorSpec& b, ShapeView b_axes) {
  int64_t count = MultiplyExtent(2, SizeOf(ShapeOf(a)));
  for (int d = 0; d < b.ndim; ++d) {
    const bool is_summed = std::find(b_axes.begin(), b_axes.end(), d) != b_axes.end();
    if (!is_summed) count = MultiplyExtent(count, b.shape[d]);
  }
  return count;
}

void Contract(const DLTensor& a, ShapeView a_axes, const DLTensor& b, ShapeView b_axes,
              const DLTensor& out) {
  const DLDataType dtype = out.dtype;
  Side left;
  Side right;
  SplitAxes(a, a_axes, &left);
  SplitAxes(b, b_axes, &right);
  const int64_t m = left.kept.size();
  const int64_t n = right.kept.size();
  const int64_t k = left.summed.size();
  if (m == 0 || n == 0) return;
  void* data = TensorData(out);
  if (k == 0) {
    std::memset(data, 0, static_cast<size_t>(m * n * ItemSize(dtype)));
    return;
  }
  if (m >= n) {
    SortSummed(&left.summed, &right.summed);
  } else {
    SortSummed(&right.summed, &left.summed);
  }
  const PackedSide packed_left(&left, dtype);
  const PackedSide packed_right(&right, dtype);
  Gemm(dtype, m, n, k, packed_left.matrix(), packed_right.transposed(), data);
}

}  // namespace op
}  // namespace mxnet
