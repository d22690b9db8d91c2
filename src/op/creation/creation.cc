/*!
 * \file creation.cc
 * \brief New arrays of a given shape: zeros, ones, empty, full.
 */
#include "op/creation/creation.h"

#include "op/argument/arguments.h"
#include "op/schema/describe.h"
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

/*! \brief The shape that a call begins with, as most give it; false for what else may be one. */
inline bool ReadShape(const MXNetArgs& args, ShapeView* shape) {
  const MXNetValue& value = args.values[0];
  switch (args.type_codes[0]) {
    case kMXNetIntTuple:
    case kMXNetIntList:
      *shape = ShapeView(value.v_ints.data, value.v_ints.size);
      return value.v_ints.size <= kMaxNdim;
    case kMXNetInt:
      *shape = ShapeView(&value.v_int64, 1);
      return true;
    default:
      return false;
  }
}

enum class Fill { kZeros, kNothing, kOnes };

template <Fill kFill>
bool QuickMake(const void*, const MXNetArgs& args, MXNetRetValue* ret) {
  ShapeView shape;
  if (!ReadShape(args, &shape)) return false;
  // Most calls give neither.
  const bool is_default = args.type_codes[1] == kMXNetNull;
  const DLDataType dtype = is_default ? kFloat32 : DTypeOf(args[1]);
  const bool is_current = args.type_codes[2] == kMXNetNull;
  const Context ctx = is_current ? CurrentContext() : args[2].As<Context>();
  NDArray made =
      kFill == Fill::kZeros ? NDArray::Zeros(shape, dtype, ctx) : NDArray::Empty(shape, dtype, ctx);
  if (kFill == Fill::kOnes) FillOnes(made.tensor());
  *ret = std::move(made);
  return true;
}

/*! \brief Full of a number, which is stored as an assignment stores it, or of an array. */
bool QuickFull(const void*, const MXNetArgs& args, MXNetRetValue* ret) {
  ShapeView shape;
  const int type_code = args.type_codes[1];
  const DLTensor* array = PlainArray(args, 1);
  if ((array == nullptr && !IsNumber(type_code)) || !ReadShape(args, &shape)) return false;
  const DLDataType own = array != nullptr ? array->dtype : DTypeOfNumber(type_code);
  NDArray made = NDArray::Empty(shape, DTypeOr(args[2], own), ContextOrCurrent(args[3]));
  if (array != nullptr) {
    FillArray(made.tensor(), *array);
  } else {
    FillNumber(made.tensor(), args.values[1], type_code);
  }
  *ret = std::move(made);
  return true;
}

MXNET_REGISTER_OPERATOR("_npi.zeros", MakeAttributes)
    .describe("Return a new array of given shape and type, filled with zeros.")
    .attribute("shape", &MakeAttributes::shape, kShapeDoc)
    .attribute("dtype", &MakeAttributes::dtype, nullptr, kDTypeDoc)
    .frontend("order", "str", "C", kOrderDoc)
    .context()
    .properties(kMXNetOpZeros | kMXNetOpAnywhere)
    .infer(&InferMake)
    .quick(&QuickMake<Fill::kZeros>);

MXNET_REGISTER_OPERATOR("_npi.ones", MakeAttributes)
    .describe("Return a new array of given shape and type, filled with ones.")
    .attribute("shape", &MakeAttributes::shape, kShapeDoc)
    .attribute("dtype", &MakeAttributes::dtype, nullptr, kDTypeDoc)
    .frontend("order", "str", "C", kOrderDoc)
    .context()
    .infer(&InferMake)
    .run(&RunOnes)
    .quick(&QuickMake<Fill::kOnes>);

MXNET_REGISTER_OPERATOR("_npi.empty", MakeAttributes)
    .describe("Return a new array of given shape and type, without initializing its elements.")
    .attribute("shape", &MakeAttributes::shape, kShapeDoc)
    .attribute("dtype", &MakeAttributes::dtype, nullptr, kDTypeDoc)
    .frontend("order", "str", "C", kOrderDoc)
    .context()
    .properties(kMXNetOpAnywhere)
    .infer(&InferMake)
    .quick(&QuickMake<Fill::kNothing>);

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
    .run(&RunFull)
    .quick(&QuickFull);

}  // namespace
}  // namespace op
}  // namespace mxnet
