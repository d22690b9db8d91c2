/*!
 * \file eye.cc
 * \brief Matrices with ones on a diagonal, or below it: eye, identity, tri.
 */
#include <algorithm>
#include <cstring>

#include "op/argument/arguments.h"
#include "op/creation/creation.h"
#include "op/creation/diagonal.h"
#include "op/schema/describe.h"
#include "op/tensor/strided.h"

namespace mxnet {
namespace op {
namespace {

struct EyeAttributes {
  int64_t rows;
  std::optional<int64_t> columns;
  int64_t diagonal{0};
  std::optional<DLDataType> dtype;
};

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

/*! \brief Arguments N, M, k, dtype and ctx of eye and tri. */
template <auto kRun, bool kZeroed>
bool QuickEye(const void*, const MXNetArgs& args, MXNetRetValue* ret) {
  const EyeAttributes attributes{
      ReadAttribute<int64_t>(args, 0), ReadAttribute<std::optional<int64_t>>(args, 1),
      ReadAttribute<int64_t>(args, 2), ReadAttribute<std::optional<DLDataType>>(args, 3)};
  *ret = Make<kRun, kZeroed>(attributes, ContextOrCurrent(args[4]));
  return true;
}

/*! \brief Arguments n, dtype and ctx of identity. */
bool QuickIdentity(const void*, const MXNetArgs& args, MXNetRetValue* ret) {
  const EyeAttributes attributes{ReadAttribute<int64_t>(args, 0), std::nullopt, 0,
                                 ReadAttribute<std::optional<DLDataType>>(args, 1)};
  *ret = Make<&RunEye, true>(attributes, ContextOrCurrent(args[2]));
  return true;
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
    .run(&RunEye)
    .quick(&QuickEye<&RunEye, true>);

MXNET_REGISTER_OPERATOR("_npi.identity", EyeAttributes)
    .describe("Return the identity matrix, a square array with ones on the main diagonal.")
    .attribute("n", &EyeAttributes::rows, "Number of rows and of columns.")
    .attribute("dtype", &EyeAttributes::dtype, nullptr, kDTypeDoc)
    .context()
    .properties(kMXNetOpZeroed)
    .infer(&InferEye)
    .run(&RunEye)
    .quick(&QuickIdentity);

MXNET_REGISTER_OPERATOR("_npi.tri", EyeAttributes)
    .describe("A 2-d array with ones at and below a diagonal and zeros elsewhere.")
    .attribute("N", &EyeAttributes::rows, "Number of rows.")
    .attribute("M", &EyeAttributes::columns, nullptr, "Number of columns; N if None.")
    .attribute("k", &EyeAttributes::diagonal, 0, kDiagonalDoc)
    .attribute("dtype", &EyeAttributes::dtype, nullptr, kDTypeDoc)
    .context()
    .infer(&InferEye)
    .run(&RunTri)
    .quick(&QuickEye<&RunTri, false>);

}  // namespace
}  // namespace op
}  // namespace mxnet
