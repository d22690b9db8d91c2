/*!
 * \file mxnet/runtime/type_traits/plain.h
 * \brief Nothing, opaque handles, element types and contexts.
 */
#ifndef MXNET_RUNTIME_TYPE_TRAITS_PLAIN_H_
#define MXNET_RUNTIME_TYPE_TRAITS_PLAIN_H_

#include <mxnet/runtime/type_traits/base.h>

#include <string>
#include <string_view>

namespace mxnet {
namespace runtime MXNET_HIDDEN {

template <>
struct TypeTraits<std::nullptr_t> {
  [[gnu::cold]] static std::string Name() { return "None"; }
  [[gnu::cold]] static std::string Annotation() { return "None"; }
  static Match TryFrom(const MXNetValue&, int type_code, std::nullptr_t* out) {
    *out = nullptr;
    return type_code == kMXNetNull ? Match::kOk : Match::kWrongType;
  }
  static void Store(std::nullptr_t, MXNetAny* out) { out->type_code = kMXNetNull; }
};

template <>
struct TypeTraits<void*> {
  [[gnu::cold]] static std::string Name() { return "handle"; }
  [[gnu::cold]] static std::string Annotation() { return "int | None"; }
  static Match TryFrom(const MXNetValue& value, int type_code, void** out) {
    *out = type_code == kMXNetNull ? nullptr : value.v_handle;
    return type_code == kMXNetHandle || type_code == kMXNetNull ? Match::kOk : Match::kWrongType;
  }
  static void Store(void* value, MXNetAny* out) {
    out->type_code = value == nullptr ? kMXNetNull : kMXNetHandle;
    out->value.v_handle = value;
  }
};

namespace details MXNET_HIDDEN {

inline bool TextOf(const MXNetValue& value, int type_code, std::string_view* out) {
  MXNetAny any{value, type_code, 0};
  return MapKey::AsText(any, out);
}

}  // namespace details MXNET_HIDDEN

template <>
struct TypeTraits<DLDataType> {
  [[gnu::cold]] static std::string Name() { return "dtype"; }
  [[gnu::cold]] static std::string Annotation() { return "numpy.dtype[Any]"; }
  [[gnu::cold]] static std::string ArgumentAnnotation() { return "DTypeLike"; }
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
  [[gnu::cold]] static std::string Name() { return "Context"; }
  [[gnu::cold]] static std::string Annotation() { return "ffi.Context"; }
  [[gnu::cold]] static std::string ArgumentAnnotation() { return "ffi.Context | str"; }
  static Match TryFrom(const MXNetValue& value, int type_code, Context* out) {
    if (type_code == kMXNetContext) {
      *out = value.v_ctx;
      return Match::kOk;
    }
    std::string_view text;
    if (!details::TextOf(value, type_code, &text)) return Match::kWrongType;
    if (ParseContext(text, out)) return Match::kOk;
    MXNET_THROW("ValueError")
        << "unknown context '" << text
        << "'; expected 'cpu', 'cpu(i)', or so with the name of an accelerator "
           "that mx.load_acc has loaded or mx.accelerators() lists";
  }
  static void Store(Context value, MXNetAny* out) {
    out->type_code = kMXNetContext;
    out->value.v_ctx = value;
  }
};

}  // namespace runtime MXNET_HIDDEN
}  // namespace mxnet

#endif  // MXNET_RUNTIME_TYPE_TRAITS_PLAIN_H_
