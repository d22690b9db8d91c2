/*!
 * \file array.cc
 * \brief Arrays of arrays, numbers and nested sequences.
 */
#include "api/call/anywhere.h"
#include "api/call/transfer.h"
#include "op/argument/arguments.h"
#include "op/argument/nested.h"
#include "op/argument/operand.h"
#include "op/schema/describe.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {
namespace {

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

MXNET_REGISTER_ANYWHERE("_npi.array")
    .describe("Create an array; the elements are always copied.")
    .add_argument("object", kArrayType, "An array, a number, or nested sequences of these.")
    .add_argument("dtype", kDTypeType, nullptr,
                  "Element type; if None that of an array, and of Python numbers that of their "
                  "widest kind: bool, int64, float32 or complex64.")
    .add_argument("ctx", kContextType, nullptr, kContextDoc)
    .release_gil(kReleaseBytes)
    .set_function(AnywhereBody::New([](MXNetArgs args, MXNetRetValue* ret) {
      *ret = NewArrayOf(args[0], OptionalDType(args[1]), ContextOrCurrent(args[2]));
    }));

MXNET_REGISTER_ANYWHERE("_npi.asarray")
    .describe("Convert to an array; an array of that type and context already is shared.")
    .add_argument("a", kArrayType, "An array, a number, or nested sequences of these.")
    .add_argument("dtype", kDTypeType, nullptr, "Element type; as for array if None.")
    .add_argument("ctx", kContextType, nullptr, "The context; where an array is already if None.")
    .release_gil(kReleaseBytes)
    .set_function(AnywhereBody::New([](MXNetArgs args, MXNetRetValue* ret) {
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
    }));

}  // namespace
}  // namespace op
}  // namespace mxnet
