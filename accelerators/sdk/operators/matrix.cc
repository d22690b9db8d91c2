/*!
 * \file matrix.cc
 * \brief Products as those of matrices that libraries for them take.
 */
#include <algorithm>

#include "product.h"

namespace mxacc {
namespace {

void Append(Axes* to, const Axes& from) {
  for (size_t i = 0; i < from.shape.size(); ++i) {
    to->Add(from.shape[i], {from.strides[0][i], from.strides[1][i], from.strides[2][i]});
  }
}

/*! \brief The strides of two tensors along axes that are one; false where they are not. */
bool JoinToOne(const Axes& axes, ProductTensor first, ProductTensor second, int64_t* steps) {
  const int64_t* const strides[] = {axes.strides[first].data(), axes.strides[second].data()};
  const JoinedAxes joined =
      JoinAxes(static_cast<int32_t>(axes.shape.size()), axes.shape.data(), strides, 2);
  if (joined.ndim > 1) return false;
  steps[first] = joined.ndim == 0 ? 1 : joined.strides[0][0];
  steps[second] = joined.ndim == 0 ? 1 : joined.strides[1][0];
  return true;
}

/*! \brief Whether rows, or columns, of a tensor are dense; says which, and how far apart. */
bool Fits(ProductTensor tensor, int64_t row_step, int64_t column_step, Matrix* matrix) {
  if (column_step == 1 && row_step >= matrix->columns) {
    matrix->leading = row_step;
    return true;
  }
  // The output is written as it is.
  if (tensor == kOut || row_step != 1 || column_step < matrix->rows) return false;
  matrix->transposed = true;
  matrix->leading = column_step;
  return true;
}

/*! \brief Steps are NULL where the axes are not one. */
Matrix MakeMatrix(ProductTensor tensor, const Axes& row_axes, const Axes& column_axes,
                  const int64_t* row_steps, const int64_t* column_steps) {
  Matrix matrix{row_axes.count(), column_axes.count(), false, false, column_axes.count(), Axes(2)};
  const bool joined = row_steps != nullptr && column_steps != nullptr;
  matrix.direct = joined && Fits(tensor, row_steps[tensor], column_steps[tensor], &matrix);
  if (matrix.direct) return matrix;
  int64_t step = matrix.rows * matrix.columns;
  for (const Axes* axes : {&row_axes, &column_axes}) {
    for (size_t i = 0; i < axes->shape.size(); ++i) {
      step /= axes->shape[i];
      matrix.dense.Add(axes->shape[i], {step, axes->strides[tensor][i]});
    }
  }
  return matrix;
}

}  // namespace

MatrixProduct AsMatrices(ProductAxes axes) {
  const std::vector<int64_t>& of_b = axes.batch.strides[kB];
  if (std::all_of(of_b.begin(), of_b.end(), [](int64_t step) { return step == 0; })) {
    Append(&axes.batch, axes.rows);
    axes.rows = std::move(axes.batch);
    axes.batch = Axes(3);
  }
  int64_t row_steps[3] = {};
  int64_t column_steps[3] = {};
  int64_t summed_steps[3] = {};
  const bool rows = JoinToOne(axes.rows, kOut, kA, row_steps);
  const bool columns = JoinToOne(axes.columns, kOut, kB, column_steps);
  const bool summed = JoinToOne(axes.summed, kA, kB, summed_steps);
  const int64_t* of_rows = rows ? row_steps : nullptr;
  const int64_t* of_columns = columns ? column_steps : nullptr;
  const int64_t* of_summed = summed ? summed_steps : nullptr;
  return {axes.batch,
          {MakeMatrix(kOut, axes.rows, axes.columns, of_rows, of_columns),
           MakeMatrix(kA, axes.rows, axes.summed, of_rows, of_summed),
           MakeMatrix(kB, axes.summed, axes.columns, of_summed, of_columns)}};
}

MatrixRooms::MatrixRooms(const MatrixProduct& product, int64_t count, int64_t item) {
  constexpr int64_t kAlignment = 256;  // in elements: that many suit every device, whatever item is
  int64_t elements = 0;
  for (int i : {kOut, kA, kB}) {
    const Matrix& matrix = product.matrices[i];
    if (matrix.direct) continue;
    offsets[i] = elements;
    elements += (matrix.rows * matrix.columns * count + kAlignment - 1) / kAlignment * kAlignment;
  }
  bytes = static_cast<uint64_t>(elements * item);
}

}  // namespace mxacc
