/*!
 * \file diagonal.cc
 * \brief Copies of diagonals and triangles, and matrices of a diagonal: diag, tril, triu.
 */
#include "op/creation/diagonal.h"

#include <algorithm>
#include <cstring>

#include "op/creation/creation.h"
#include "op/creation/matrices.h"
#include "op/schema/describe.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {

int64_t DiagonalLength(int64_t rows, int64_t columns, int64_t k) {
  // Compared before they are subtracted, so that no k is too far out to be represented.
  if (k >= columns || k <= -rows) return 0;
  return std::min(rows - std::max<int64_t>(0, -k), columns - std::max<int64_t>(0, k));
}

int64_t DiagonalExtent(int64_t rows, int64_t columns, int64_t k) {
  if (!IsSymbolic(rows) && !IsSymbolic(columns)) return DiagonalLength(rows, columns, k);
  // The least k is no less far out than the one after it.
  const int64_t below = k < 0 ? -std::max(k, -INT64_MAX) : 0;
  return MinExtent(MonusExtent(rows, below), MonusExtent(columns, std::max<int64_t>(k, 0)));
}

DiagonalTensor::DiagonalTensor(const DLTensor& matrix, int64_t k)
    : length(DiagonalLength(matrix.shape[0], matrix.shape[1], k)), tensor(matrix) {
  int64_t strides[kMaxNdim];
  StridesOf(matrix, strides);
  stride = strides[0] + strides[1];
  tensor.ndim = 1;
  tensor.shape = &length;
  tensor.strides = &stride;
  if (length == 0) return;
  const int64_t first = k < 0 ? -k * strides[0] : k * strides[1];
  tensor.byte_offset += static_cast<uint64_t>(first * ItemSize(matrix.dtype));
}

void ClearTriangles(const DLTensor& matrices, int64_t k, bool above) {
  const int64_t rows = matrices.shape[matrices.ndim - 2];
  const int64_t columns = matrices.shape[matrices.ndim - 1];
  const int64_t size = TensorSize(matrices);
  if (size == 0) return;
  const int64_t item = ItemSize(matrices.dtype);
  k = std::clamp(k, -rows - 1, columns + 1);
  const int64_t all_rows = size / columns;
  char* data = static_cast<char*>(TensorData(matrices));
  for (int64_t r = 0; r < all_rows; ++r) {
    const int64_t on_diagonal = r % rows + k;
    const int64_t first = above ? std::clamp<int64_t>(on_diagonal + 1, 0, columns) : 0;
    const int64_t end = above ? columns : std::clamp<int64_t>(on_diagonal, 0, columns);
    std::memset(data + (r * columns + first) * item, 0, static_cast<size_t>((end - first) * item));
  }
}

namespace {

struct DiagonalAttributes {
  int64_t k;
};

/*! \brief The extent of a matrix with a diagonal of so many elements. */
int64_t InferExtent(int64_t size, int64_t k) {
  const bool too_far = k == INT64_MIN || (size >= 0 && std::abs(k) > INT64_MAX - size);
  if (too_far) MXNET_THROW("ValueError") << "diagonal " << k << " is too far out";
  return AddExtent(size, std::abs(k));
}

void InferDiag(const InferCall& call, const DiagonalAttributes& attributes) {
  const MXNetTensorSpec& v = call.in[0];
  if (v.ndim == 2) {
    const int64_t length = DiagonalExtent(v.shape[0], v.shape[1], attributes.k);
    return SetSpec(v.dtype, ShapeView(&length, 1), call.out);
  }
  if (v.ndim != 1) {
    MXNET_THROW("ValueError") << "Input must be 1- or 2-d, got " << v.ndim << "-d.";
  }
  const int64_t extent = InferExtent(v.shape[0], attributes.k);
  const int64_t shape[] = {extent, extent};
  if (!IsSymbolic(extent)) return SetMade(v.dtype, ShapeView(shape, 2), call.out);
  SetSpec(v.dtype, ShapeView(shape, 2), call.out);
}

void RunDiag(const RunCall& call, const DiagonalAttributes& attributes) {
  if (call.in[0].ndim == 2) {
    CopyCast(DiagonalTensor(call.in[0], attributes.k).tensor, call.out[0]);
  } else {
    CopyCast(call.in[0], DiagonalTensor(call.out[0], attributes.k).tensor);
  }
}

void InferTriangle(const InferCall& call, const DiagonalAttributes&) {
  const MXNetTensorSpec& m = call.in[0];
  if (m.ndim == 0) {
    MXNET_THROW("ValueError") << "a triangle needs an array of at least one axis, got a 0-d array";
  }
  if (m.ndim > 1) return SetSpec(m.dtype, ShapeOf(m), call.out);
  // NumPy masks with a square matrix, to which one axis broadcasts.
  const int64_t shape[] = {m.shape[0], m.shape[0]};
  if (!IsSymbolic(m.shape[0])) return SetMade(m.dtype, ShapeView(shape, 2), call.out);
  SetSpec(m.dtype, ShapeView(shape, 2), call.out);
}

template <bool kLower>
void RunTriangle(const RunCall& call, const DiagonalAttributes& attributes) {
  CopyCast(call.in[0], call.out[0]);
  ClearTriangles(call.out[0], attributes.k, kLower);
}

MXNET_REGISTER_OPERATOR("_npi.diag", DiagonalAttributes)
    .describe("A diagonal of a 2-d array as a copy, or a 2-d array with a given diagonal.")
    .input("v", "Array of two axes, or of one.")
    .attribute("k", &DiagonalAttributes::k, 0, kDiagonalDoc)
    .properties(kMXNetOpZeroed)
    .infer(&InferDiag)
    .run(&RunDiag);

MXNET_REGISTER_OPERATOR("_npi.tril", DiagonalAttributes)
    .describe("A copy of an array with the elements above a diagonal set to zero.")
    .input("m", "Array whose last two axes are matrices.")
    .attribute("k", &DiagonalAttributes::k, 0, kDiagonalDoc)
    .release_gil(kReleaseBytes)
    .infer(&InferTriangle)
    .run(&RunTriangle<true>);

MXNET_REGISTER_OPERATOR("_npi.triu", DiagonalAttributes)
    .describe("A copy of an array with the elements below a diagonal set to zero.")
    .input("m", "Array whose last two axes are matrices.")
    .attribute("k", &DiagonalAttributes::k, 0, kDiagonalDoc)
    .release_gil(kReleaseBytes)
    .infer(&InferTriangle)
    .run(&RunTriangle<false>);

}  // namespace

NDArray MakeDiag(const DLTensor& v, int64_t k) {
  return MakeOf<&InferDiag, &RunDiag>(v, DiagonalAttributes{k}, true);
}

NDArray MakeTriangle(const DLTensor& m, int64_t k, bool lower) {
  const DiagonalAttributes attributes{k};
  return lower ? MakeOf<&InferTriangle, &RunTriangle<true>>(m, attributes)
               : MakeOf<&InferTriangle, &RunTriangle<false>>(m, attributes);
}

}  // namespace op
}  // namespace mxnet
