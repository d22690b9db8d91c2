/*!
 * \file arguments.cc
 * \brief The rarer forms of shared arguments, and their errors.
 */
#include "api/argument/arguments.h"

#include <string>

#include "op/tensor/cast.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief The value of a 0-d integer array, which counts as an int. */
bool IntOfArray(const MXNetValue& value, int type_code, int64_t* out) {
  const DLTensor* tensor = nullptr;
  if (TypeTraits<const DLTensor*>::TryFrom(value, type_code, &tensor) != Match::kOk) return false;
  if (tensor->ndim != 0 || !IsIntDType(tensor->dtype)) return false;
  CheckHost(*tensor);
  DispatchDType(tensor->dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsIntType<T>) {
      T element;
      std::memcpy(&element, TensorData(*tensor), sizeof(T));
      *out = static_cast<int64_t>(element);
    }
  });
  return true;
}

bool IntOf(const MXNetValue& value, int type_code, int64_t* out) {
  if (type_code == kMXNetInt) {
    *out = value.v_int64;
    return true;
  }
  return IntOfArray(value, type_code, out);
}

}  // namespace

void IntsArgument::ReadOther(const MXNetArgValue& arg) {
  const MXNetValue& value = arg.value();
  const int code = arg.type_code();
  if (code == kMXNetUInt) {
    MXNET_THROW("OverflowError") << arg.text() << " expected int or tuple of int, got "
                                 << value.v_uint64;
  }
  if (ReadArray(arg)) return;
  if (ObjectTypeOf(value, code) == kMXNetObjectShape) {
    view_ = arg.As<ShapeView>();
    return;
  }
  MXNetAnyArray items{nullptr, 0};
  if (!ItemsOf(value, code, &items)) {
    MXNET_THROW("TypeError") << arg.text() << " expected int or tuple of int, got "
                             << arg.type_name();
  }
  ReadItems(arg, items);
}

bool IntsArgument::ReadArray(const MXNetArgValue& arg) {
  const DLTensor* tensor = nullptr;
  if (arg.TryAs(&tensor) != Match::kOk || tensor->ndim > 1 || !IsIntDType(tensor->dtype)) {
    return false;
  }
  CheckHost(*tensor);
  const int64_t size = TensorSize(*tensor);
  single_ = tensor->ndim == 0;
  if (tensor->dtype == kInt64 && IsAligned(*tensor) && IsContiguous(*tensor)) {
    view_ = ShapeView(static_cast<const int64_t*>(TensorData(*tensor)), static_cast<size_t>(size));
    return true;
  }
  own_.resize(static_cast<size_t>(size));
  CopyCast(*tensor, DLTensor{own_.data(), Context{kDLCPU, 0}, tensor->ndim, kInt64, tensor->shape,
                             nullptr, 0});
  view_ = ShapeView(own_.data(), own_.size());
  return true;
}

void IntsArgument::ReadItems(const MXNetArgValue& arg, const MXNetAnyArray& items) {
  for (size_t i = 0; i < items.size; ++i) {
    int64_t item = 0;
    if (!IntOf(items.data[i].value, items.data[i].type_code, &item)) {
      MXNET_THROW(items.data[i].type_code == kMXNetUInt ? "OverflowError" : "TypeError")
          << arg.text() << " expected int or tuple of int, item " << i << " is "
          << (items.data[i].type_code == kMXNetUInt
                  ? std::to_string(items.data[i].value.v_uint64)
                  : TypeNameOf(items.data[i].value, items.data[i].type_code));
    }
    own_.push_back(item);
  }
  view_ = ShapeView(own_.data(), own_.size());
}

int64_t ToInt(const MXNetArgValue& arg) {
  int64_t value = 0;
  return IntOf(arg.value(), arg.type_code(), &value) ? value : arg.As<int64_t>();
}

DLDataType DTypeOf(const MXNetArgValue& arg) {
  const DLDataType dtype = arg.As<DLDataType>();
  CheckedIndexOfDType(dtype);
  return dtype;
}

}  // namespace op
}  // namespace mxnet
