/*!
 * \file np_init_op.cc
 * \brief New arrays of a given shape.
 */
#include "api/operator/numpy/np_init_op.h"

#include <algorithm>

#include "api/common/arguments.h"
#include "api/common/cast.h"
#include "api/common/describe.h"
#include "api/common/operand.h"

namespace mxnet {
namespace op {
namespace {

NDArray Eye(int64_t rows, int64_t columns, int64_t diagonal, DLDataType dtype, Context ctx) {
  const int64_t shape[] = {rows, columns};
  NDArray array = NDArray::Zeros(ShapeView(shape, 2), dtype, ctx);
  ElementBuffer one;
  MXNetValue number;
  number.v_int64 = 1;
  StoreNumber(number, kMXNetInt, dtype, &one);
  const int64_t item = ItemSize(dtype);
  // Compared before they are added, so that no diagonal is too far out to be represented.
  if (diagonal >= columns || diagonal <= -rows) return array;
  const int64_t first_row = std::max<int64_t>(0, -diagonal);
  const int64_t end_row = std::min(rows, columns - diagonal);
  for (int64_t row = first_row; row < end_row; ++row) {
    std::memcpy(array.data_as<char>() + (row * columns + row + diagonal) * item, &one,
                static_cast<size_t>(item));
  }
  return array;
}

MXNET_REGISTER_OP("_npi.zeros")
    .flags(kMXNetFuncView)
    .describe("Return a new array of given shape and type, filled with zeros.")
    .add_argument("shape", kShapeType, kShapeDoc)
    .add_argument("dtype", kDTypeType, nullptr, kDTypeDoc)
    .add_frontend_argument("order", "str", "C", kOrderDoc)
    .add_argument("ctx", kContextType, nullptr, kContextDoc)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const IntsArgument shape(args[0]);
      const DLDataType dtype = DTypeOr(args[1], kFloat32);
      const Context ctx = ContextOrCurrent(args[2]);
      *ret = NDArray::Zeros(shape.view(), dtype, ctx);
    });

MXNET_REGISTER_OP("_npi.ones")
    .describe("Return a new array of given shape and type, filled with ones.")
    .add_argument("shape", kShapeType, kShapeDoc)
    .add_argument("dtype", kDTypeType, nullptr, kDTypeDoc)
    .add_frontend_argument("order", "str", "C", kOrderDoc)
    .add_argument("ctx", kContextType, nullptr, kContextDoc)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const IntsArgument shape(args[0]);
      *ret = Ones(shape.view(), DTypeOr(args[1], kFloat32), ContextOrCurrent(args[2]));
    });

MXNET_REGISTER_OP("_npi.empty")
    .flags(kMXNetFuncView)
    .describe("Return a new array of given shape and type, without initializing its elements.")
    .add_argument("shape", kShapeType, kShapeDoc)
    .add_argument("dtype", kDTypeType, nullptr, kDTypeDoc)
    .add_frontend_argument("order", "str", "C", kOrderDoc)
    .add_argument("ctx", kContextType, nullptr, kContextDoc)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const IntsArgument shape(args[0]);
      *ret = NDArray::Empty(shape.view(), DTypeOr(args[1], kFloat32), ContextOrCurrent(args[2]));
    });

MXNET_REGISTER_OP("_npi.full")
    .describe("Return a new array of given shape and type, filled with fill_value.")
    .add_argument("shape", kShapeType, kShapeDoc)
    .add_argument("fill_value", kArrayType, "A number, or an array that broadcasts to the shape.")
    .add_argument("dtype", kDTypeType, nullptr,
                  "Element type; if None that of an array, and of a Python number bool, int64, "
                  "float32 or complex64.")
    .add_frontend_argument("order", "str", "C", kOrderDoc)
    .add_argument("ctx", kContextType, nullptr, kContextDoc)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const IntsArgument shape(args[0]);
      std::optional<DLDataType> dtype;
      if (!args[2].is_null()) dtype = DTypeOf(args[2]);
      *ret = Full(shape.view(), args[1], dtype, ContextOrCurrent(args[3]));
    });

