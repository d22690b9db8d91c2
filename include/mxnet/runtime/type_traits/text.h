/*!
 * \file mxnet/runtime/type_traits/text.h
 * \brief Text and bytes.
 */
#ifndef MXNET_RUNTIME_TYPE_TRAITS_TEXT_H_
#define MXNET_RUNTIME_TYPE_TRAITS_TEXT_H_

#include <mxnet/runtime/type_traits/base.h>
#include <mxnet/runtime/type_traits/plain.h>

#include <string>
#include <string_view>
#include <utility>

namespace mxnet {
namespace runtime MXNET_HIDDEN {

template <>
struct TypeTraits<std::string_view> {
  [[gnu::cold]] static std::string Name() { return "str"; }
  [[gnu::cold]] static std::string Annotation() { return "str"; }
  static Match TryFrom(const MXNetValue& value, int type_code, std::string_view* out) {
    return details::TextOf(value, type_code, out) ? Match::kOk : Match::kWrongType;
  }
  static void Store(std::string_view value, MXNetAny* out) {
    details::StoreObject(String(value), out);
  }
};

template <>
struct TypeTraits<const char*> {
  [[gnu::cold]] static std::string Annotation() { return "str"; }
  static void Store(const char* value, MXNetAny* out) { details::StoreObject(String(value), out); }
};

template <>
struct TypeTraits<std::string> {
  [[gnu::cold]] static std::string Name() { return "str"; }
  [[gnu::cold]] static std::string Annotation() { return "str"; }
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
  [[gnu::cold]] static std::string Name() { return "str"; }
  [[gnu::cold]] static std::string Annotation() { return "str"; }
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
  [[gnu::cold]] static std::string Name() { return "bytes"; }
  [[gnu::cold]] static std::string Annotation() { return "bytes"; }
  static Match TryFrom(const MXNetValue& value, int type_code, Bytes* out) {
    if (type_code != kMXNetBytes) {
      return details::TryShare(value, type_code, kMXNetObjectBytes, out);
    }
    *out = Bytes(std::string_view(value.v_str.data, value.v_str.size));
    return Match::kOk;
  }
  static void Store(Bytes value, MXNetAny* out) { details::StoreObject(std::move(value), out); }
};

}  // namespace runtime MXNET_HIDDEN
}  // namespace mxnet

#endif  // MXNET_RUNTIME_TYPE_TRAITS_TEXT_H_
