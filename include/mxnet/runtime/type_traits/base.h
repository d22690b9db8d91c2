/*!
 * \file mxnet/runtime/type_traits/base.h
 * \brief What every specialization of TypeTraits builds on.
 */
#ifndef MXNET_RUNTIME_TYPE_TRAITS_BASE_H_
#define MXNET_RUNTIME_TYPE_TRAITS_BASE_H_

#include <mxnet/runtime/any.h>
#include <mxnet/runtime/container/array.h>
#include <mxnet/runtime/container/dict.h>
#include <mxnet/runtime/container/list.h>
#include <mxnet/runtime/container/map.h>
#include <mxnet/runtime/container/shape.h>
#include <mxnet/runtime/container/string.h>
#include <mxnet/runtime/ndarray.h>
#include <mxnet/runtime/type_traits/annotation.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mxnet {
namespace runtime MXNET_HIDDEN {

/*! \brief Outcome of reading a value as a type. */
enum class Match { kOk, kWrongType, kOutOfRange };

template <typename T, typename = void>
struct TypeTraits;

namespace details MXNET_HIDDEN {

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
  // Without elements there may be no memory, and the other extents may be of any size.
  if (copy.size() == 0) return copy;
  const char* from = static_cast<const char*>(TensorData(src));
  char* to = copy.data_as<char>();
  if (IsContiguous(src)) {
    std::memcpy(to, from, static_cast<size_t>(copy.size() * ItemSize(src.dtype)));
  } else {
    CopyStrided(src, 0, from, &to);
  }
  return copy;
}

/*! \brief An array that shares the memory of a borrowed tensor. */
inline NDArray ShareBorrowed(const MXNetValue& value) {
  MXNetNDArrayHandle handle;
  MXNET_CHECK_CALL(
      MXNetNDArrayFromBorrowed(static_cast<const MXNetBorrowedTensor*>(value.v_handle), &handle));
  return NDArray(ObjectRef::Steal(handle));
}

inline Any Own(const MXNetValue& value, int type_code) {
  switch (type_code) {
    case kMXNetStr:
    case kMXNetKeyword:
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
    case kMXNetBorrowedArray:
      return AnyOfObject(ShareBorrowed(value));
    default: {
      MXNetAny raw{};
      raw.value = value;
      raw.type_code = type_code;
      return Any::Share(raw);
    }
  }
}

/*! \brief The elements of an object that is a span of values; NULL for any other value. */
inline const MXNetAnyArray* ItemsOf(const MXNetValue& value, int type_code) noexcept {
  switch (ObjectTypeOf(value, type_code)) {
    case kMXNetObjectTuple:
    case kMXNetObjectArray:
    case kMXNetObjectList:  // begins as the others do
      return &static_cast<const MXNetSeqObject*>(value.v_handle)->items;
    default:
      return nullptr;
  }
}

/*! \brief Reads one value as T, or throws. `what` names the value, "argument 0 ('shape')". */
template <typename T, typename What>
T ReadOrThrow(const MXNetValue& value, int type_code, const What& what);

/*! \brief "function", or what the front end says of a callable of its own: "the class str". */
[[gnu::cold]] inline std::string CallableKind(const MXNetValue& value) {
  MXNetFunctionHandle teller = nullptr;
  if (MXNetFuncGetGlobal("ffi.callable_kind", &teller) != 0 || teller == nullptr) return "function";
  const int type_code = kMXNetFuncHandle;
  Any told;
  std::string_view text("function");
  const int status = told.Receive([&](MXNetValue* ret, int* ret_code) {
    return MXNetFuncCall(teller, &value, &type_code, 1, ret, ret_code);
  });
  MXNetFuncFree(teller);
  if (status == 0) MapKey::AsText(told.raw(), &text);
  return std::string(text);
}

/*! \brief A container holds what is out of range; any other value is it. */
[[gnu::cold]] inline std::string GotText(Match match, const MXNetValue& value, int type_code) {
  if (match == Match::kOutOfRange && type_code == kMXNetUInt) return std::to_string(value.v_uint64);
  if (match == Match::kOutOfRange && type_code == kMXNetInt) return std::to_string(value.v_int64);
  if (match == Match::kOutOfRange && type_code == kMXNetFloat) {
    char text[32];
    std::snprintf(text, sizeof(text), "%g", value.v_float64);
    return text;
  }
  return type_code == kMXNetFuncHandle ? CallableKind(value) : TypeNameOf(value, type_code);
}

[[gnu::cold]] inline std::string MismatchText(Match match, const std::string& what,
                                              const std::string& expected, const MXNetValue& value,
                                              int type_code) {
  return what + " expected " + expected + ", got " + GotText(match, value, type_code);
}

/*!
 * \brief Where in a container a value is not what T says, ": item 2 is str"; empty for what holds
 * no others. A specialization beside that of TypeTraits.
 */
template <typename T, typename = void>
struct Culprit {
  [[gnu::cold]] static std::string Of(const MXNetValue&, int) { return ""; }
};

/*! \brief The text for one element, called name; empty where it is a T. */
template <typename T>
[[gnu::cold]] std::string CulpritAt(const std::string& name, const MXNetAny& element) {
  T ignored{};
  const Match match = TypeTraits<T>::TryFrom(element.value, element.type_code, &ignored);
  if (match == Match::kOk) return "";
  const std::string inside = Culprit<T>::Of(element.value, element.type_code);
  if (!inside.empty()) return ": " + name + inside.substr(1);
  return ": " + name + " is " + GotText(match, element.value, element.type_code);
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

}  // namespace details MXNET_HIDDEN

}  // namespace runtime MXNET_HIDDEN
}  // namespace mxnet

#endif  // MXNET_RUNTIME_TYPE_TRAITS_BASE_H_
