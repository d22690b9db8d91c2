/*!
 * \file trace.cc
 * \brief trace.
 */
#include "op/creation/diagonal.h"
#include "op/reduction/reduce.h"
#include "op/view/diagonal.h"

namespace mxnet {
namespace op {
namespace {

struct TraceAttributes : DiagonalAttributes {
  std::optional<DLDataType> dtype;
};

DLDataType TotalOf(DLDataType elements) { return kSumTable.results[CheckedIndexOfDType(elements)]; }

void InferTrace(const InferCall& call, const TraceAttributes& attributes) {
  DimBuffer shape;
  DiagonalShape(ShapeOf(call.in[0]), attributes, &shape);
  --shape.ndim;  // that of the diagonals themselves
  const DLDataType total = TotalOf(attributes.dtype.value_or(call.in[0].dtype));
  SetSpec(attributes.dtype.value_or(total), shape.view(), call.out);
}

void RunTrace(const RunCall& call, const TraceAttributes& attributes) {
  DLTensor array = call.in[0];
  DimBuffer own_strides;
  StridesOf(array, own_strides.data);
  array.strides = own_strides.data;
  DimBuffer shape;
  DimBuffer strides;
  int64_t offset = 0;
  DiagonalShape(ShapeOf(array), attributes, &shape);
  DiagonalLayout(array, attributes, strides.data, &offset);
  DLTensor diagonals = array;
  diagonals.ndim = shape.ndim;
  diagonals.shape = shape.data;
  diagonals.strides = strides.data;
  diagonals.byte_offset += static_cast<uint64_t>(offset * ItemSize(array.dtype));

  Axes last;
  last.push_back(-1);
  const DLTensor& out = call.out[0];
  const DLDataType dtype = attributes.dtype.value_or(array.dtype);
  const ConvertedElements elements(diagonals, dtype);
  Reduction r(diagonals, last);
  r.set_reader(elements.reader());
  if (TotalOf(dtype) == out.dtype) return ReduceInto(kSumTable, r, dtype, out);
  CopyCast(Reduce(kSumTable, r, dtype, TensorShape(out)).tensor(), out);
}

MXNET_REGISTER_OPERATOR("_npi.trace", TraceAttributes)
    .describe("Sums of the diagonals of matrices.")
    .input("a", "Array of at least two axes.")
    .attribute("offset", &TraceAttributes::offset, 0, kDiagonalDoc)
    .attribute("axis1", &TraceAttributes::axis1, 0, "Axis of the rows.")
    .attribute("axis2", &TraceAttributes::axis2, 1, "Axis of the columns.")
    .attribute("dtype", &TraceAttributes::dtype, nullptr, "Type of the result, as of sum.")
    .out()
    .types(kMXNetTypesNumbersByDType)
    .properties(kMXNetOpTypeOfOut)
    .infer(&InferTrace)
    .run(&RunTrace);

}  // namespace
}  // namespace op
}  // namespace mxnet
