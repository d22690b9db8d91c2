/*!
 * \file mxnet/runtime/type_traits.h
 * \brief TypeTraits<T>: how a C++ type is read from and written to a tagged value.
 *
 * One specialization a type serves arguments, results, container elements and the text of errors:
 *
 *   static std::string Name();                                     what messages call the type
 *   static Match TryFrom(const MXNetValue&, int type_code, T*);    reads; throws only where the
 *                                                                  type is right and the value not
 *   static void Store(T value, MXNetAny* out);                     writes an owned value
 *
 * TryFrom of a view type (std::string_view, ShapeView, const DLTensor*) borrows: it is valid for
 * the call only.
 */
#ifndef MXNET_RUNTIME_TYPE_TRAITS_H_
#define MXNET_RUNTIME_TYPE_TRAITS_H_

#include <mxnet/runtime/any.h>
#include <mxnet/runtime/container/array.h>
#include <mxnet/runtime/container/map.h>
#include <mxnet/runtime/container/shape.h>
#include <mxnet/runtime/container/string.h>
#include <mxnet/runtime/ndarray.h>

#include <complex>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace mxnet {
namespace runtime {

/*! \brief Outcome of reading a value as a type. */
enum class Match { kOk, kWrongType, kOutOfRange };

template <typename T, typename = void>
struct TypeTraits;

namespace details {

/*! \brief Makes an owned value of any value: borrowed text and runs become objects. */
inline Any Own(const MXNetValue& value, int type_code);

inline std::vector<Any> OwnRun(const MXNetAnyArray& run) {
  std::vector<Any> items;
  items.reserve(run.size);
  for (size_t i = 0; i < run.size; ++i) {
    items.push_back(Own(run.data[i].value, run.data[i].type_code));
  }
  return items;
}

inline Any AnyOfObject(ObjectRef ref) {
  MXNetAny raw{};
  raw.type_code = ref.defined() ? TypeCodeOfObject(ref.type_index()) : kMXNetNull;
  raw.value.v_handle = ref.Detach();
  return Any::Steal(raw);
}

inline Any AnyOfInt(int64_t value) {
  MXNetAny raw{};
  raw.type_code = kMXNetInt;
  raw.value.v_int64 = value;
  return Any::Steal(raw);
}

inline void CopyStrided(const DLTensor& src, int axis, const char* from, char** to) {
  const int64_t item = ItemSize(src.dtype);
  if (axis == src.ndim) {
    std::memcpy(*to, from, static_cast<size_t>(item));
    *to += item;
    return;
  }
  for (int64_t i = 0; i < src.shape[axis]; ++i) {
    CopyStrided(src, axis + 1, from + i * src.strides[axis] * item, to);
  }
}

/*! \brief An array of its own with the elements of a host tensor. */
inline NDArray CopyOfTensor(const DLTensor& src) {
  NDArray copy = NDArray::Empty(TensorShape(src), src.dtype, src.device);
  const char* from = static_cast<const char*>(TensorData(src));
  char* to = copy.data_as<char>();
  if (IsContiguous(src)) {
    if (copy.size() > 0)
      std::memcpy(to, from, static_cast<size_t>(copy.size() * ItemSize(src.dtype)));
  } else {
    CopyStrided(src, 0, from, &to);
  }
  return copy;
}

inline Any Own(const MXNetValue& value, int type_code) {
  switch (type_code) {
    case kMXNetStr:
      return AnyOfObject(String(std::string_view(value.v_str.data, value.v_str.size)));
    case kMXNetBytes:
      return AnyOfObject(Bytes(std::string_view(value.v_str.data, value.v_str.size)));
    case kMXNetIntTuple:
      return AnyOfObject(Shape(ShapeView(value.v_ints.data, value.v_ints.size)));
    case kMXNetIntList: {
      std::vector<Any> items;
      items.reserve(value.v_ints.size);
      for (size_t i = 0; i < value.v_ints.size; ++i)
        items.push_back(AnyOfInt(value.v_ints.data[i]));
      return AnyOfObject(Array<Any>(std::move(items)));
    }
    case kMXNetTuple:
      return AnyOfObject(Tuple(OwnRun(value.v_seq)));
    case kMXNetList:
      return AnyOfObject(Array<Any>(OwnRun(value.v_seq)));
    case kMXNetDict:
      return AnyOfObject(Map<Any, Any>(OwnRun(value.v_seq)));
    case kMXNetArrayHandle:
    case kMXNetReadOnlyArray:
      return AnyOfObject(CopyOfTensor(*static_cast<const DLTensor*>(value.v_handle)));
    default: {
      MXNetAny raw{};
      raw.value = value;
      raw.type_code = type_code;
      return Any::Share(raw);
    }
  }
}

/*! \brief Reads one value as T, or throws. `what` names the value, "argument 0 ('shape')". */
template <typename T, typename What>
T ReadOrThrow(const MXNetValue& value, int type_code, const What& what);

template <typename T>
std::string MismatchText(Match match, const std::string& what, const MXNetValue& value,
                         int type_code) {
  std::string text = what + " expected " + TypeTraits<T>::Name() + ", got ";
  if (match == Match::kWrongType) return text + TypeNameOf(value, type_code);
  if (type_code == kMXNetUInt) return text + std::to_string(value.v_uint64);
  if (type_code == kMXNetInt) return text + std::to_string(value.v_int64);
  return text + "a value out of range";
}

inline const char* KindOf(Match match) {
  return match == Match::kOutOfRange ? "OverflowError" : "TypeError";
}

/*! \brief Reads an object of one type index by sharing it. */
template <typename Ref>
Match TryShare(const MXNetValue& value, int type_code, uint32_t type_index, Ref* out) {
  if (ObjectTypeOf(value, type_code) != type_index) return Match::kWrongType;
  *out = Ref(ObjectRef::Borrow(value.v_handle));
  return Match::kOk;
}

template <typename Ref>
void StoreObject(Ref ref, MXNetAny* out) {
  out->type_code = ref.defined() ? TypeCodeOfObject(ref.type_index()) : kMXNetNull;
  out->value.v_handle = ref.Detach();
}

}  // namespace details

/* ---- numbers ---- */

template <>
struct TypeTraits<bool> {
  static std::string Name() { return "bool"; }
  static Match TryFrom(const MXNetValue& value, int type_code, bool* out) {
    if (type_code != kMXNetBool) return Match::kWrongType;
    *out = value.v_int64 != 0;
    return Match::kOk;
  }
  static void Store(bool value, MXNetAny* out) {
    out->type_code = kMXNetBool;
    out->value.v_int64 = value ? 1 : 0;
  }
};

template <typename T>
struct TypeTraits<T, std::enable_if_t<std::is_integral_v<T>>> {
  static std::string Name() {
    if (std::is_same_v<T, int64_t>) return "int";
    return (std::is_signed_v<T> ? "int (int" : "int (uint") + std::to_string(sizeof(T) * 8) + ")";
  }
  static Match TryFrom(const MXNetValue& value, int type_code, T* out) {
    if (type_code == kMXNetInt || type_code == kMXNetBool) {
      *out = static_cast<T>(value.v_int64);
      const bool same_sign = std::is_signed_v<T> || value.v_int64 >= 0;
      return static_cast<int64_t>(*out) == value.v_int64 && same_sign ? Match::kOk
                                                                      : Match::kOutOfRange;
    }
    if (type_code != kMXNetUInt) return Match::kWrongType;
    *out = static_cast<T>(value.v_uint64);
    return std::is_same_v<T, uint64_t> ? Match::kOk : Match::kOutOfRange;
  }
  static void Store(T value, MXNetAny* out) {
    const bool large = std::is_unsigned_v<T> && static_cast<uint64_t>(value) > INT64_MAX;
    out->type_code = large ? kMXNetUInt : kMXNetInt;
    out->value.v_int64 = static_cast<int64_t>(value);
  }
};

template <typename T>
struct TypeTraits<T, std::enable_if_t<std::is_floating_point_v<T>>> {
  static std::string Name() { return "float"; }
  static Match TryFrom(const MXNetValue& value, int type_code, T* out) {
    if (type_code == kMXNetFloat) {
      *out = static_cast<T>(value.v_float64);
    } else if (type_code == kMXNetInt || type_code == kMXNetBool) {
      *out = static_cast<T>(value.v_int64);
    } else if (type_code == kMXNetUInt) {
      *out = static_cast<T>(value.v_uint64);
    } else {
      return Match::kWrongType;
    }
    return Match::kOk;
  }
  static void Store(T value, MXNetAny* out) {
    out->type_code = kMXNetFloat;
    out->value.v_float64 = static_cast<double>(value);
  }
};

template <>
struct TypeTraits<std::complex<double>> {
  static std::string Name() { return "complex"; }
  static Match TryFrom(const MXNetValue& value, int type_code, std::complex<double>* out) {
    if (type_code == kMXNetComplex) {
      *out = {value.v_complex[0], value.v_complex[1]};
      return Match::kOk;
    }
    double real = 0;
    Match match = TypeTraits<double>::TryFrom(value, type_code, &real);
    *out = real;
    return match;
  }
  static void Store(std::complex<double> value, MXNetAny* out) {
    out->type_code = kMXNetComplex;
    out->value.v_complex[0] = value.real();
    out->value.v_complex[1] = value.imag();
  }
};

/* ---- nothing, handles, dtypes and contexts ---- */

template <>
struct TypeTraits<std::nullptr_t> {
  static std::string Name() { return "None"; }
  static Match TryFrom(const MXNetValue&, int type_code, std::nullptr_t* out) {
    *out = nullptr;
    return type_code == kMXNetNull ? Match::kOk : Match::kWrongType;
  }
  static void Store(std::nullptr_t, MXNetAny* out) { out->type_code = kMXNetNull; }
};

template <>
struct TypeTraits<void*> {
  static std::string Name() { return "handle"; }
  static Match TryFrom(const MXNetValue& value, int type_code, void** out) {
    *out = type_code == kMXNetNull ? nullptr : value.v_handle;
    return type_code == kMXNetHandle || type_code == kMXNetNull ? Match::kOk : Match::kWrongType;
  }
  static void Store(void* value, MXNetAny* out) {
    out->type_code = value == nullptr ? kMXNetNull : kMXNetHandle;
    out->value.v_handle = value;
  }
};

namespace details {

inline bool TextOf(const MXNetValue& value, int type_code, std::string_view* out) {
  MXNetAny any{value, type_code, 0};
  return MapKey::AsText(any, out);
}

}  // namespace details

template <>
struct TypeTraits<DLDataType> {
  static std::string Name() { return "dtype"; }
  static Match TryFrom(const MXNetValue& value, int type_code, DLDataType* out) {
    if (type_code == kMXNetType) {
      *out = value.v_type;
      return Match::kOk;
    }
    std::string_view text;
    if (!details::TextOf(value, type_code, &text)) return Match::kWrongType;
    if (ParseDataType(text, out)) return Match::kOk;
    MXNET_THROW("TypeError") << "data type '" << text << "' not understood";
  }
  static void Store(DLDataType value, MXNetAny* out) {
    out->type_code = kMXNetType;
    out->value.v_type = value;
  }
};

template <>
struct TypeTraits<Context> {
  static std::string Name() { return "Context"; }
  static Match TryFrom(const MXNetValue& value, int type_code, Context* out) {
    if (type_code == kMXNetContext) {
      *out = value.v_ctx;
      return Match::kOk;
    }
    std::string_view text;
    if (!details::TextOf(value, type_code, &text)) return Match::kWrongType;
    if (ParseContext(text, out)) return Match::kOk;
    MXNET_THROW("ValueError") << "unknown context '" << text << "'; expected 'cpu' or 'cpu(i)'";
  }
  static void Store(Context value, MXNetAny* out) {
    out->type_code = kMXNetContext;
    out->value.v_ctx = value;
  }
};

/* ---- text and bytes ---- */

template <>
struct TypeTraits<std::string_view> {
  static std::string Name() { return "str"; }
  static Match TryFrom(const MXNetValue& value, int type_code, std::string_view* out) {
    return details::TextOf(value, type_code, out) ? Match::kOk : Match::kWrongType;
  }
  static void Store(std::string_view value, MXNetAny* out) {
    details::StoreObject(String(value), out);
  }
};

template <>
struct TypeTraits<const char*> {
  static void Store(const char* value, MXNetAny* out) { details::StoreObject(String(value), out); }
};

template <>
struct TypeTraits<std::string> {
  static std::string Name() { return "str"; }
  static Match TryFrom(const MXNetValue& value, int type_code, std::string* out) {
    std::string_view text;
    if (!details::TextOf(value, type_code, &text)) return Match::kWrongType;
    *out = std::string(text);
    return Match::kOk;
  }
  static void Store(const std::string& value, MXNetAny* out) {
    details::StoreObject(String(value), out);
  }
};

template <>
struct TypeTraits<String> {
  static std::string Name() { return "str"; }
  static Match TryFrom(const MXNetValue& value, int type_code, String* out) {
    if (type_code != kMXNetStr) {
      return details::TryShare(value, type_code, kMXNetObjectString, out);
    }
    *out = String(std::string_view(value.v_str.data, value.v_str.size));
    return Match::kOk;
  }
  static void Store(String value, MXNetAny* out) { details::StoreObject(std::move(value), out); }
};

template <>
struct TypeTraits<Bytes> {
  static std::string Name() { return "bytes"; }
  static Match TryFrom(const MXNetValue& value, int type_code, Bytes* out) {
    if (type_code != kMXNetBytes) {
      return details::TryShare(value, type_code, kMXNetObjectBytes, out);
    }
    *out = Bytes(std::string_view(value.v_str.data, value.v_str.size));
    return Match::kOk;
  }
  static void Store(Bytes value, MXNetAny* out) { details::StoreObject(std::move(value), out); }
};

/* ---- runs and containers ---- */

template <>
struct TypeTraits<ShapeView> {
  static std::string Name() { return "tuple of int"; }
  static Match TryFrom(const MXNetValue& value, int type_code, ShapeView* out) {
    if (type_code == kMXNetIntTuple || type_code == kMXNetIntList) {
      *out = ShapeView(value.v_ints.data, value.v_ints.size);
      return Match::kOk;
    }
    if (ObjectTypeOf(value, type_code) != kMXNetObjectShape) return Match::kWrongType;
    const MXNetIntArray& ints = static_cast<const MXNetShapeObject*>(value.v_handle)->ints;
    *out = ShapeView(ints.data, ints.size);
    return Match::kOk;
  }
  static void Store(ShapeView value, MXNetAny* out) { details::StoreObject(Shape(value), out); }
};

template <>
struct TypeTraits<Shape> {
  static std::string Name() { return "tuple of int"; }
  static Match TryFrom(const MXNetValue& value, int type_code, Shape* out) {
    if (details::TryShare(value, type_code, kMXNetObjectShape, out) == Match::kOk) {
      return Match::kOk;
    }
    ShapeView view;
    if (TypeTraits<ShapeView>::TryFrom(value, type_code, &view) == Match::kOk) {
      *out = Shape(view);
      return Match::kOk;
    }
    return FromArray(value, type_code, out);
  }
  static void Store(Shape value, MXNetAny* out) { details::StoreObject(std::move(value), out); }

