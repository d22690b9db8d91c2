/*!
 * \file elementwise_operands.h
 * \brief What the quick ways of elementwise operators read of a call's arguments.
 */
#ifndef MXNET_SRC_API_QUICK_ELEMENTWISE_OPERANDS_H_
#define MXNET_SRC_API_QUICK_ELEMENTWISE_OPERANDS_H_

#include <cstring>

#include "api/quick/arguments.h"
#include "op/elementwise/elementwise.h"

namespace mxnet {
namespace op {

/*!
 * \brief The operand, if it is one the fast path may take: an array object, or a tensor that the
 * caller passes with its strides. NULL for any other; numbers with a type have rules of their own.
 */
inline const DLTensor* OperandArg(const MXNetArgs& args, int i) {
  const int type_code = args.type_codes[i];
  if (__builtin_expect(type_code == kMXNetNDArrayHandle, 1)) return &ArrayArg(args, i);
  if (type_code != kMXNetArrayHandle && type_code != kMXNetReadOnlyArray) return nullptr;
  const auto* tensor = static_cast<const DLTensor*>(args.values[i].v_handle);
  const bool plain = tensor->ndim > 0 && tensor->strides != nullptr && tensor->byte_offset == 0 &&
                     tensor->device.device_type == kDLCPU;
  return plain ? tensor : nullptr;
}

/*! \brief The element of an integer type that a Python int becomes, where it is one. */
inline bool ReadInteger(int index, int64_t number, ElementBuffer* out) {
  return DispatchDType(kDTypes[index], [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsIntType<T>) {
      const T element = static_cast<T>(number);
      if (static_cast<int64_t>(element) != number || (element < T(0)) != (number < 0)) return false;
      std::memcpy(out, &element, sizeof(element));
      return true;
    }
    return false;
  });
}

/*! \brief The element a Python scalar becomes, where that needs no checks beyond these. */
inline bool ReadScalar(int index, const MXNetValue& value, int type_code, ElementBuffer* out) {
  double number;
  if (type_code == kMXNetFloat) {
    number = value.v_float64;
  } else if (type_code == kMXNetInt) {
    number = static_cast<double>(value.v_int64);
  } else {
    return false;
  }
  if (index == kIndexFloat32) {
    const float element = static_cast<float>(number);
    std::memcpy(out, &element, sizeof(element));
    return true;
  }
  if (index == kIndexFloat64) {
    std::memcpy(out, &number, sizeof(number));
    return true;
  }
  return type_code == kMXNetInt && ReadInteger(index, value.v_int64, out);
}

/* ---- of lines, where operands are not dense ---- */

/*! \brief x1 and x2 of args, and out if it is given; false where they need the slow path. */
bool QuickBinaryLines(const BinaryOp& op, const MXNetArgs& args, MXNetRetValue* ret);
/*! \brief The same of x, without out. */
bool QuickUnaryLine(const UnaryOp& op, const DLTensor& x, MXNetRetValue* ret);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_QUICK_ELEMENTWISE_OPERANDS_H_
