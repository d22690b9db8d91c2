/*!
 * \file creation.cc
 * \brief Quick ways of arrays of a given shape, or of that of another array, and of copies.
 */
#include "op/creation/creation.h"

#include <utility>

#include "api/argument/arguments.h"
#include "api/argument/nested.h"
#include "api/quick/arguments.h"
#include "api/quick/attach.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {
namespace {

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
NDArray Make(ShapeView shape, DLDataType dtype, Context ctx) {
  NDArray made =
      kFill == Fill::kZeros ? NDArray::Zeros(shape, dtype, ctx) : NDArray::Empty(shape, dtype, ctx);
  if (kFill == Fill::kOnes) FillOnes(made.tensor());
  return made;
}

template <Fill kFill>
bool QuickMake(const MXNetArgs& args, MXNetRetValue* ret) {
  ShapeView shape;
  if (!ReadShape(args, &shape)) return false;
  // Most calls give neither.
  const bool is_default = args.type_codes[1] == kMXNetNull;
  const DLDataType dtype = is_default ? kFloat32 : DTypeOf(args[1]);
  const bool is_current = args.type_codes[2] == kMXNetNull;
  const Context ctx = is_current ? CurrentContext() : args[2].As<Context>();
  *ret = Make<kFill>(shape, dtype, ctx);
  return true;
}

/*! \brief Full of a number, which is stored as an assignment stores it, or of an array. */
bool QuickFull(const MXNetArgs& args, MXNetRetValue* ret) {
  ShapeView shape;
  const int type_code = args.type_codes[1];
  const DLTensor* array = HostArray(args, 1);
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

template <Fill kFill>
bool QuickLike(const MXNetArgs& args, MXNetRetValue* ret) {
  ArrayLike like;
  if (!like.Read(args, 1)) return false;
  *ret = Make<kFill>(like.shape, like.dtype, like.ctx);
  return true;
}

/*! \brief Full of a number, which is stored as an assignment stores it. */
bool QuickFullLike(const MXNetArgs& args, MXNetRetValue* ret) {
  ArrayLike like;
  if (!IsNumber(args.type_codes[1]) || !like.Read(args, 2)) return false;
  NDArray made = NDArray::Empty(like.shape, like.dtype, like.ctx);
  FillNumber(made.tensor(), args.values[1], args.type_codes[1]);
  *ret = std::move(made);
  return true;
}

bool QuickCopy(const MXNetArgs& args, MXNetRetValue* ret) {
  const DLTensor* array = HostArray(args, 0);
  if (array == nullptr) return false;
  *ret = Contiguous(*array);
  return true;
}

/*! \brief What is shared may be on any device. */
bool QuickAsType(const MXNetArgs& args, MXNetRetValue* ret) {
  if (args.type_codes[0] != kMXNetNDArrayHandle) return false;
  const DLDataType dtype = DTypeOf(args[1]);
  if (!ToFlag(args[2]) && ArrayArg(args, 0).dtype == dtype) {
    *ret = args[0];
    return true;
  }
  const DLTensor* array = HostArray(args, 0);
  if (array == nullptr) return false;
  *ret = AsType(*array, dtype);
  return true;
}

MXNET_QUICK("_npi.zeros", &QuickMake<Fill::kZeros>);
MXNET_QUICK("_npi.ones", &QuickMake<Fill::kOnes>);
MXNET_QUICK("_npi.empty", &QuickMake<Fill::kNothing>);
MXNET_QUICK("_npi.full", &QuickFull);
MXNET_QUICK("_npi.zeros_like", &QuickLike<Fill::kZeros>);
MXNET_QUICK("_npi.ones_like", &QuickLike<Fill::kOnes>);
MXNET_QUICK("_npi.empty_like", &QuickLike<Fill::kNothing>);
MXNET_QUICK("_npi.full_like", &QuickFullLike);
MXNET_QUICK("_npi.copy", &QuickCopy);
MXNET_QUICK("_npi.astype", &QuickAsType);

}  // namespace
}  // namespace op
}  // namespace mxnet
