/*!
 * \file matmul.cc
 * \brief matmul: matrix products over the last two axes, the others broadcast.
 */
#include <mxnet/op/operator.h>

#include <cstring>
#include <utility>

#include "op/kernels/product/gemm.h"
#include "op/schema/describe.h"
#include "op/tensor/strided.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief The extents of an operand as a stack of matrices. */
struct StackShape {
  /*! \brief A tensor of one axis is a row on the left side and a column on the right. */
  StackShape(ShapeView shape, bool is_left) {
    const auto ndim = shape.size();
    is_vector = ndim == 1;
    rows = is_vector ? (is_left ? 1 : shape[0]) : shape[ndim - 2];
    columns = is_vector ? (is_left ? shape[0] : 1) : shape[ndim - 1];
    batch = is_vector ? ShapeView() : ShapeView(shape.data(), ndim - 2);
  }

  bool is_vector;
  int64_t rows, columns;
  ShapeView batch;
};

/*! \brief An operand as a stack of matrices in memory. */
struct Stack {
  Stack(const DLTensor& tensor, bool is_left) : data(static_cast<const char*>(TensorData(tensor))) {
    const StackShape of(TensorShape(tensor), is_left);
    int64_t strides[kMaxNdim];
    StridesOf(tensor, strides);
    const int ndim = tensor.ndim;
    rows = of.rows;
    columns = of.columns;
    row_stride = of.is_vector ? (is_left ? columns : strides[0]) : strides[ndim - 2];
    column_stride = of.is_vector ? (is_left ? strides[0] : 1) : strides[ndim - 1];
    for (int d = 0; d < ndim - 2; ++d) {
      shape.push_back(tensor.shape[d]);
      steps[d] = tensor.shape[d] == 1 ? 0 : strides[d];
    }
  }

  /*! \brief Makes one matrix of many whose rows follow each other evenly. */
  void MergeRows() noexcept {
    while (shape.ndim > 0 && (steps[shape.ndim - 1] == rows * row_stride || rows == 1)) {
      if (rows == 1) row_stride = steps[shape.ndim - 1];
      rows *= shape[--shape.ndim];
    }
  }

  const char* data;
  int64_t rows, columns;
  int64_t row_stride, column_stride;
  DimBuffer shape;
  int64_t steps[kMaxNdim];
};

void CheckHasAxes(const MXNetTensorSpec& operand, int index) {
  if (operand.ndim > 0) return;
  MXNET_THROW("ValueError") << "Input operand " << index << " does not have enough "
                            << "dimensions (has 0, gufunc core with signature "
                            << "(n?,k),(k,m?)->(n?,m?) requires 1)";
}

void CheckCore(const StackShape& a, const StackShape& b) {
  if (!AreDifferent(a.columns, b.rows)) return;
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

void InferMatMul(const InferCall& call, const NoAttributes&) {
  CheckHasAxes(call.in[0], 0);
  CheckHasAxes(call.in[1], 1);
  const StackShape left(ShapeOf(call.in[0]), true);
  const StackShape right(ShapeOf(call.in[1]), false);
  CheckCore(left, right);
  DimBuffer shape;
  const ShapeView shapes[] = {left.batch, right.batch};
  BroadcastShapes(shapes, 2, &shape);
  if (!left.is_vector) shape.push_back(left.rows);
  if (!right.is_vector) shape.push_back(right.columns);
  SetSpec(call.in[0].dtype, shape.view(), call.out);
}

int64_t MatMulOperations(const InferCall& call, const NoAttributes& attributes) {
  DimBuffer shape;
  MXNetTensorSpec out{{}, {}, 0, kMXNetWeakNone, shape.data};
  InferMatMul({call.in, call.num_in, &out, 1, call.data}, attributes);
  const int64_t summed = call.in[0].shape[call.in[0].ndim - 1];
  return MultiplyExtent(2, MultiplyExtent(SizeOf(ShapeOf(out)), summed));
}

void RunMatMul(const RunCall& call, const NoAttributes&) {
  const DLTensor& out = call.out[0];
  auto* data = static_cast<char*>(TensorData(out));
  const int64_t size = TensorSize(out);
  if (size == 0) return;
  Stack left(call.in[0], true);
  const Stack right(call.in[1], false);
  if (left.columns == 0) {
    std::memset(data, 0, static_cast<size_t>(size * ItemSize(out.dtype)));
    return;
  }
  DimBuffer batch;
  const ShapeView shapes[] = {left.shape.view(), right.shape.view()};
  BroadcastShapes(shapes, 2, &batch);
  if (right.shape.ndim == 0 && left.shape.ndim > 0) {
    left.MergeRows();
    batch.ndim = left.shape.ndim;
  }
  MultiplyAll(out.dtype, batch, left, right, data);
}

MXNET_REGISTER_OPERATOR("_npi.matmul", NoAttributes)
    .describe(
        "Matrix product of two arrays.\n\n"
        "Over the last two axes; the axes before them broadcast. An array of one axis is a row on "
        "the left side and a column on the right, and that axis is not in the result.")
    .input("x1", "First array, of at least one axis.")
    .input("x2", "Second array, of at least one axis.")
    .out()
    .types(kMXNetTypesCommon)
    .release_gil(kReleaseBytes)
    .infer(&InferMatMul)
    .operations(&MatMulOperations)
    .run(&RunMatMul);

}  // namespace
}  // namespace op
}  // namespace mxnet
