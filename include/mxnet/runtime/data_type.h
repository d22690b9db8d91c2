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

namespace details {

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

}  // namespace details

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

/*! \brief Parses "cpu" and "cpu(1)"; false where the text is no context. */
inline bool ParseContext(std::string_view text, Context* out) noexcept {
  if (text.substr(0, 3) != "cpu") return false;
  text.remove_prefix(3);
  int64_t id = 0;
  if (!text.empty()) {
    if (text.size() < 3 || text.size() > 12 || text.front() != '(' || text.back() != ')') {
      return false;
    }
    for (char c : text.substr(1, text.size() - 2)) {
      if (c < '0' || c > '9') return false;
      id = id * 10 + (c - '0');
    }
    if (id > INT32_MAX) return false;
  }
  *out = Context{kDLCPU, static_cast<int32_t>(id)};
  return true;
}

/*! \brief "cpu(0)". */
inline std::string ContextName(const Context& ctx) {
  std::string kind = ctx.device_type == kDLCPU
                         ? "cpu"
                         : "device" + std::to_string(static_cast<int>(ctx.device_type));
  return kind + "(" + std::to_string(ctx.device_id) + ")";
}

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_DATA_TYPE_H_
