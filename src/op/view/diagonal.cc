/*!
 * \file diagonal.cc
 * \brief diagonal.
 */
#include "op/view/diagonal.h"

#include "op/creation/diagonal.h"
#include "op/schema/describe.h"
#include "op/tensor/axes.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief The axes of the matrices, counted from the front. */
struct MatrixAxes {
  MatrixAxes(int ndim, const DiagonalAttributes& attributes) {
    if (ndim < 2) {
      MXNET_THROW("ValueError") << "diagonals need an array of at least two axes, got " << ndim
                                << "-d";
    }
    rows = NormalizeAxis(attributes.axis1.value, ndim, "axis1: ");
    columns = NormalizeAxis(attributes.axis2.value, ndim, "axis2: ");
    if (rows == columns) MXNET_THROW("ValueError") << "axis1 and axis2 cannot be the same";
  }

  int rows;
  int columns;
};

void InferDiagonal(const InferCall& call, const DiagonalAttributes& attributes) {
  DimBuffer shape;
  DiagonalShape(ShapeOf(call.in[0]), attributes, &shape);
  SetSpec(call.in[0].dtype, shape.view(), call.out);
}

MXNetViewKind ViewDiagonal(const ViewCall& call, const DiagonalAttributes& attributes) {
  int64_t offset = 0;
  DiagonalLayout(call.in, attributes, call.out->strides, &offset);
  call.out->byte_offset = static_cast<uint64_t>(offset * ItemSize(call.in.dtype));
  return kMXNetViewMade;
}

MXNET_REGISTER_OPERATOR("_npi.diagonal", DiagonalAttributes)
    .describe("Diagonals of matrices, as a read-only view whose last axis runs along them.")
    .input("a", "Array of at least two axes.")
    .attribute("offset", &DiagonalAttributes::offset, 0, kDiagonalDoc)
    .attribute("axis1", &DiagonalAttributes::axis1, 0, "Axis of the rows.")
    .attribute("axis2", &DiagonalAttributes::axis2, 1, "Axis of the columns.")
    .properties(kMXNetOpReadOnly)
    .infer(&InferDiagonal)
    .view(&ViewDiagonal);

}  // namespace

void DiagonalShape(ShapeView shape, const DiagonalAttributes& attributes, DimBuffer* out) {
  const MatrixAxes axes(shape.ndim(), attributes);
  for (int d = 0; d < shape.ndim(); ++d) {
    if (d != axes.rows && d != axes.columns) out->push_back(shape[static_cast<size_t>(d)]);
  }
  out->push_back(DiagonalExtent(shape[static_cast<size_t>(axes.rows)],
                                shape[static_cast<size_t>(axes.columns)], attributes.offset));
}

void DiagonalLayout(const DLTensor& array, const DiagonalAttributes& attributes, int64_t* strides,
                    int64_t* offset) {
  const MatrixAxes axes(array.ndim, attributes);
  const int64_t row_stride = array.strides[axes.rows];
  const int64_t column_stride = array.strides[axes.columns];
  for (int d = 0; d < array.ndim; ++d) {
    if (d != axes.rows && d != axes.columns) *strides++ = array.strides[d];
  }
  *strides = row_stride + column_stride;
  const int64_t k = attributes.offset;
  const bool has_elements =
      DiagonalLength(array.shape[axes.rows], array.shape[axes.columns], k) > 0 &&
      TensorSize(array) > 0;
  *offset = !has_elements ? 0 : k < 0 ? -k * row_stride : k * column_stride;
}

}  // namespace op
}  // namespace mxnet
