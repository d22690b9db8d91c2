/*!
 * \file np_diag_op.cc
 * \brief Diagonals and triangles of matrices: diag, tri, tril, triu.
 */
#include <mxnet/runtime/registry.h>

#include <algorithm>

#include "api/common/arguments.h"
#include "api/common/cast.h"
#include "api/common/describe.h"
#include "api/operator/numpy/np_init_op.h"

namespace mxnet {
namespace op {
namespace {

constexpr char kDiagonalDoc[] =
    "Which diagonal: 0 the main one, positive above, negative below it.";

/*! \brief The first element and the length of a diagonal of a rows x columns matrix. */
struct Diagonal {
  Diagonal(int64_t rows, int64_t columns, int64_t k) {
    // Compared before they are subtracted, so that no k is too far out to be represented.
    if (k >= columns || k <= -rows) return;
    row = std::max<int64_t>(0, -k);
    column = std::max<int64_t>(0, k);
    length = std::min(rows - row, columns - column);
  }

  int64_t row{0};
  int64_t column{0};
  int64_t length{0};
};

/*! \brief A view of a diagonal of a matrix. */
NDArray DiagonalOf(const NDArray& matrix, int64_t k) {
  const Diagonal diagonal(matrix->shape[0], matrix->shape[1], k);
  const int64_t stride = matrix->strides[0] + matrix->strides[1];
  const int64_t offset = diagonal.row * matrix->strides[0] + diagonal.column * matrix->strides[1];
  char* data = matrix.data_as<char>() + offset * ItemSize(matrix.dtype());
  return matrix.View(data, ShapeView(&diagonal.length, 1), ShapeView(&stride, 1), matrix.dtype());
}

NDArray Diag(const NDArray& array, int64_t k) {
  if (array.ndim() == 2) return Contiguous(DiagonalOf(array, k).tensor());
  if (array.ndim() != 1) {
    MXNET_THROW("ValueError") << "Input must be 1- or 2-d, got " << array.ndim() << "-d.";
  }
  int64_t extent;
  const int64_t size = array->shape[0];
  if (k == INT64_MIN || __builtin_add_overflow(size, k < 0 ? -k : k, &extent)) {
    MXNET_THROW("ValueError") << "diagonal " << k << " is too far out";
  }
  const int64_t shape[] = {extent, extent};
  NDArray matrix = NDArray::Zeros(ShapeView(shape, 2), array.dtype(), array.ctx());
  CopyCast(array.tensor(), DiagonalOf(matrix, k).tensor());
  return matrix;
}

/*! \brief Clears the elements of row-major matrices above diagonal k, or below it. */
void ClearTriangles(const NDArray& array, int64_t k, bool above) {
  const int64_t rows = array->shape[array.ndim() - 2];
  const int64_t columns = array->shape[array.ndim() - 1];
  if (array.size() == 0) return;
  const int64_t item = ItemSize(array.dtype());
  k = std::clamp(k, -rows - 1, columns + 1);
  const int64_t all_rows = array.size() / columns;
  for (int64_t r = 0; r < all_rows; ++r) {
    const int64_t on_diagonal = r % rows + k;
    const int64_t first = above ? std::clamp<int64_t>(on_diagonal + 1, 0, columns) : 0;
    const int64_t end = above ? columns : std::clamp<int64_t>(on_diagonal, 0, columns);
    std::memset(array.data_as<char>() + (r * columns + first) * item, 0,
                static_cast<size_t>((end - first) * item));
  }
}

NDArray Triangle(const NDArray& array, int64_t k, bool lower) {
  NDArray copy;
  if (array.ndim() == 1) {
    // NumPy masks with a square matrix, to which one axis broadcasts.
    const int64_t shape[] = {array->shape[0], array->shape[0]};
    copy = NDArray::Empty(ShapeView(shape, 2), array.dtype(), array.ctx());
    CopyCast(array.tensor(), copy.tensor());
  } else if (array.ndim() == 0) {
    MXNET_THROW("ValueError") << "a triangle needs an array of at least one axis, got a 0-d array";
  } else {
    copy = Contiguous(array.tensor());
  }
  ClearTriangles(copy, k, lower);
  return copy;
}

MXNET_REGISTER_API("_npi.diag")
    .describe("A diagonal of a 2-d array as a copy, or a 2-d array with a given diagonal.")
    .add_argument("v", kArrayType, "Array of two axes, or of one.")
    .add_argument("k", "int", 0, kDiagonalDoc)
    .returns(kNDArray)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      *ret = Diag(ToArray(args[0]), args[1].As<int64_t>());
    });

MXNET_REGISTER_API("_npi.tri")
    .describe("A 2-d array with ones at and below a diagonal and zeros elsewhere.")
    .add_argument("N", "int", "Number of rows.")
    .add_argument("M", "int | None", nullptr, "Number of columns; N if None.")
    .add_argument("k", "int", 0, kDiagonalDoc)
    .add_argument("dtype", kDTypeType, nullptr, kDTypeDoc)
    .add_argument("ctx", kContextType, nullptr, kContextDoc)
    .returns(kNDArray)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const int64_t rows = args[0].As<int64_t>();
      const int64_t shape[] = {rows, args[1].is_null() ? rows : args[1].As<int64_t>()};
      NDArray ones =
          Ones(ShapeView(shape, 2), DTypeOr(args[3], kFloat32), ContextOrCurrent(args[4]));
      ClearTriangles(ones, args[2].As<int64_t>(), true);
      *ret = ones;
    });

MXNET_REGISTER_API("_npi.tril")
    .describe("A copy of an array with the elements above a diagonal set to zero.")
    .add_argument("m", kArrayType, "Array whose last two axes are matrices.")
    .add_argument("k", "int", 0, kDiagonalDoc)
    .returns(kNDArray)
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      *ret = Triangle(ToArray(args[0]), args[1].As<int64_t>(), true);
    });

MXNET_REGISTER_API("_npi.triu")
    .describe("A copy of an array with the elements below a diagonal set to zero.")
    .add_argument("m", kArrayType, "Array whose last two axes are matrices.")
    .add_argument("k", "int", 0, kDiagonalDoc)
    .returns(kNDArray)
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      *ret = Triangle(ToArray(args[0]), args[1].As<int64_t>(), false);
    });

}  // namespace
}  // namespace op
}  // namespace mxnet
