/*!
 * \file np_matmul_op.cc
 * \brief matmul: matrix products over the last two axes, the others broadcast.
 */
#include "api/common/arguments.h"
#include "api/common/describe.h"
#include "api/common/gemm.h"
#include "api/operator/numpy/np_elemwise.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief An operand as a stack of matrices. */
struct Stack {
  /*! \brief A tensor of one axis is a row on the left side and a column on the right. */
  Stack(const DLTensor& tensor, bool is_left) : data(static_cast<const char*>(TensorData(tensor))) {
    int64_t strides[kMaxNdim];
    StridesOf(tensor, strides);
    const int ndim = tensor.ndim;
    is_vector = ndim == 1;
    rows = is_vector ? (is_left ? 1 : tensor.shape[0]) : tensor.shape[ndim - 2];
    columns = is_vector ? (is_left ? tensor.shape[0] : 1) : tensor.shape[ndim - 1];
    row_stride = is_vector ? (is_left ? columns : strides[0]) : strides[ndim - 2];
    column_stride = is_vector ? (is_left ? strides[0] : 1) : strides[ndim - 1];
    for (int d = 0; d < ndim - 2; ++d) {
      shape.push_back(tensor.shape[d]);
      steps[d] = tensor.shape[d] == 1 ? 0 : strides[d];
    }
  }

  /*! \brief Makes one matrix of many whose rows follow each other evenly. */
  void FoldRows() noexcept {
    while (shape.ndim > 0 && (steps[shape.ndim - 1] == rows * row_stride || rows == 1)) {
      if (rows == 1) row_stride = steps[shape.ndim - 1];
      rows *= shape[--shape.ndim];
    }
  }

  const char* data;
  bool is_vector;
  int64_t rows, columns;
  int64_t row_stride, column_stride;
  DimBuffer shape;
  int64_t steps[kMaxNdim];
};

void CheckHasAxes(const Operand& operand, int index) {
  if (operand.shape().ndim() > 0) return;
  MXNET_THROW("ValueError") << "Input operand " << index << " does not have enough "
                            << "dimensions (has 0, gufunc core with signature "
                            << "(n?,k),(k,m?)->(n?,m?) requires 1)";
}

void CheckCore(const Stack& a, const Stack& b) {
  if (a.columns == b.rows) return;
  MXNET_THROW("ValueError") << "Input operand 1 has a mismatch in its core dimension 0, "
                            << "with gufunc signature (n?,k),(k,m?)->(n?,m?) (size " << b.rows
                            << " is different from " << a.columns << ")";
}

/*! \brief Multiplies all pairs of matrices, in the order of the result. */
void MultiplyAll(DLDataType dtype, const DimBuffer& batch, const Stack& a, const Stack& b,
                 char* out) {
  const int64_t item = ItemSize(dtype);
  const int64_t out_step = a.rows * b.columns * item;
  const int a_offset = batch.ndim - a.shape.ndim;
  const int b_offset = batch.ndim - b.shape.ndim;
  int64_t index[kMaxNdim] = {};
  const char* a_data = a.data;
  const char* b_data = b.data;
  while (true) {
    Gemm(dtype, a.rows, b.columns, a.columns, Matrix{a_data, a.row_stride, a.column_stride},
         Matrix{b_data, b.row_stride, b.column_stride}, out);
    out += out_step;
    int d = batch.ndim - 1;
    for (; d >= 0; --d) {
      const int64_t a_step = d >= a_offset ? a.steps[d - a_offset] * item : 0;
      const int64_t b_step = d >= b_offset ? b.steps[d - b_offset] * item : 0;
      a_data += a_step;
      b_data += b_step;
      if (++index[d] < batch[d]) break;
      a_data -= a_step * batch[d];
      b_data -= b_step * batch[d];
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

NDArray MatMul(Operand* a, Operand* b) {
  CheckHasAxes(*a, 0);
  CheckHasAxes(*b, 1);
  const DLDataType dtype = ResultType(*a, *b);
  Stack left(a->TensorAs(dtype), true);
  Stack right(b->TensorAs(dtype), false);
  CheckCore(left, right);
  DimBuffer batch;
  const ShapeView shapes[] = {left.shape.view(), right.shape.view()};
  BroadcastShapes(shapes, 2, &batch);
  DimBuffer shape(batch.view());
  if (!left.is_vector) shape.push_back(left.rows);
  if (!right.is_vector) shape.push_back(right.columns);
  if (left.columns == 0) return NDArray::Zeros(shape.view(), dtype, ContextOf(*a, *b));
  NDArray out = NDArray::Empty(shape.view(), dtype, ContextOf(*a, *b));
  if (out.size() == 0) return out;
  if (right.shape.ndim == 0 && left.shape.ndim > 0) {
    left.FoldRows();
    batch.ndim = left.shape.ndim;
  }
  MultiplyAll(dtype, batch, left, right, out.data_as<char>());
  return out;
}

MXNET_REGISTER_OP("_npi.matmul")
    .describe(
        "Matrix product of two arrays.\n\n"
        "Over the last two axes; the axes before them broadcast. An array of one axis is a row on "
        "the left side and a column on the right, and that axis is not in the result.")
    .add_argument("x1", kArrayType, "First array, of at least one axis.")
    .add_argument("x2", kArrayType, "Second array, of at least one axis.")
    .add_argument("out", kOutType, nullptr, kOutDoc)
    .written()
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      Operand a(args[0]);
      Operand b(args[1]);
      ReturnInto(MatMul(&a, &b), args[2], ret);
    });

}  // namespace
}  // namespace op
}  // namespace mxnet
