/*!
 * \file like.cc
 * \brief New arrays of the shape and type of a given one.
 */
#include "op/argument/arguments.h"
#include "op/creation/creation.h"
#include "op/schema/describe.h"
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

/*! \brief What a call makes that begins with an array of any device, as most do. */
struct ArrayLike {
  /*! \brief False where it begins with something else. */
  bool Read(const MXNetArgs& args, int dtype_index) {
    const DLTensor* tensor = nullptr;
    if (args[0].TryAs(&tensor) != Match::kOk) return false;
    shape = TensorShape(*tensor);
    dtype = DTypeOr(args[dtype_index], tensor->dtype);
    CheckedIndexOfDType(dtype);
    const MXNetArgValue given = args[dtype_index + 1];
    ctx = given.is_null() ? Context(tensor->device) : given.As<Context>();
    return true;
  }

  ShapeView shape;
  DLDataType dtype;
  Context ctx;
};

enum class Fill { kZeros, kNothing, kOnes };

template <Fill kFill>
bool QuickLike(const void*, const MXNetArgs& args, MXNetRetValue* ret) {
  ArrayLike like;
  if (!like.Read(args, 1)) return false;
  NDArray made = kFill == Fill::kZeros ? NDArray::Zeros(like.shape, like.dtype, like.ctx)
                                       : NDArray::Empty(like.shape, like.dtype, like.ctx);
  if (kFill == Fill::kOnes) FillOnes(made.tensor());
  *ret = std::move(made);
  return true;
}

/*! \brief Full of a number, which is stored as an assignment stores it. */
bool QuickFullLike(const void*, const MXNetArgs& args, MXNetRetValue* ret) {
  ArrayLike like;
  if (!IsNumber(args.type_codes[1]) || !like.Read(args, 2)) return false;
  NDArray made = NDArray::Empty(like.shape, like.dtype, like.ctx);
  FillNumber(made.tensor(), args.values[1], args.type_codes[1]);
  *ret = std::move(made);
  return true;
}

MXNET_REGISTER_OPERATOR("_npi.zeros_like", LikeAttributes)
    .flags(kMXNetFuncFollowsInput)
    .describe("Return an array of zeros with the shape and type of a given array.")
    .input("a", kPrototypeDoc)
    .attribute("dtype", &LikeAttributes::dtype, nullptr, kLikeDTypeDoc)
    .frontend("order", "str", "C", kOrderDoc)
    .context(kLikeContextDoc)
    .properties(kMXNetOpZeros | kMXNetOpAnywhere)
    .infer(&InferLike)
    .quick(&QuickLike<Fill::kZeros>);

MXNET_REGISTER_OPERATOR("_npi.ones_like", LikeAttributes)
    .flags(kMXNetFuncFollowsInput)
    .describe("Return an array of ones with the shape and type of a given array.")
    .input("a", kPrototypeDoc)
    .attribute("dtype", &LikeAttributes::dtype, nullptr, kLikeDTypeDoc)
    .frontend("order", "str", "C", kOrderDoc)
    .context(kLikeContextDoc)
    .infer(&InferLike)
    .run(&RunOnesLike)
    .quick(&QuickLike<Fill::kOnes>);

MXNET_REGISTER_OPERATOR("_npi.empty_like", LikeAttributes)
    .flags(kMXNetFuncFollowsInput)
    .describe("Return an uninitialized array with the shape and type of a given array.")
    .input("prototype", kPrototypeDoc)
    .attribute("dtype", &LikeAttributes::dtype, nullptr, kLikeDTypeDoc)
    .frontend("order", "str", "C", kOrderDoc)
    .context(kLikeContextDoc)
    .properties(kMXNetOpAnywhere)
    .infer(&InferLike)
    .quick(&QuickLike<Fill::kNothing>);

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
    .run(&RunFullLike)
    .quick(&QuickFullLike);

}  // namespace
}  // namespace op
}  // namespace mxnet
