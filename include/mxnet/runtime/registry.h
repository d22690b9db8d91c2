/*!
 * \file mxnet/runtime/registry.h
 * \brief MXNET_REGISTER_API: puts a function, with its description, into the global registry.
 *
 *   MXNET_REGISTER_API("_npi.zeros")
 *       .describe("Return a new array of given shape and type, filled with zeros.")
 *       .add_argument("shape", "int | tuple[int, ...]", "Extents of the array.")
 *       .add_argument("dtype", "DTypeLike | None", nullptr, "Element type; float32 if None.")
 *       .set_body([](MXNetArgs args, MXNetRetValue* ret) { ... });
 */
#ifndef MXNET_RUNTIME_REGISTRY_H_
#define MXNET_RUNTIME_REGISTRY_H_

#include <mxnet/runtime/packed_func.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace mxnet {
namespace runtime {

/*! \brief Collects the one description of a function. */
class Registry {
 public:
  Registry(std::string name, const char* file, int line)
      : name_(std::move(name)), file_(file), line_(line) {}

  /*! \brief What the function does; its first line is a summary. */
  Registry& describe(std::string doc) {
    doc_ = std::move(doc);
    return *this;
  }
  /*! \brief A parameter that must be given. type is a Python type expression. */
  Registry& add_argument(std::string name, std::string type, std::string doc) {
    return Add(std::move(name), std::move(type), std::move(doc), kMXNetParamRequired, Any());
  }
  /*! \brief A parameter with a default: nullptr, a bool, a number, a string. */
  template <typename T>
  Registry& add_argument(std::string name, std::string type, T default_value, std::string doc) {
    return Add(std::move(name), std::move(type), std::move(doc), kMXNetParamOptional,
               details::ToAny(std::move(default_value)));
  }
  /*! \brief Any number of further arguments. */
  Registry& add_variadic(std::string name, std::string type, std::string doc) {
    return Add(std::move(name), std::move(type), std::move(doc), kMXNetParamVariadic, Any());
  }
  /*! \brief A parameter of the front-end signature that accepts its default only. */
  template <typename T>
  Registry& add_frontend_argument(std::string name, std::string type, T default_value,
                                  std::string doc) {
    return Add(std::move(name), std::move(type), std::move(doc),
               kMXNetParamOptional | kMXNetParamFrontEnd, details::ToAny(std::move(default_value)));
  }
  /*! \brief Python type expression of the result. */
  Registry& returns(std::string type) {
    returns_ = std::move(type);
    return *this;
  }
  /*! \brief Let Python run other threads meanwhile, if the arguments hold at least that much. */
  Registry& release_gil(int64_t min_bytes = 0) {
    release_bytes_ = min_bytes;
    return *this;
  }
  /*! \brief The body, a lambda `void(MXNetArgs args, MXNetRetValue* ret)`. */
  template <typename F>
  Registry& set_body(F body) {
    body_ = PackedFunc(std::move(body));
    return *this;
  }
  /*! \brief Any lambda; its parameter types are checked at the call. */
  template <typename F>
  Registry& set_body_typed(F body) {
    using Signature = details::FunctionSignature<F>;
    TakeTypes(static_cast<typename Signature::Arguments*>(nullptr));
    return set_body(details::PackTyped(std::move(body)));
  }
  /*! \brief Replaces what is registered under the name already. */
  Registry& override_existing() {
    override_ = true;
    return *this;
  }

  /*! \brief Registers; called once the whole chain has been read. */
  void Commit() const {
    if (!body_.defined()) MXNET_THROW("ValueError") << name_ << " is registered without a body";
    std::vector<MXNetParamInfo> params;
    for (const Param& p : params_) {
      params.push_back(
          {p.name.c_str(), p.type.c_str(), p.doc.c_str(), p.flags, 0, AsBorrowed(p.default_value)});
    }
    MXNetFuncInfo info{};
    info.struct_size = sizeof(info);
    info.abi_major = MXNET_RUNTIME_ABI_MAJOR;
    info.abi_minor = MXNET_RUNTIME_ABI_MINOR;
    info.name = name_.c_str();
    info.doc = doc_.c_str();
    info.returns = returns_.empty() ? nullptr : returns_.c_str();
    info.file = file_;
    info.line = line_;
    info.described = described_ ? 1 : 0;
    info.params = params.data();
    info.num_params = params.size();
    info.release_lock_bytes = release_bytes_;
    MXNET_CHECK_CALL(MXNetFuncSetInfo(body_.get(), &info));
    MXNET_CHECK_CALL(MXNetFuncRegisterGlobal(name_.c_str(), body_.get(), override_ ? 1 : 0));
  }

 private:
  struct Param {
    std::string name;
    std::string type;
    std::string doc;
    int32_t flags;
    Any default_value;
  };

  /*! \brief Text of a default travels as kMXNetStr, not as an object. */
  static MXNetAny AsBorrowed(const Any& value) {
    MXNetAny raw = value.raw();
    std::string_view text;
    if (details::MapKey::AsText(raw, &text)) {
      raw.type_code = kMXNetStr;
      raw.value.v_str = MXNetByteArray{text.data(), text.size()};
    }
    return raw;
  }

  Registry& Add(std::string name, std::string type, std::string doc, int32_t flags, Any value) {
    described_ = true;
    params_.push_back({std::move(name), std::move(type), std::move(doc), flags, std::move(value)});
    return *this;
  }

  /*! \brief Names and types parameters that were not described, from the C++ signature. */
  template <typename... Args>
  void TakeTypes(std::tuple<Args...>*) {
    described_ = true;
    if (!params_.empty()) return;
    const std::string types[] = {TypeTraits<Args>::Name()..., ""};
    for (size_t i = 0; i < sizeof...(Args); ++i) {
      Add("arg" + std::to_string(i), types[i], "", kMXNetParamRequired, Any());
    }
  }

  std::string name_;
  const char* file_;
  int line_;
  std::string doc_;
  std::string returns_;
  std::vector<Param> params_;
  PackedFunc body_;
  int64_t release_bytes_{-1};
  bool described_{false};
  bool override_{false};
};

/*! \brief Commits a description when a library is loaded. */
struct RegistryEntry {
  RegistryEntry(const Registry& registry) noexcept {  // NOLINT(runtime/explicit)
    try {
      registry.Commit();
    } catch (const std::exception& error) {
      // Nothing can catch an exception while a library loads; the name stays unregistered.
      std::fprintf(stderr, "mxnet: registration failed: %s\n", error.what());
    }
  }
};

}  // namespace runtime
}  // namespace mxnet

#define MXNET_REGISTER_CONCAT_(a, b) a##b
#define MXNET_REGISTER_CONCAT(a, b) MXNET_REGISTER_CONCAT_(a, b)

/*! \brief Starts the registration of a function; see the top of this file. */
#define MXNET_REGISTER_API(Name)                                      \
  static const ::mxnet::runtime::RegistryEntry MXNET_REGISTER_CONCAT( \
      mxnet_registered_, __COUNTER__) = ::mxnet::runtime::Registry(Name, __FILE__, __LINE__)

#endif  // MXNET_RUNTIME_REGISTRY_H_
