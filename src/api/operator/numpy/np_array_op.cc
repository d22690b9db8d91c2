/*!
 * \file np_array_op.cc
 * \brief Arrays of arrays, numbers and nested sequences; copies and conversions.
 */
#include "api/common/arguments.h"
#include "api/common/cast.h"
#include "api/common/describe.h"
#include "api/common/nested.h"
#include "api/common/operand.h"
#include "api/common/transfer.h"

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

MXNET_REGISTER_ELEMENTS_OP("_npi.array")
    .flags(kMXNetFuncView)
    .describe("Create an array; the elements are always copied.")
    .add_argument("object", kArrayType, "An array, a number, or nested sequences of these.")
    .add_argument("dtype", kDTypeType, nullptr,
                  "Element type; if None that of an array, and of Python numbers that of their "
                  "widest kind: bool, int64, float32 or complex64.")
    .add_argument("ctx", kContextType, nullptr, kContextDoc)
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      *ret = NewArrayOf(args[0], OptionalDType(args[1]), ContextOrCurrent(args[2]));
    });

MXNET_REGISTER_ELEMENTS_OP("_npi.asarray")
    .flags(kMXNetFuncView)
    .describe("Convert to an array; an array of that type and context already is shared.")
    .add_argument("a", kArrayType, "An array, a number, or nested sequences of these.")
    .add_argument("dtype", kDTypeType, nullptr, "Element type; as for array if None.")
    .add_argument("ctx", kContextType, nullptr, "The context; where an array is already if None.")
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
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
    });

MXNET_REGISTER_OP("_npi.copy")
    .describe("Return a row-major copy of an array.")
    .add_argument("a", kArrayType, kArrayDoc)
    .add_frontend_argument("order", "str", "C", kOrderDoc)
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const DLTensor* tensor = nullptr;
      const bool is_array = args[0].TryAs(&tensor) == Match::kOk;
      if (is_array) AnnounceResult(TensorShape(*tensor), tensor->dtype, tensor->device);
      *ret = is_array ? NewArrayOf(args[0], std::nullopt, tensor->device) : ToArray(args[0]);
    });

MXNET_REGISTER_OP("_npi.astype")
    .flags(kMXNetFuncView)
    .describe("Convert an array to another element type.")
    .add_argument("a", kArrayType, kArrayDoc)
    .add_argument("dtype", kRequiredDTypeType, "Element type of the result.")
    .add_argument("copy", "bool", true, "If False, an array of that type already is shared.")
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const DLDataType dtype = DTypeOf(args[1]);
      const NDArray array = ToArray(args[0]);
      const bool share = !ToFlag(args[2]) && array.dtype() == dtype;
      if (!share) AnnounceResult(array.shape(), dtype, array.ctx());
      *ret = share ? array : AsType(array.tensor(), dtype);
    });

}  // namespace
}  // namespace op
}  // namespace mxnet
