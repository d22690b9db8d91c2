/*!
 * \file arguments.cc
 * \brief The rarer forms of shared arguments, and their errors.
 */
#include "api/common/arguments.h"

#include <string>

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

}  // namespace

void IntsArgument::ReadOther(const MXNetArgValue& arg) {
  const MXNetValue& value = arg.value();
  const int code = arg.type_code();
  if (code == kMXNetUInt) {
    MXNET_THROW("OverflowError") << arg.text() << " expected int or tuple of int, got "
                                 << value.v_uint64;
  }
  if (IntOf(value, code, &own_[0])) {
    own_.ndim = 1;
    single_ = true;
    view_ = own_.view();
    return;
  }
  const uint32_t type = ObjectTypeOf(value, code);
  if (type == kMXNetObjectShape) {
    view_ = arg.As<ShapeView>();
    return;
  }
  MXNetAnyArray run{nullptr, 0};
  if (code == kMXNetTuple || code == kMXNetList) {
    run = value.v_seq;
  } else if (type == kMXNetObjectTuple || type == kMXNetObjectArray) {
    run = static_cast<const MXNetSeqObject*>(value.v_handle)->items;
  } else {
    MXNET_THROW("TypeError") << arg.text() << " expected int or tuple of int, got "
                             << arg.type_name();
  }
  if (run.size > kMaxDims) {
    MXNET_THROW("ValueError") << arg.text() << " has " << run.size << " items, at most " << kMaxDims
                              << " are possible";
  }
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
  bool seen[kMaxDims] = {};
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
