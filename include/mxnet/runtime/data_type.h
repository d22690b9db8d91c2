/*!
 * \file mxnet/runtime/data_type.h
 * \brief Names of element types and contexts, and their comparison.
 */
#ifndef MXNET_RUNTIME_DATA_TYPE_H_
#define MXNET_RUNTIME_DATA_TYPE_H_

#include <mxnet/runtime/error.h>

#include <cstring>
#include <string>
#include <string_view>

namespace mxnet {
namespace runtime {

/*! \brief A device, as the front end calls it. */
using Context = DLDevice;

constexpr DLDataType kBool{kDLBool, 8, 1};
constexpr DLDataType kInt8{kDLInt, 8, 1};
constexpr DLDataType kInt16{kDLInt, 16, 1};
constexpr DLDataType kInt32{kDLInt, 32, 1};
constexpr DLDataType kInt64{kDLInt, 64, 1};
constexpr DLDataType kUInt8{kDLUInt, 8, 1};
constexpr DLDataType kUInt16{kDLUInt, 16, 1};
constexpr DLDataType kUInt32{kDLUInt, 32, 1};
constexpr DLDataType kUInt64{kDLUInt, 64, 1};
constexpr DLDataType kFloat16{kDLFloat, 16, 1};
constexpr DLDataType kBFloat16{kDLBfloat, 16, 1};
constexpr DLDataType kFloat32{kDLFloat, 32, 1};
constexpr DLDataType kFloat64{kDLFloat, 64, 1};
constexpr DLDataType kComplex64{kDLComplex, 64, 1};
constexpr DLDataType kComplex128{kDLComplex, 128, 1};

namespace details MXNET_HIDDEN {

/*! \brief The last eight characters as one number, which differs for nearly all different names. */
constexpr uint64_t NameKey(std::string_view name) noexcept {
  uint64_t key = 0;
  for (char c : name) key = key << 8 | static_cast<unsigned char>(c);
  return key;
}

struct NamedType {
  constexpr NamedType(std::string_view type_name, DLDataType type) noexcept
      : key(NameKey(type_name)), name(type_name), dtype(type) {}