 private:
  /*! \brief An Array or Tuple object whose elements are all integers. */
  static Match FromArray(const MXNetValue& value, int type_code, Shape* out) {
    const uint32_t type = ObjectTypeOf(value, type_code);
    if (type != kMXNetObjectArray && type != kMXNetObjectTuple) return Match::kWrongType;
    const MXNetAnyArray& run = static_cast<const MXNetSeqObject*>(value.v_handle)->items;
    std::vector<int64_t> dims(run.size);
    for (size_t i = 0; i < run.size; ++i) {
      if (run.data[i].type_code != kMXNetInt) return Match::kWrongType;
      dims[i] = run.data[i].value.v_int64;
    }
    *out = Shape(ShapeView(dims));
    return Match::kOk;
  }
};

template <>
struct TypeTraits<Any> {
  static std::string Name() { return "Any"; }
  static Match TryFrom(const MXNetValue& value, int type_code, Any* out) {
    *out = details::Own(value, type_code);
    return Match::kOk;
  }
  static void Store(Any value, MXNetAny* out) { *out = value.Detach(); }
};

template <>
struct TypeTraits<ObjectRef> {
  static std::string Name() { return "object"; }
  static Match TryFrom(const MXNetValue& value, int type_code, ObjectRef* out) {
    if (type_code == kMXNetNull) {
      *out = nullptr;
      return Match::kOk;
    }
    Any any = details::Own(value, type_code);
    if (!IsObjectCode(any.type_code())) return Match::kWrongType;
    *out = ObjectRef::Steal(any.Detach().value.v_handle);
    return Match::kOk;
  }
  static void Store(ObjectRef value, MXNetAny* out) { details::StoreObject(std::move(value), out); }
};

template <>
struct TypeTraits<Tuple> {
  static std::string Name() { return "tuple"; }
  static Match TryFrom(const MXNetValue& value, int type_code, Tuple* out) {
    if (type_code == kMXNetTuple || type_code == kMXNetList) {
      *out = Tuple(details::OwnRun(value.v_seq));
      return Match::kOk;
    }
    ShapeView ints;
    if (TypeTraits<ShapeView>::TryFrom(value, type_code, &ints) == Match::kOk) {
      std::vector<Any> items;
      for (int64_t dim : ints) items.push_back(details::AnyOfInt(dim));
      *out = Tuple(std::move(items));
      return Match::kOk;
    }
    return details::TryShare(value, type_code, kMXNetObjectTuple, out);
  }
  static void Store(Tuple value, MXNetAny* out) { details::StoreObject(std::move(value), out); }
};

namespace details {

/*! \brief Whether every element of a run can be read as T. */
template <typename T>
bool AllMatch(const Any* begin, const Any* end, size_t step) {
  if constexpr (!std::is_same_v<T, Any>) {
    for (const Any* item = begin; item < end; item += step) {
      T ignored{};
      if (TypeTraits<T>::TryFrom(item->value(), item->type_code(), &ignored) != Match::kOk) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace details

template <typename T>
struct TypeTraits<Array<T>> {
  static std::string Name() {
    if constexpr (std::is_same_v<T, Any>) return "list";
    return "list of " + TypeTraits<T>::Name();
  }
  static Match TryFrom(const MXNetValue& value, int type_code, Array<T>* out) {
    Any owned = type_code == kMXNetTuple || type_code == kMXNetIntTuple
                    ? Any()
                    : details::Own(value, type_code);
    if (type_code == kMXNetTuple) {
      owned = details::AnyOfObject(Array<Any>(details::OwnRun(value.v_seq)));
    } else if (type_code == kMXNetIntTuple) {
      owned = details::Own(value, kMXNetIntList);
    }
    if (ObjectTypeOf(owned.value(), owned.type_code()) != kMXNetObjectArray) {
      return Match::kWrongType;
    }
    Array<T> array{ObjectRef::Steal(owned.Detach().value.v_handle)};
    if (!details::AllMatch<T>(array.begin(), array.end(), 1)) return Match::kWrongType;
    *out = std::move(array);
    return Match::kOk;
  }
  static void Store(Array<T> value, MXNetAny* out) { details::StoreObject(std::move(value), out); }
};

template <typename T>
struct TypeTraits<std::vector<T>> {
  static std::string Name() { return "list of " + TypeTraits<T>::Name(); }
  static Match TryFrom(const MXNetValue& value, int type_code, std::vector<T>* out) {
    Array<T> array;
    Match match = TypeTraits<Array<T>>::TryFrom(value, type_code, &array);
    if (match != Match::kOk) return match;
    out->clear();
    out->reserve(array.size());
    for (const Any& item : array) out->push_back(item.As<T>());
    return Match::kOk;
  }
  static void Store(const std::vector<T>& value, MXNetAny* out) {
    details::StoreObject(Array<T>(value), out);
  }
};

template <typename K, typename V>
struct TypeTraits<Map<K, V>> {
  static std::string Name() {
    if constexpr (std::is_same_v<K, Any> && std::is_same_v<V, Any>) return "dict";
    return "dict of " + TypeTraits<K>::Name() + " to " + TypeTraits<V>::Name();
  }
  static Match TryFrom(const MXNetValue& value, int type_code, Map<K, V>* out) {
    Any owned = details::Own(value, type_code);
    if (ObjectTypeOf(owned.value(), owned.type_code()) != kMXNetObjectMap) {
      return Match::kWrongType;
    }
    Map<K, V> map{ObjectRef::Steal(owned.Detach().value.v_handle)};
    if (map.size() > 0) {
      const Any* begin = &map.key(0);
      const Any* end = begin + 2 * map.size();
      if (!details::AllMatch<K>(begin, end, 2) || !details::AllMatch<V>(begin + 1, end, 2)) {
        return Match::kWrongType;
      }
    }
    *out = std::move(map);
    return Match::kOk;
  }
  static void Store(Map<K, V> value, MXNetAny* out) { details::StoreObject(std::move(value), out); }
};

template <typename T>
struct TypeTraits<std::optional<T>> {
  static std::string Name() { return TypeTraits<T>::Name() + " or None"; }
  static Match TryFrom(const MXNetValue& value, int type_code, std::optional<T>* out) {
    if (type_code == kMXNetNull) {
      out->reset();
      return Match::kOk;
    }
    T inner{};
    Match match = TypeTraits<T>::TryFrom(value, type_code, &inner);
    if (match == Match::kOk) *out = std::move(inner);
    return match;
  }
  static void Store(std::optional<T> value, MXNetAny* out) {
    if (value) {
      TypeTraits<T>::Store(std::move(*value), out);
    } else {
      out->type_code = kMXNetNull;
    }
  }
};

/* ---- arrays ---- */

template <>
struct TypeTraits<const DLTensor*> {
  static std::string Name() { return "ndarray"; }
  static Match TryFrom(const MXNetValue& value, int type_code, const DLTensor** out) {
    if (type_code == kMXNetNDArrayHandle) {
      *out = &static_cast<const MXNetNDArrayObject*>(value.v_handle)->tensor;
    } else if (type_code == kMXNetArrayHandle || type_code == kMXNetReadOnlyArray) {
      *out = static_cast<const DLTensor*>(value.v_handle);
    } else {
      return Match::kWrongType;
    }
    return Match::kOk;
  }
};

template <>
struct TypeTraits<DLTensor*> {
  static std::string Name() { return "writable ndarray"; }
  static Match TryFrom(const MXNetValue& value, int type_code, DLTensor** out) {
    if (type_code == kMXNetNDArrayHandle) {
      auto* array = static_cast<MXNetNDArrayObject*>(value.v_handle);
      *out = &array->tensor;
      return (array->flags & kMXNetNDArrayReadOnly) == 0 ? Match::kOk : ReadOnly();
    }
    *out = static_cast<DLTensor*>(value.v_handle);
    if (type_code == kMXNetReadOnlyArray) return ReadOnly();
    return type_code == kMXNetArrayHandle ? Match::kOk : Match::kWrongType;
  }

 private:
  static Match ReadOnly() {
    MXNET_THROW("ValueError") << "the array is read-only and would be written";
  }
};

template <>
struct TypeTraits<NDArray> {
  static std::string Name() { return "ndarray"; }
  static Match TryFrom(const MXNetValue& value, int type_code, NDArray* out) {
    if (type_code == kMXNetArrayHandle || type_code == kMXNetReadOnlyArray) {
      *out = details::CopyOfTensor(*static_cast<const DLTensor*>(value.v_handle));
      return Match::kOk;
    }
    return details::TryShare(value, type_code, kMXNetObjectNDArray, out);
  }
  static void Store(NDArray value, MXNetAny* out) { details::StoreObject(std::move(value), out); }
};

/* ---- what the traits complete ---- */

namespace details {

/*! \brief TryFrom, whose own errors are said of what(). */
template <typename T, typename What>
Match ReadNamed(const MXNetValue& value, int type_code, T* out, const What& what) {
  try {
    return TypeTraits<T>::TryFrom(value, type_code, out);
  } catch (const Error& error) {
    throw error.In(what());
  }
}

template <typename T, typename What>
T ReadOrThrow(const MXNetValue& value, int type_code, const What& what) {
  T out{};
  Match match = ReadNamed(value, type_code, &out, what);
  if (match != Match::kOk) {
    MXNET_THROW(KindOf(match)) << MismatchText<T>(match, what(), value, type_code);
  }
  return out;
}

template <typename T>
Any ToAny(T&& value) {
  MXNetAny raw{};
  TypeTraits<std::decay_t<T>>::Store(std::forward<T>(value), &raw);
  return Any::Steal(raw);
}

}  // namespace details

template <typename T>
T Any::As() const {
  return details::ReadOrThrow<T>(value(), type_code(), [] { return std::string("the value"); });
}

template <typename T>
Array<T>::Array(const std::vector<T>& items) {
  std::vector<Any> values;
  values.reserve(items.size());
  for (const T& item : items) values.push_back(details::ToAny(T(item)));
  *this = Array<T>(std::move(values));
}

template <typename K, typename V>
Map<K, V>::Map(std::initializer_list<std::pair<K, V>> entries) {
  std::vector<Any> items;
  for (const auto& entry : entries) {
    items.push_back(details::ToAny(K(entry.first)));
    items.push_back(details::ToAny(V(entry.second)));
  }
  *this = Map(std::move(items));
}

template <typename K, typename V>
bool Map<K, V>::count(const K& key) const {
  return details::FindEntry(object(), details::ToAny(K(key)).raw()) >= 0;
}

template <typename K, typename V>
V Map<K, V>::at(const K& key) const {
  int64_t entry = details::FindEntry(object(), details::ToAny(K(key)).raw());
  if (entry < 0) MXNET_THROW("KeyError") << "the map has no such key";
  if constexpr (std::is_same_v<V, Any>) return value(static_cast<size_t>(entry));
  return value(static_cast<size_t>(entry)).template As<V>();
}

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_TYPE_TRAITS_H_