MXNET_REGISTER_OP("_npi.eye")
    .describe("Return a 2-d array with ones on a diagonal and zeros elsewhere.")
    .add_argument("N", "int", "Number of rows.")
    .add_argument("M", "int | None", nullptr, "Number of columns; N if None.")
    .add_argument("k", "int", 0, "Which diagonal: 0 the main one, positive above, negative below.")
    .add_argument("dtype", kDTypeType, nullptr, kDTypeDoc)
    .add_frontend_argument("order", "str", "C", kOrderDoc)
    .add_argument("ctx", kContextType, nullptr, kContextDoc)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const int64_t rows = ToInt(args[0]);
      const int64_t columns = ToIntOr(args[1], rows);
      *ret =
          Eye(rows, columns, ToInt(args[2]), DTypeOr(args[3], kFloat32), ContextOrCurrent(args[4]));
    });

MXNET_REGISTER_OP("_npi.identity")
    .describe("Return the identity matrix, a square array with ones on the main diagonal.")
    .add_argument("n", "int", "Number of rows and of columns.")
    .add_argument("dtype", kDTypeType, nullptr, kDTypeDoc)
    .add_argument("ctx", kContextType, nullptr, kContextDoc)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const int64_t n = ToInt(args[0]);
      *ret = Eye(n, n, 0, DTypeOr(args[1], kFloat32), ContextOrCurrent(args[2]));
    });

}  // namespace

void FillElements(const NDArray& array, const void* value) {
  const int64_t size = array.size();
  switch (ItemSize(array.dtype())) {
    case 1:
      std::memset(array.data(), *static_cast<const unsigned char*>(value),
                  static_cast<size_t>(size));
      return;
    case 2:
      std::fill_n(array.data_as<uint16_t>(), size, *static_cast<const uint16_t*>(value));
      return;
    case 4:
      std::fill_n(array.data_as<uint32_t>(), size, *static_cast<const uint32_t*>(value));
      return;
    case 8:
      std::fill_n(array.data_as<uint64_t>(), size, *static_cast<const uint64_t*>(value));
      return;
    default:
      std::fill_n(array.data_as<ElementBuffer>(), size, *static_cast<const ElementBuffer*>(value));
  }
}

NDArray Ones(ShapeView shape, DLDataType dtype, Context ctx) {
  NDArray array = NDArray::Empty(shape, dtype, ctx);
  ElementBuffer one;
  MXNetValue number;
  number.v_int64 = 1;
  StoreNumber(number, kMXNetInt, dtype, &one);
  FillElements(array, &one);
  return array;
}

NDArray Full(ShapeView shape, const MXNetArgValue& value, std::optional<DLDataType> dtype,
             Context ctx) {
  if (IsNumber(value.type_code())) {
    NDArray array = NDArray::Empty(shape, dtype.value_or(DTypeOfNumber(value.type_code())), ctx);
    ElementBuffer element;
    StoreNumber(value.value(), value.type_code(), array.dtype(), &element);
    FillElements(array, &element);
    return array;
  }
  const DLTensor* tensor = nullptr;
  const bool is_tensor = value.TryAs<const DLTensor*>(&tensor) == Match::kOk;
  // The numbers of a list become what is asked for at once, without another type between.
  const NDArray values = is_tensor ? ToArray(value) : ArrayFromNested(value, dtype);
  // Before the array, which ends a call that is made for the geometry of its result alone.
  CheckBroadcastInto(values.shape(), shape);
  NDArray array = NDArray::Empty(shape, dtype.value_or(values.dtype()), ctx);
  CopyCast(values.tensor(), array.tensor());
  return array;
}

}  // namespace op
}  // namespace mxnet
