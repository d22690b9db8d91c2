/*!
 * \file like.cc
 * \brief New arrays of the shape and type of a given one.
 */
#include "op/creation/creation.h"
#include "op/schema/describe.h"
#include "op/tensor/axes.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {
namespace {

constexpr char kPrototypeDoc[] = "The array whose shape and type are taken.";

struct LikeAttributes {
  std::optional<DLDataType> dtype;
};

void InferLike(const InferCall& call, const LikeAttributes& attributes) {
  const ShapeView shape = ShapeOf(call.in[0]);
  const DLDataType dtype = attributes.dtype.value_or(call.in[0].dtype);
  if (IsKnown(shape)) return SetMade(dtype, shape, call.out);
  CheckedIndexOfDType(dtype);
  SetSpec(dtype, shape, call.out);
}

void RunOnesLike(const RunCall& call, const LikeAttributes&) { FillOnes(call.out[0]); }

void InferFullLike(const InferCall& call, const LikeAttributes& attributes) {
  CheckBroadcastInto(ShapeOf(call.in[1]), ShapeOf(call.in[0]));
  InferLike(call, attributes);
}

void RunFullLike(const RunCall& call, const LikeAttributes&) { CopyCast(call.in[1], call.out[0]); }

MXNET_REGISTER_OPERATOR("_npi.zeros_like", LikeAttributes)
    .flags(kMXNetFuncFollowsInput)
    .describe("Return an array of zeros with the shape and type of a given array.")
    .input("a", kPrototypeDoc)
    .attribute("dtype", &LikeAttributes::dtype, nullptr, kLikeDTypeDoc)
    .frontend("order", "str", "C", kOrderDoc)
    .context(kLikeContextDoc)
    .properties(kMXNetOpZeros | kMXNetOpAnywhere)
    .infer(&InferLike);

MXNET_REGISTER_OPERATOR("_npi.ones_like", LikeAttributes)
    .flags(kMXNetFuncFollowsInput)
    .describe("Return an array of ones with the shape and type of a given array.")
    .input("a", kPrototypeDoc)
    .attribute("dtype", &LikeAttributes::dtype, nullptr, kLikeDTypeDoc)
    .frontend("order", "str", "C", kOrderDoc)
    .context(kLikeContextDoc)
    .infer(&InferLike)
    .run(&RunOnesLike);

MXNET_REGISTER_OPERATOR("_npi.empty_like", LikeAttributes)
    .flags(kMXNetFuncFollowsInput)
    .describe("Return an uninitialized array with the shape and type of a given array.")
    .input("prototype", kPrototypeDoc)
    .attribute("dtype", &LikeAttributes::dtype, nullptr, kLikeDTypeDoc)
    .frontend("order", "str", "C", kOrderDoc)
    .context(kLikeContextDoc)
    .properties(kMXNetOpAnywhere)
    .infer(&InferLike);

MXNET_REGISTER_OPERATOR("_npi.full_like", LikeAttributes)
    .flags(kMXNetFuncFollowsInput)
    .describe("Return an array filled with fill_value, with the shape and type of a given array.")
    .input("a", kPrototypeDoc)
    .input("fill_value", "A number, or an array that broadcasts to the shape.")
    .attribute("dtype", &LikeAttributes::dtype, nullptr, kLikeDTypeDoc)
    .frontend("order", "str", "C", kOrderDoc)
    .context(kLikeContextDoc)
    .types(kMXNetTypesStored)
    .infer(&InferFullLike)
    .run(&RunFullLike);

}  // namespace
}  // namespace op
}  // namespace mxnet
