/*!
 * \file array.cc
 * \brief Arrays of arrays, numbers and nested sequences.
 */
#include <mxnet/op/operator.h>

#include "api/argument/arguments.h"
#include "api/argument/nested.h"
#include "api/argument/operand.h"
#include "api/call/anywhere.h"
#include "api/call/transfer.h"
#include "op/creation/creation.h"
#include "op/schema/describe.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {
namespace {

struct ArrayAttributes {
  std::optional<DLDataType> dtype;
};

void InferArray(const InferCall& call, const ArrayAttributes& attributes) {
  const ShapeView shape = ShapeOf(call.in[0]);
  const DLDataType dtype = attributes.dtype.value_or(call.in[0].dtype);
  if (IsKnown(shape)) return SetMade(dtype, shape, call.out);
  CheckedIndexOfDType(dtype);
  SetSpec(dtype, shape, call.out);
}

void RunArray(const RunCall& call, const ArrayAttributes&) { CopyCast(call.in[0], call.out[0]); }

std::optional<DLDataType> OptionalDType(const MXNetArgValue& arg) {
  if (arg.is_null()) return std::nullopt;
  return DTypeOf(arg);
}

/*! \brief A new array of anything, on a context. */
NDArray NewArrayOf(const MXNetArgValue& object, std::optional<DLDataType> dtype, Context ctx) {
  const DLTensor* tensor = nullptr;
  if (object.TryAs(&tensor) != Match::kOk) {
    return BringTo(ArrayFromNested(object, dtype, IsHost(ctx) ? ctx : Context{kDLCPU, 0}), ctx);
  }
  NDArray array = NDArray::Empty(TensorShape(*tensor), dtype.value_or(tensor->dtype), ctx);
  CopyAnywhere({*tensor, ArrayBehind(object)}, {array.tensor(), array});
  return array;
}

void MakeArray(const MXNetArgs& args, MXNetRetValue* ret) {
  *ret = NewArrayOf(args[0], OptionalDType(args[1]), ContextOrCurrent(args[2]));
}

void MakeOrShareArray(const MXNetArgs& args, MXNetRetValue* ret) {
  const auto dtype = OptionalDType(args[1]);
  if (args[0].type_code() == kMXNetNDArrayHandle) {
    const NDArray array = args[0].As<NDArray>();
    if ((!dtype || *dtype == array.dtype()) &&
        (args[2].is_null() || args[2].As<Context>() == array.ctx())) {
      *ret = array;
      return;
    }
  }
  *ret = NewArrayOf(args[0], dtype, ContextOrCurrent(args[2]));
}

MXNET_REGISTER_OPERATOR("_npi.array", ArrayAttributes)
    .describe("Create an array; the elements are always copied.")
    .input("object", "An array, a number, or nested sequences of these.")
    .attribute("dtype", &ArrayAttributes::dtype, nullptr,
               "Element type; if None that of an array, and of Python numbers that of their "
               "widest kind: bool, int64, float32 or complex64.")
    .context()
    .types(kMXNetTypesStored)
    .flags(kMXNetFuncAnywhere)
    .release_gil(kReleaseBytes)
    .infer(&InferArray)
    .run(&RunArray)
    .body(&NewAnywhere<&MakeArray>);

MXNET_REGISTER_OPERATOR("_npi.asarray", ArrayAttributes)
    .describe("Convert to an array; an array of that type and context already is shared.")
    .input("a", "An array, a number, or nested sequences of these.")
    .attribute("dtype", &ArrayAttributes::dtype, nullptr, "Element type; as for array if None.")
    .context("The context; where an array is already if None.")
    .types(kMXNetTypesStored)
    .flags(kMXNetFuncAnywhere)
    .release_gil(kReleaseBytes)
    .infer(&InferArray)
    .run(&RunArray)
    .body(&NewAnywhere<&MakeOrShareArray>);

}  // namespace
}  // namespace op
}  // namespace mxnet
