/*!
 * \file np_diag_op.cc
 * \brief Diagonals and triangles of matrices: diag, diagonal, trace, tri, tril, triu.
 */
#include <algorithm>

#include "api/common/arguments.h"
#include "api/common/cast.h"
#include "api/common/describe.h"
#include "api/common/views.h"
#include "api/operator/numpy/np_elemwise.h"
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

/*! \brief A view of the diagonals over two axes, which one axis at the end stands for. */
NDArray DiagonalOf(const NDArray& array, int64_t k, int row_axis = 0, int column_axis = 1) {
  const Diagonal diagonal(array->shape[row_axis], array->shape[column_axis], k);
  const int64_t row_stride = array->strides[row_axis];
  const int64_t column_stride = array->strides[column_axis];
  DimBuffer shape;
  DimBuffer strides;
  for (int d = 0; d < array.ndim(); ++d) {
    if (d == row_axis || d == column_axis) continue;
    shape.push_back(array->shape[d]);
    strides.push_back(array->strides[d]);
  }
  shape.push_back(diagonal.length);
  strides.push_back(row_stride + column_stride);
  char* data = array.data_as<char>();
  if (data != nullptr) {
    const int64_t offset = diagonal.row * row_stride + diagonal.column * column_stride;
    data += offset * ItemSize(array.dtype());
  }
  return array.View(data, shape.view(), strides.view(), array.dtype());
}

/*! \brief The diagonals by the arguments a, offset, axis1, axis2. */
NDArray DiagonalByArguments(const MXNetArgs& args) {
  const NDArray array = ToArray(args[0]);
  if (array.ndim() < 2) {
    MXNET_THROW("ValueError") << "diagonals need an array of at least two axes, got "
                              << array.ndim() << "-d";
  }
  const int row_axis = NormalizeAxis(ToInt(args[2]), array.ndim(), "axis1: ");
  const int column_axis = NormalizeAxis(ToInt(args[3]), array.ndim(), "axis2: ");
  if (row_axis == column_axis) MXNET_THROW("ValueError") << "axis1 and axis2 cannot be the same";
  return DiagonalOf(array, ToInt(args[1]), row_axis, column_axis);
}

/*! \brief sum(array, -1, dtype, out). */
Any SumOfLast(const NDArray& array, const MXNetArgValue& dtype, const MXNetArgValue& out) {
  static const PackedFunc sum = PackedFunc::GetGlobal("_npi.sum");
  MXNetValue self;
  MXNetValue last;
  self.v_handle = array.get();
  last.v_int64 = -1;
  const MXNetValue values[] = {self, last, dtype.value(), out.value()};
  const int type_codes[] = {kMXNetNDArrayHandle, kMXNetInt, dtype.type_code(), out.type_code()};
  return sum.CallPacked(values, type_codes, 4).any();
}

NDArray Diag(const NDArray& array, int64_t k) {
  if (array.ndim() == 2) {
    const NDArray diagonal = DiagonalOf(array, k);
    AnnounceResult(diagonal.shape(), array.dtype(), array.ctx());
    return Contiguous(diagonal.tensor());
  }
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
    AnnounceResult(array.shape(), array.dtype(), array.ctx());
    copy = Contiguous(array.tensor());
  }
  ClearTriangles(copy, k, lower);
  return copy;
}

MXNET_REGISTER_OP("_npi.diag")
    .describe("A diagonal of a 2-d array as a copy, or a 2-d array with a given diagonal.")
    .add_argument("v", kArrayType, "Array of two axes, or of one.")
    .add_argument("k", "int", 0, kDiagonalDoc)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      *ret = Diag(ToArray(args[0]), ToInt(args[1]));
    });

MXNET_REGISTER_OP("_npi.diagonal")
    .flags(kMXNetFuncView)
    .describe("Diagonals of matrices, as a read-only view whose last axis runs along them.")
    .add_argument("a", kArrayType, "Array of at least two axes.")
    .add_argument("offset", "int", 0, kDiagonalDoc)
    .add_argument("axis1", kAxisType, 0, "Axis of the rows.")
    .add_argument("axis2", kAxisType, 1, "Axis of the columns.")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      *ret = AsReadOnly(DiagonalByArguments(args));
    });

MXNET_REGISTER_OP("_npi.trace")
    .describe("Sums of the diagonals of matrices.")
    .add_argument("a", kArrayType, "Array of at least two axes.")
    .add_argument("offset", "int", 0, kDiagonalDoc)
    .add_argument("axis1", kAxisType, 0, "Axis of the rows.")
    .add_argument("axis2", kAxisType, 1, "Axis of the columns.")
    .add_argument("dtype", kDTypeType, nullptr, "Type of the result, as of sum.")
    .add_argument("out", kOutType, nullptr, kOutDoc)
    .written()
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      *ret = SumOfLast(DiagonalByArguments(args), args[4], args[5]);
    });

MXNET_REGISTER_OP("_npi.tri")
    .describe("A 2-d array with ones at and below a diagonal and zeros elsewhere.")
    .add_argument("N", "int", "Number of rows.")
    .add_argument("M", "int | None", nullptr, "Number of columns; N if None.")
    .add_argument("k", "int", 0, kDiagonalDoc)
    .add_argument("dtype", kDTypeType, nullptr, kDTypeDoc)
    .add_argument("ctx", kContextType, nullptr, kContextDoc)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const int64_t rows = ToInt(args[0]);
      const int64_t shape[] = {rows, ToIntOr(args[1], rows)};
      NDArray ones =
          Ones(ShapeView(shape, 2), DTypeOr(args[3], kFloat32), ContextOrCurrent(args[4]));
      ClearTriangles(ones, ToInt(args[2]), true);
      *ret = ones;
    });

MXNET_REGISTER_OP("_npi.tril")
    .describe("A copy of an array with the elements above a diagonal set to zero.")
    .add_argument("m", kArrayType, "Array whose last two axes are matrices.")
    .add_argument("k", "int", 0, kDiagonalDoc)
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      *ret = Triangle(ToArray(args[0]), ToInt(args[1]), true);
    });

MXNET_REGISTER_OP("_npi.triu")
    .describe("A copy of an array with the elements below a diagonal set to zero.")
    .add_argument("m", kArrayType, "Array whose last two axes are matrices.")
    .add_argument("k", "int", 0, kDiagonalDoc)
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      *ret = Triangle(ToArray(args[0]), ToInt(args[1]), false);
    });

}  // namespace
}  // namespace op
}  // namespace mxnet
