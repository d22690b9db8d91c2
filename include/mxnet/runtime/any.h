/*!
 * \file mxnet/runtime/any.h
 * \brief Any: an owned value of any kind; and the names of kinds that error messages use.
 */
#ifndef MXNET_RUNTIME_ANY_H_
#define MXNET_RUNTIME_ANY_H_

#include <mxnet/runtime/error.h>

#include <string>

namespace mxnet {
namespace runtime {

/* MXNet's older names of the type codes. */
constexpr int kNull = kMXNetNull;
constexpr int kStr = kMXNetStr;
constexpr int kBytes = kMXNetBytes;
constexpr int kObjectHandle = kMXNetObjectHandle;
constexpr int kFuncHandle = kMXNetFuncHandle;
constexpr int kNDArrayHandle = kMXNetNDArrayHandle;
constexpr int kArrayHandle = kMXNetArrayHandle;

/*! \brief Whether the value holds a counted reference to an object. */
inline bool IsObjectCode(int type_code) noexcept {
  return type_code == kMXNetObjectHandle || type_code == kMXNetFuncHandle ||
         type_code == kMXNetNDArrayHandle || type_code == kMXNetModuleHandle;
}

/*! \brief Type index of the object a value holds, kMXNetObjectNone where it holds none. */
inline uint32_t ObjectTypeOf(const MXNetValue& value, int type_code) noexcept {
  if (!IsObjectCode(type_code) || value.v_handle == nullptr) return kMXNetObjectNone;
  return static_cast<const MXNetObject*>(value.v_handle)->type_index;
}

/*! \brief The type code under which an object of this type index travels. */
inline int TypeCodeOfObject(uint32_t type_index) noexcept {
  if (type_index == kMXNetObjectFunction) return kMXNetFuncHandle;
  if (type_index == kMXNetObjectNDArray) return kMXNetNDArrayHandle;
  return kMXNetObjectHandle;
}

/*! \brief What a person would call the kind of this value: "int", "list", "ndarray". */
[[gnu::cold]] inline std::string TypeNameOf(const MXNetValue& value, int type_code) {
  switch (type_code) {
    case kMXNetInt:
    case kMXNetUInt:
      return "int";
    case kMXNetFloat:
      return "float";
    case kMXNetBool:
      return "bool";
    case kMXNetComplex:
      return "complex";
    case kMXNetHandle:
      return "handle";
    case kMXNetNull:
      return "None";
    case kMXNetType:
      return "dtype";
    case kMXNetContext:
      return "Context";
    case kMXNetArrayHandle:
    case kMXNetReadOnlyArray:
    case kMXNetBorrowedArray:
    case kMXNetNDArrayHandle:
      return "ndarray";
    case kMXNetFuncHandle:
      return "function";
    case kMXNetStr:
      return "str";
    case kMXNetKeyword:
      return "keyword";
    case kMXNetBytes:
      return "bytes";
    case kMXNetIntTuple:
    case kMXNetTuple:
      return "tuple";
    case kMXNetIntList:
    case kMXNetList:
      return "list";
    case kMXNetDict:
      return "dict";
    case kMXNetMissing:
      return "nothing";
    default:
      break;
  }
  const char* key = nullptr;
  if (type_code == kMXNetEnum &&
      MXNetObjectTypeIndex2Key(static_cast<uint32_t>(value.v_enum.type_index), &key) == 0) {
    return key;
  }
  switch (ObjectTypeOf(value, type_code)) {
    case kMXNetObjectString:
      return "str";
    case kMXNetObjectBytes:
      return "bytes";
    case kMXNetObjectShape:
    case kMXNetObjectTuple:
      return "tuple";
    case kMXNetObjectArray:
      return "Array";
    case kMXNetObjectMap:
      return "Map";
    case kMXNetObjectList:
      return "List";
    case kMXNetObjectDict:
      return "Dict";
    default:
      if (MXNetObjectTypeIndex2Key(ObjectTypeOf(value, type_code), &key) == 0) return key;
      return "value with type code " + std::to_string(type_code);
  }
}

/*! \brief An owned value: a number, a dtype, a context, nothing, or a reference to an object. */
class Any {
 public:
  Any() noexcept { Reset(); }
  Any(const Any& other) noexcept : data_(other.data_) { RetainIfObject(); }
  Any(Any&& other) noexcept : data_(other.data_) { other.Reset(); }
  Any& operator=(Any other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  ~Any() { ReleaseIfObject(); }

  /*! \brief Of whatever has TypeTraits, `Any::Of(1.5)`. Defined in type_traits.h. */
  template <typename T>
  MXNET_HIDDEN static Any Of(T&& value);
  /*! \brief Takes over an owned value. */
  static Any Steal(const MXNetAny& data) noexcept {
    Any any;
    any.data_ = data;
    return any;
  }
  /*! \brief Shares a value that is owned by somebody else; it must not be a borrowed one. */
  static Any Share(const MXNetAny& data) noexcept {
    Any any = Steal(data);
    any.RetainIfObject();
    return any;
  }
  /*!
   * \brief Replaces the value by an object; an undefined reference is nothing.
   *
   * Only the handle is written, not the whole of MXNetValue: a 16-byte load right behind an 8-byte
   * store, as a copy of the union is, stalls the processor for longer than the rest takes.
   */
  void HoldObject(ObjectRef ref) noexcept {
    ReleaseIfObject();
    data_.type_code = ref.defined() ? TypeCodeOfObject(ref.type_index()) : kMXNetNull;
    data_.value.v_handle = ref.Detach();
  }
  /*!
   * \brief Replaces the value by what a C function returns: call(MXNetValue*, int* type_code).
   *
   * Returns its status; the value is nothing where it fails. It is written where it stays, for a
   * copy would stall as it would in HoldObject.
   */
  template <typename Call>
  int Receive(const Call& call) {
    ReleaseIfObject();
    data_.type_code = kMXNetNull;
    int type_code = kMXNetNull;
    const int status = call(&data_.value, &type_code);
    if (status == 0) data_.type_code = type_code;
    return status;
  }
  /*! \brief Gives the value, and the reference it may hold, up to the caller. */
  MXNetAny Detach() noexcept {
    MXNetAny data = data_;
    Reset();
    return data;
  }

  /*! \brief Gives the value up as a function returns it. */
  void MoveTo(MXNetValue* value, int* type_code) noexcept {
    if (IsObjectCode(data_.type_code)) {
      value->v_handle = data_.value.v_handle;  // a narrow copy, see HoldObject
    } else {
      *value = data_.value;
    }
    *type_code = data_.type_code;
    data_.type_code = kMXNetNull;
  }

  int type_code() const noexcept { return data_.type_code; }
  const MXNetValue& value() const noexcept { return data_.value; }
  const MXNetAny& raw() const noexcept { return data_; }
  bool is_null() const noexcept { return data_.type_code == kMXNetNull; }

  /*! \brief Converts, or throws a TypeError or OverflowError. Defined in type_traits.h. */
  template <typename T>
  MXNET_HIDDEN T As() const;

 private:
  void Reset() noexcept {
    data_ = MXNetAny{};
    data_.type_code = kMXNetNull;
  }
  void RetainIfObject() noexcept {
    if (IsObjectCode(data_.type_code)) details::Retain(static_cast<Object*>(data_.value.v_handle));
  }

  void ReleaseIfObject() noexcept {
    if (IsObjectCode(data_.type_code)) details::Release(static_cast<Object*>(data_.value.v_handle));
  }

  MXNetAny data_;
};

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_ANY_H_
