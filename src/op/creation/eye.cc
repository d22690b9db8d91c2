/*!
 * \file eye.cc
 * \brief Matrices with ones on a diagonal, or below it: eye, identity, tri.
 */
#include <cstring>

#include "op/creation/creation.h"
#include "op/creation/diagonal.h"
#include "op/creation/matrices.h"
#include "op/schema/describe.h"
#include "op/tensor/strided.h"

namespace mxnet {
namespace op {
namespace {

void InferEye(const InferCall& call, const EyeAttributes& attributes) {
  const int64_t shape[] = {attributes.rows, attributes.columns.value_or(attributes.rows)};
  SetMade(attributes.dtype.value_or(kFloat32), ShapeView(shape, 2), call.out);
}

void RunEye(const RunCall& call, const EyeAttributes& attributes) {
  const DLTensor& out = call.out[0];
  const int64_t columns = out.shape[1];
  const int64_t k = attributes.diagonal;
  const int64_t length = DiagonalLength(out.shape[0], columns, k);
  if (length == 0) return;
  const ElementBuffer& one = OneOf(out.dtype);
  const int64_t item = ItemSize(out.dtype);
  char* at = static_cast<char*>(TensorData(out)) + (k < 0 ? -k * columns : k) * item;
  for (int64_t i = 0; i < length; ++i, at += (columns + 1) * item) {
    std::memcpy(at, &one, static_cast<size_t>(item));
  }
}

void RunTri(const RunCall& call, const EyeAttributes& attributes) {
  FillOnes(call.out[0]);
  ClearTriangles(call.out[0], attributes.diagonal, true);
}

template <auto kRun, bool kZeroed>
NDArray Make(const EyeAttributes& attributes, Context ctx) {
  const int64_t shape[] = {attributes.rows, attributes.columns.value_or(attributes.rows)};
  const DLDataType dtype = attributes.dtype ? *attributes.dtype : kFloat32;
  if (attributes.dtype) CheckedIndexOfDType(dtype);
  NDArray made = kZeroed ? NDArray::Zeros(ShapeView(shape, 2), dtype, ctx)
                         : NDArray::Empty(ShapeView(shape, 2), dtype, ctx);
  DLTensor out = made.tensor();
  kRun({nullptr, 0, &out, 1, nullptr, nullptr}, attributes);
  return made;
}

MXNET_REGISTER_OPERATOR("_npi.eye", EyeAttributes)
    .describe("Return a 2-d array with ones on a diagonal and zeros elsewhere.")
    .attribute("N", &EyeAttributes::rows, "Number of rows.")
    .attribute("M", &EyeAttributes::columns, nullptr, "Number of columns; N if None.")
    .attribute("k", &EyeAttributes::diagonal, 0,
               "Which diagonal: 0 the main one, positive above, negative below.")
    .attribute("dtype", &EyeAttributes::dtype, nullptr, kDTypeDoc)
    .frontend("order", "str", "C", kOrderDoc)
    .context()
    .properties(kMXNetOpZeroed)
    .infer(&InferEye)
    .run(&RunEye);

MXNET_REGISTER_OPERATOR("_npi.identity", EyeAttributes)
    .describe("Return the identity matrix, a square array with ones on the main diagonal.")
    .attribute("n", &EyeAttributes::rows, "Number of rows and of columns.")
    .attribute("dtype", &EyeAttributes::dtype, nullptr, kDTypeDoc)
    .context()
    .properties(kMXNetOpZeroed)
    .infer(&InferEye)
    .run(&RunEye);

MXNET_REGISTER_OPERATOR("_npi.tri", EyeAttributes)
    .describe("A 2-d array with ones at and below a diagonal and zeros elsewhere.")
    .attribute("N", &EyeAttributes::rows, "Number of rows.")
    .attribute("M", &EyeAttributes::columns, nullptr, "Number of columns; N if None.")
    .attribute("k", &EyeAttributes::diagonal, 0, kDiagonalDoc)
    .attribute("dtype", &EyeAttributes::dtype, nullptr, kDTypeDoc)
    .context()
    .infer(&InferEye)
    .run(&RunTri);

}  // namespace

NDArray MakeEye(const EyeAttributes& attributes, Context ctx) {
  return Make<&RunEye, true>(attributes, ctx);
}

NDArray MakeTri(const EyeAttributes& attributes, Context ctx) {
  return Make<&RunTri, false>(attributes, ctx);
}

}  // namespace op
}  // namespace mxnet
