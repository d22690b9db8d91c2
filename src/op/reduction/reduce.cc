/*!
 * \file reduce.cc
 * \brief Axes and strides of reductions, and where their results go.
 */
#include "op/reduction/reduce.h"

#include "op/tensor/axes.h"

namespace mxnet {
namespace op {
namespace {

int64_t Magnitude(int64_t value) { return value < 0 ? -value : value; }

/*! \brief Merges each axis into its neighbour where the two are one span of memory. */
void MergeAxes(DimBuffer* shape, DimBuffer* strides) {
  int last = -1;
  for (int d = 0; d < shape->ndim; ++d) {
    if ((*shape)[d] == 1) continue;
    if (last >= 0 && (*strides)[last] == (*strides)[d] * (*shape)[d]) {
      (*shape)[last] *= (*shape)[d];
    } else {
      (*shape)[++last] = (*shape)[d];
    }
    (*strides)[last] = (*strides)[d];
  }
  shape->ndim = strides->ndim = last + 1;
}

void SortByStride(DimBuffer* shape, DimBuffer* strides) {
  for (int d = 1; d < shape->ndim; ++d) {
    for (int e = d; e > 0 && Magnitude((*strides)[e - 1]) < Magnitude((*strides)[e]); --e) {
      std::swap((*shape)[e - 1], (*shape)[e]);
      std::swap((*strides)[e - 1], (*strides)[e]);
    }
  }
}

/*! \brief Which axes are reduced; AxisError or ValueError where one is wrong. */
void MarkReduced(int ndim, const std::optional<Axes>& given, bool* is_reduced) {
  std::fill_n(is_reduced, ndim, !given);
  if (!given) return;
  // NumPy lets a 0-d array be reduced along its axis 0, which it does not have.
  if (ndim == 0 && given->single && ((*given)[0] == 0 || (*given)[0] == -1)) return;
  DimBuffer axes;
  NormalizeAxes(given->view(), ndim, &axes, "duplicate value in 'axis'");
  for (int64_t axis : axes.view()) is_reduced[axis] = true;
}

}  // namespace

Reduction::Reduction(const DLTensor& a, const std::optional<Axes>& axes) {
  MarkReduced(a.ndim, axes, is_reduced_);
  Split(a);
}

void Reduction::Split(const DLTensor& a) {
  data_ = static_cast<const char*>(TensorData(a));
  int64_t strides[kMaxNdim];
  StridesOf(a, strides);
  const int64_t item = ItemSize(a.dtype);
  for (int d = 0; d < a.ndim; ++d) {
    (is_reduced_[d] ? count_ : out_size_) *= a.shape[d];
    (is_reduced_[d] ? reduced_ : kept_).push_back(a.shape[d]);
    (is_reduced_[d] ? reduced_strides_ : kept_strides_).push_back(strides[d] * item);
  }
  MergeAxes(&kept_, &kept_strides_);
  SortByStride(&reduced_, &reduced_strides_);
  MergeAxes(&reduced_, &reduced_strides_);
}

bool Reduction::reduces_rows() const noexcept {
  if (kept_.ndim == 0 || reduced_.ndim == 0) return false;
  const int64_t kept = Magnitude(kept_strides_[kept_.ndim - 1]);
  return kept < Magnitude(reduced_strides_[reduced_.ndim - 1]) && kept_[kept_.ndim - 1] > 3;
}

int64_t ResultsAbreast(const Reduction& r) noexcept {
  constexpr int64_t kLeast = 64;
  constexpr int64_t kPage = 1024;
  const int64_t step = std::max<int64_t>(Magnitude(r.kept_strides()[r.kept().ndim - 1]), 1);
  const int64_t most = std::min(kPage / step, r.out_size() / (2 * NumThreads()));
  return std::max((most + kLeast - 1) / kLeast, int64_t{1}) * kLeast;
}

void SetReduced(DLDataType dtype, ShapeView shape, const ReduceAttributes& attributes,
                MXNetTensorSpec* out) {
  bool is_reduced[kMaxNdim];
  MarkReduced(shape.ndim(), attributes.axis, is_reduced);
  out->dtype = dtype;
  out->ndim = 0;
  for (int d = 0; d < shape.ndim(); ++d) {
    if (is_reduced[d] && !attributes.keepdims) continue;
    out->shape[out->ndim++] = is_reduced[d] ? 1 : shape[static_cast<size_t>(d)];
  }
}

int64_t ReducedCount(ShapeView shape, const std::optional<Axes>& axes) {
  bool is_reduced[kMaxNdim];
  MarkReduced(shape.ndim(), axes, is_reduced);
  int64_t count = 1;
  for (int d = 0; d < shape.ndim(); ++d) {
    if (is_reduced[d]) count = MultiplyExtent(count, shape[static_cast<size_t>(d)]);
  }
  return count;
}

void ReduceInto(const ReduceTable& table, const Reduction& r, DLDataType dtype,
                const DLTensor& out) {
  table.loops[CheckedIndexOfDType(dtype)](r, static_cast<char*>(TensorData(out)));
}

NDArray Reduce(const ReduceTable& table, const Reduction& r, DLDataType dtype, ShapeView shape) {
  NDArray result = NDArray::Empty(shape, table.results[CheckedIndexOfDType(dtype)]);
  ReduceInto(table, r, dtype, result.tensor());
  return result;
}

}  // namespace op
}  // namespace mxnet
