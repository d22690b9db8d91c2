/*!
 * \file operand.cc
 * \brief Reading operands.
 */
#include "api/argument/operand.h"

#include <string>

#include "api/argument/nested.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {
namespace {

bool IsSequence(const MXNetArgValue& arg) {
  switch (arg.type_code()) {
    case kMXNetIntTuple:
    case kMXNetIntList:
    case kMXNetTuple:
    case kMXNetList:
      return true;
    default:
      break;
  }
  switch (ObjectTypeOf(arg.value(), arg.type_code())) {
    case kMXNetObjectShape:
    case kMXNetObjectTuple:
    case kMXNetObjectArray:
      return true;
    default:
      return false;
  }
}

/*! \brief Whether the integer, which unsigned_value tells how to read, is a value of T. */
template <typename T>
bool Holds(int64_t value, bool unsigned_value) {
  if constexpr (std::is_unsigned_v<T>) {
    const bool in_range = static_cast<uint64_t>(value) <= std::numeric_limits<T>::max();
    return (unsigned_value || value >= 0) && in_range;
  } else {
    return !unsigned_value && value >= std::numeric_limits<T>::min() &&
           value <= std::numeric_limits<T>::max();
  }
}

template <typename T>
T IntAs(int64_t value, bool unsigned_value) {
  if constexpr (kIsIntType<T>) {
    if (!Holds<T>(value, unsigned_value)) {
      MXNET_THROW("OverflowError")
          << "Python integer "
          << (unsigned_value ? std::to_string(static_cast<uint64_t>(value)) : std::to_string(value))
          << " out of bounds for " << DataTypeName(DTypeOf<T>());
    }
  }
  return unsigned_value ? CastValue<T>(static_cast<uint64_t>(value)) : CastValue<T>(value);
}

/*! \brief The type code of a Python number of a kind and a default type. */
int CodeOf(WeakKind kind, DLDataType dtype) {
  switch (kind) {
    case WeakKind::kBool:
      return kMXNetBool;
    case WeakKind::kFloat:
      return kMXNetFloat;
    case WeakKind::kComplex:
      return kMXNetComplex;
    default:
      return dtype == kUInt64 ? kMXNetUInt : kMXNetInt;
  }
}

}  // namespace

Operand::Operand(const MXNetArgValue& arg, ArrayUse use) : use_(use) {
  if (arg.TryAs<const DLTensor*>(&tensor_) == Match::kOk) {
    CheckHost(*tensor_);
    CheckedIndexOfDType(tensor_->dtype);
    if (!IsAligned(*tensor_)) Own(Contiguous(*tensor_));
    dtype_ = tensor_->dtype;
    return;
  }
  kind_ = KindOfNumber(arg.type_code());
  if (kind_ != WeakKind::kNone) {
    value_ = arg.value();
    dtype_ = DTypeOfNumber(arg.type_code());
    return;
  }
  if (!IsSequence(arg) && use != ArrayUse::kElements) {
    MXNET_THROW("TypeError") << arg.text()
                             << " expected an array, a number or a sequence of numbers, got "
                             << arg.type_name();
  }
  Own(ArrayFromNested(arg, std::nullopt, Context{kDLCPU, 0}, use));
  numbers_ = KindOfNumbers(arg);
  if (numbers_ != WeakKind::kNone) nested_.emplace(arg);
  dtype_ = tensor_->dtype;
}

void Operand::Own(NDArray array) {
  owned_ = std::move(array);
  tensor_ = &owned_.tensor();
}

void Operand::StoreScalar(DLDataType dtype, void* out) const {
  if (use_ == ArrayUse::kElements) return StoreNumber(value_, CodeOf(kind_, dtype_), dtype, out);
  DispatchDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T value{};
    if (kind_ == WeakKind::kFloat) {
      value = CastValue<T>(value_.v_float64);
    } else if (kind_ != WeakKind::kComplex) {
      value = IntAs<T>(value_.v_int64, is_large_uint());
    } else if constexpr (kIsComplexType<T> || std::is_same_v<T, bool>) {
      value = CastValue<T>(Complex128(value_.v_complex[0], value_.v_complex[1]));
    } else {
      MXNET_THROW("TypeError") << "a complex number cannot become " << DataTypeName(dtype);
    }
    std::memcpy(out, &value, sizeof(T));
  });
}

const DLTensor& Operand::TensorAs(DLDataType dtype) {
  if (!is_array()) {
    NDArray scalar = NDArray::Empty(ShapeView(), dtype);
    StoreScalar(dtype, scalar.data());
    Own(std::move(scalar));
  } else if (tensor_->dtype != dtype) {
    Own(nested_ ? ArrayFromNested(*nested_, dtype) : AsType(*tensor_, dtype));
  }
  return *tensor_;
}

const DLTensor& Operand::TensorToConvert(DLDataType dtype) {
  const bool stays = is_array() && !nested_ && TensorSize(*tensor_) != 1;
  return stays ? *tensor_ : TensorAs(dtype);
}

NDArray Operand::TakeArray() {
  if (!is_array()) TensorAs(dtype_);
  return owned_.defined() ? owned_ : Contiguous(*tensor_);
}

NDArray ToArray(MXNetArgValue arg) {
  if (arg.type_code() == kMXNetNDArrayHandle) return arg.As<NDArray>();
  return Operand(arg).TakeArray();
}

}  // namespace op
}  // namespace mxnet