  uint64_t key;
  std::string_view name;
  DLDataType dtype;
};

constexpr NamedType kNamedTypes[] = {
    {"float32", kFloat32},
    {"float64", kFloat64},
    {"int64", kInt64},
    {"int32", kInt32},
    {"bool", kBool},
    {"float16", kFloat16},
    {"bfloat16", kBFloat16},
    {"int8", kInt8},
    {"uint8", kUInt8},
    {"int16", kInt16},
    {"uint16", kUInt16},
    {"uint32", kUInt32},
    {"uint64", kUInt64},
    {"complex64", kComplex64},
    {"complex128", kComplex128},
    {"float8_e3m4", {7, 8, 1}},
    {"float8_e4m3", {8, 8, 1}},
    {"float8_e4m3b11fnuz", {9, 8, 1}},
    {"float8_e4m3fn", {10, 8, 1}},
    {"float8_e4m3fnuz", {11, 8, 1}},
    {"float8_e5m2", {12, 8, 1}},
    {"float8_e5m2fnuz", {13, 8, 1}},
    {"float8_e8m0fnu", {14, 8, 1}},
    {"float", kFloat64},
    {"int", kInt64},
    {"double", kFloat64},
    {"complex", kComplex128},
    {"half", kFloat16},
    {"single", kFloat32},
    {"f2", kFloat16},
    {"f4", kFloat32},
    {"f8", kFloat64},
    {"i1", kInt8},
    {"i2", kInt16},
    {"i4", kInt32},
    {"i8", kInt64},
    {"u1", kUInt8},
    {"u2", kUInt16},
    {"u4", kUInt32},
    {"u8", kUInt64},
    {"c8", kComplex64},
    {"c16", kComplex128},
    {"b1", kBool},
    {"?", kBool},
};

}  // namespace details MXNET_HIDDEN

inline bool operator==(const DLDataType& a, const DLDataType& b) noexcept {
  return std::memcmp(&a, &b, sizeof(DLDataType)) == 0;
}
inline bool operator!=(const DLDataType& a, const DLDataType& b) noexcept { return !(a == b); }
inline bool operator==(const DLDevice& a, const DLDevice& b) noexcept {
  return a.device_type == b.device_type && a.device_id == b.device_id;
}
inline bool operator!=(const DLDevice& a, const DLDevice& b) noexcept { return !(a == b); }

/*! \brief Parses "float32", "f4" and the like; false where the name is unknown. */
inline bool ParseDataType(std::string_view name, DLDataType* out) noexcept {
  const uint64_t key = details::NameKey(name);
  for (const details::NamedType& entry : details::kNamedTypes) {
    if (entry.key == key && entry.name == name) {
      *out = entry.dtype;
      return true;
    }
  }
  return false;
}

/*! \brief The full name, "float32". A type without one is written as code, bits and lanes. */
inline std::string DataTypeName(DLDataType dtype) {
  for (const details::NamedType& entry : details::kNamedTypes) {
    if (entry.dtype == dtype) return std::string(entry.name);
  }
  return "dtype(code=" + std::to_string(dtype.code) + ", bits=" + std::to_string(dtype.bits) +
         ", lanes=" + std::to_string(dtype.lanes) + ")";
}

/*! \brief Bytes of one element. */
inline int64_t ItemSize(DLDataType dtype) noexcept {
  return (static_cast<int64_t>(dtype.bits) * dtype.lanes + 7) / 8;
}

namespace details MXNET_HIDDEN {

/*!
 * \brief Asks the runtime about a kind of device, which accelerators add to; 0 where it knows none.
 *
 * By a function of the registry, so that a runtime without it says just that. Throws why a library
 * that has such devices did not load.
 */
[[gnu::cold]] inline int64_t AskOfDevice(const char* function, MXNetValue argument, int type_code) {
  MXNetFunctionHandle func = nullptr;
  MXNetValue result;
  int result_code = kMXNetNull;
  if (MXNetFuncGetGlobal(function, &func) != 0 || func == nullptr) return 0;
  const int status = MXNetFuncCall(func, &argument, &type_code, 1, &result, &result_code);
  MXNetFuncFree(func);
  MXNET_CHECK_CALL(status);
  return result_code == kMXNetInt ? result.v_int64 : 0;
}

/*! \brief The number of the kind of device of that name; 0 where there is none. */
inline int DeviceKindNumber(std::string_view name) {
  if (name == "cpu") return kDLCPU;
  MXNetValue value;
  value.v_str = MXNetByteArray{name.data(), name.size()};
  return static_cast<int>(AskOfDevice("runtime.device_kind_number", value, kMXNetStr));
}

}  // namespace details MXNET_HIDDEN

/*!
 * \brief Parses "cpu", "cpu(1)" and the like; false where the text is no context. Throws why an
 * accelerator of that name did not load, if one was found.
 */
inline bool ParseContext(std::string_view text, Context* out) {
  const bool is_cpu = text.substr(0, 4) == "cpu(";
  const std::string_view name = text.substr(0, is_cpu ? 3 : text.find('('));
  text.remove_prefix(name.size());
  int64_t id = 0;
  if (!text.empty()) {
    if (text.size() < 3 || text.size() > 12 || text.back() != ')') return false;
    for (char c : text.substr(1, text.size() - 2)) {
      if (c < '0' || c > '9') return false;
      id = id * 10 + (c - '0');
    }
    if (id > INT32_MAX) return false;
  }
  const int kind = details::DeviceKindNumber(name);
  *out = Context{static_cast<DLDeviceType>(kind), static_cast<int32_t>(id)};
  return kind != 0;
}

/*! \brief The name of a kind of device, "cpu". */
inline std::string DeviceKindName(int device_type) {
  if (device_type == kDLCPU) return "cpu";
  MXNetValue value;
  value.v_int64 = device_type;
  const int64_t name = details::AskOfDevice("runtime.device_kind_name", value, kMXNetInt);
  return name != 0 ? reinterpret_cast<const char*>(static_cast<intptr_t>(name))
                   : "device" + std::to_string(device_type);
}

/*! \brief "cpu(0)". */
inline std::string ContextName(const Context& ctx) {
  return DeviceKindName(ctx.device_type) + "(" + std::to_string(ctx.device_id) + ")";
}

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_DATA_TYPE_H_
