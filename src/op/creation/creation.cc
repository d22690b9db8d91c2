/*!
 * \file creation.cc
 * \brief New arrays of a given shape: zeros, ones, empty, full.
 */
#include "op/creation/creation.h"

#include "op/schema/describe.h"
#include "op/tensor/axes.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {
namespace {

struct MakeAttributes {
  Extents shape;
  std::optional<DLDataType> dtype;
};

void InferMake(const InferCall& call, const MakeAttributes& attributes) {
  SetMade(attributes.dtype.value_or(kFloat32), attributes.shape.view(), call.out);
}

void RunOnes(const RunCall& call, const MakeAttributes&) { FillOnes(call.out[0]); }

void InferFull(const InferCall& call, const MakeAttributes& attributes) {
  const MXNetTensorSpec& value = call.in[0];
  SetMade(attributes.dtype.value_or(value.dtype), attributes.shape.view(), call.out);
  CheckBroadcastInto(ShapeOf(value), attributes.shape.view());
}

void RunFull(const RunCall& call, const MakeAttributes&) { CopyCast(call.in[0], call.out[0]); }

MXNET_REGISTER_OPERATOR("_npi.zeros", MakeAttributes)
    .describe("Return a new array of given shape and type, filled with zeros.")
    .attribute("shape", &MakeAttributes::shape, kShapeDoc)
    .attribute("dtype", &MakeAttributes::dtype, nullptr, kDTypeDoc)
    .frontend("order", "str", "C", kOrderDoc)
    .context()
    .properties(kMXNetOpZeros | kMXNetOpAnywhere)
    .infer(&InferMake);

MXNET_REGISTER_OPERATOR("_npi.ones", MakeAttributes)
    .describe("Return a new array of given shape and type, filled with ones.")
    .attribute("shape", &MakeAttributes::shape, kShapeDoc)
    .attribute("dtype", &MakeAttributes::dtype, nullptr, kDTypeDoc)
    .frontend("order", "str", "C", kOrderDoc)
    .context()
    .infer(&InferMake)
    .run(&RunOnes);

MXNET_REGISTER_OPERATOR("_npi.empty", MakeAttributes)
    .describe("Return a new array of given shape and type, without initializing its elements.")
    .attribute("shape", &MakeAttributes::shape, kShapeDoc)
    .attribute("dtype", &MakeAttributes::dtype, nullptr, kDTypeDoc)
    .frontend("order", "str", "C", kOrderDoc)
    .context()
    .properties(kMXNetOpAnywhere)
    .infer(&InferMake);

MXNET_REGISTER_OPERATOR("_npi.full", MakeAttributes)
    .describe("Return a new array of given shape and type, filled with fill_value.")
    .attribute("shape", &MakeAttributes::shape, kShapeDoc)
    .input("fill_value", "A number, or an array that broadcasts to the shape.")
    .attribute("dtype", &MakeAttributes::dtype, nullptr,
               "Element type; if None that of an array, and of a Python number bool, int64, "
               "float32 or complex64.")
    .frontend("order", "str", "C", kOrderDoc)
    .context()
    .types(kMXNetTypesStored)
    .infer(&InferFull)
    .run(&RunFull);

}  // namespace
}  // namespace op
}  // namespace mxnet
