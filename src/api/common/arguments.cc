/*!
 * \file arguments.cc
 * \brief The rarer forms of shared arguments, and their errors.
 */
#include "api/common/arguments.h"

#include <string>

#include "api/common/cast.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief The value of a 0-d integer array, which counts as an int. */
bool IntOfArray(const MXNetValue& value, int type_code, int64_t* out) {
  const DLTensor* tensor = nullptr;
  if (TypeTraits<const DLTensor*>::TryFrom(value, type_code, &tensor) != Match::kOk) return false;
  if (tensor->ndim != 0 || !IsIntDType(tensor->dtype)) return false;
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

[[noreturn]] void ThrowTooMany(const MXNetArgValue& arg, size_t size) {
  MXNET_THROW("ValueError") << arg.text() << " has " << size << " items, at most " << kMaxNdim
                            << " are possible";
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
  MXNetAnyArray run{nullptr, 0};
  if (!op::ItemsOf(value, code, &run)) {
    MXNET_THROW("TypeError") << arg.text() << " expected int or tuple of int, got "
                             << arg.type_name();
  }
  ReadItems(arg, run);
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
  if (size > kMaxNdim) ThrowTooMany(arg, static_cast<size_t>(size));
  CopyCast(*tensor, DLTensor{own_.data, Context{kDLCPU, 0}, tensor->ndim, kInt64, tensor->shape,
                             nullptr, 0});
  own_.ndim = static_cast<int>(size);
  view_ = own_.view();
  return true;
}

void IntsArgument::ReadItems(const MXNetArgValue& arg, const MXNetAnyArray& run) {
  if (run.size > kMaxNdim) ThrowTooMany(arg, run.size);
  for (size_t i = 0; i < run.size; ++i) {
    int64_t item = 0;
    if (!IntOf(run.data[i].value, run.data[i].type_code, &item)) {
      MXNET_THROW(run.data[i].type_code == kMXNetUInt ? "OverflowError" : "TypeError")
          << arg.text() << " expected int or tuple of int, item " << i << " is "
          << (run.data[i].type_code == kMXNetUInt
                  ? std::to_string(run.data[i].value.v_uint64)
                  : TypeNameOf(run.data[i].value, run.data[i].type_code));
    }
    own_.push_back(item);
  }
  view_ = own_.view();
}

int64_t ToInt(const MXNetArgValue& arg) {
  int64_t value = 0;
  return IntOf(arg.value(), arg.type_code(), &value) ? value : arg.As<int64_t>();
}

int64_t ToAxisOr(const MXNetArgValue& arg, int64_t default_axis) {
  if (arg.type_code() == kMXNetBool) {
    MXNET_THROW("TypeError") << arg.text() << " expected int, got bool";
  }
  return ToIntOr(arg, default_axis);
}

bool ItemsOf(const MXNetValue& value, int type_code, MXNetAnyArray* out) {
  if (type_code == kMXNetTuple || type_code == kMXNetList) {
    *out = value.v_seq;
    return true;
  }
  const uint32_t type = ObjectTypeOf(value, type_code);
  if (type != kMXNetObjectTuple && type != kMXNetObjectArray) return false;
  *out = static_cast<const MXNetSeqObject*>(value.v_handle)->items;
  return true;
}

DLDataType DTypeOf(const MXNetArgValue& arg) {
  const DLDataType dtype = arg.As<DLDataType>();
  CheckedIndexOfDType(dtype);
  return dtype;
}

int NormalizeAxis(int64_t axis, int ndim, const char* prefix) {
  if (axis < -ndim || axis >= ndim) {
    MXNET_THROW("AxisError") << prefix << "axis " << axis << " is out of bounds for array of "
                             << "dimension " << ndim;
  }
  return static_cast<int>(axis < 0 ? axis + ndim : axis);
}

void NormalizeAxes(ShapeView axes, int ndim, DimBuffer* out, const char* repeated) {
  bool seen[kMaxNdim] = {};
  out->ndim = 0;
  for (int64_t given : axes) {
    const int axis = NormalizeAxis(given, ndim);
    if (seen[axis]) MXNET_THROW("ValueError") << repeated;
    seen[axis] = true;
    out->push_back(axis);
  }
}

std::string CompactShape(ShapeView shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ",";
    text += std::to_string(shape[i]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

void CheckBroadcastInto(ShapeView from, ShapeView to) {
  bool fits = from.size() <= to.size();
  for (size_t i = 0; fits && i < from.size(); ++i) {
    const int64_t extent = from[from.size() - 1 - i];
    fits = extent == 1 || extent == to[to.size() - 1 - i];
  }
  if (!fits) {
    MXNET_THROW("ValueError") << "could not broadcast input array from shape " << CompactShape(from)
                              << " into shape " << CompactShape(to);
  }
}

}  // namespace op
}  // namespace mxnet
