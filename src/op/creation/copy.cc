/*!
 * \file copy.cc
 * \brief Copies, and conversions to another element type.
 */
#include "op/creation/creation.h"
#include "op/schema/describe.h"
#include "op/tensor/axes.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {
namespace {

void InferCopy(const InferCall& call, const NoAttributes&) {
  SetSpec(call.in[0].dtype, ShapeOf(call.in[0]), call.out);
}

void RunCopy(const RunCall& call, const NoAttributes&) { CopyCast(call.in[0], call.out[0]); }

struct AsTypeAttributes {
  DLDataType dtype;
  bool copy;
};

void InferAsType(const InferCall& call, const AsTypeAttributes& attributes) {
  const ShapeView shape = ShapeOf(call.in[0]);
  if (IsKnown(shape)) return SetMade(attributes.dtype, shape, call.out);
  CheckedIndexOfDType(attributes.dtype);
  SetSpec(attributes.dtype, shape, call.out);
}

void RunAsType(const RunCall& call, const AsTypeAttributes&) { CopyCast(call.in[0], call.out[0]); }

MXNetViewKind ShareAsType(const ViewCall& call, const AsTypeAttributes& attributes) {
  return !attributes.copy && call.in.dtype == call.out->dtype ? kMXNetViewInput : kMXNetViewNone;
}

MXNET_REGISTER_OPERATOR("_npi.copy", NoAttributes)
    .describe("Return a row-major copy of an array.")
    .input("a", kArrayDoc)
    .frontend("order", "str", "C", kOrderDoc)
    .release_gil(kReleaseBytes)
    .infer(&InferCopy)
    .run(&RunCopy);

MXNET_REGISTER_OPERATOR("_npi.astype", AsTypeAttributes)
    .describe("Convert an array to another element type.")
    .input("a", kArrayDoc)
    .attribute("dtype", &AsTypeAttributes::dtype, "Element type of the result.")
    .attribute("copy", &AsTypeAttributes::copy, true,
               "If False, an array of that type already is shared.")
    .release_gil(kReleaseBytes)
    .infer(&InferAsType)
    .view(&ShareAsType)
    .run(&RunAsType);

}  // namespace
}  // namespace op
}  // namespace mxnet
