/*!
 * \file mxnet/runtime/registry.h
 * \brief MXNET_REGISTER_API: puts a function, with its description, into the global registry.
 *
 *   MXNET_REGISTER_API("_npi.zeros")
 *       .describe("Return a new array of given shape and type, filled with zeros.")
 *       .add_argument("shape", "int | tuple[int, ...]", "Extents of the array.")
 *       .add_argument("dtype", "DTypeLike | None", nullptr, "Element type; float32 if None.")
 *       .set_body([](MXNetArgs args, MXNetRetValue* ret) { ... });
 *
 * With a typed body the types come from its C++ signature:
 *
 *   MXNET_REGISTER_API("demo.scale")
 *       .describe("Multiplies each number by a factor.")
 *       .arg("values", "Numbers to multiply.")
 *       .arg("factor", 2.0, "What they are multiplied by.")
 *       .set_body_typed([](std::vector<double> values, double factor) { ... });
 *
 * overload.h has overloads, enum.h enums, class.h classes.
 */
#ifndef MXNET_RUNTIME_REGISTRY_H_
#define MXNET_RUNTIME_REGISTRY_H_

#include <mxnet/runtime/description.h>

#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mxnet {
namespace runtime {

/*! \brief The type of a parameter of an operator: a Python type expression, and MXNetParamRole. */
struct ParamType {
  const char* text;
  int32_t role;
};

/*! \brief Collects the one description of a function. */
class MXNET_HIDDEN Registry {
 public:
  [[gnu::cold]] Registry(std::string name, const char* file, int line)
      : name_(std::move(name)), file_(file), line_(line) {}

  /*! \brief What the function does; its first line is a summary. */
  [[gnu::cold]] Registry& describe(std::string doc) {
    doc_ = std::move(doc);
    return *this;
  }
  /*! \brief A parameter whose type is that of the typed body: required, or std::optional. */
  [[gnu::cold]] Registry& arg(std::string name, std::string doc = "") {
    return Add(std::move(name), "", std::move(doc), kMXNetParamRequired);
  }
  /*! \brief The same with a default and no text: whatever is not text is a default. */
  template <typename T, typename = std::enable_if_t<!std::is_convertible_v<T, std::string_view> ||
                                                    std::is_null_pointer_v<T>>>
  [[gnu::cold]] Registry& arg(std::string name, T default_value) {
    return arg(std::move(name), std::move(default_value), "");
  }
  /*! \brief The same with a default: nullptr, a bool, a number, a string. */
  template <typename T>
  [[gnu::cold]] Registry& arg(std::string name, T default_value, std::string doc) {
    return Add(std::move(name), "", std::move(doc), kMXNetParamOptional,
               Kept(std::move(default_value)));
  }
  /*! \brief A parameter that must be given. type is a Python type expression. */
  [[gnu::cold]] Registry& add_argument(std::string name, std::string type, std::string doc) {
    return Add(std::move(name), std::move(type), std::move(doc), kMXNetParamRequired);
  }
  /*! \brief A parameter with a default: nullptr, a bool, a number, a string. */
  template <typename T>
  [[gnu::cold]] Registry& add_argument(std::string name, std::string type, T default_value,
                                       std::string doc) {
    return Add(std::move(name), std::move(type), std::move(doc), kMXNetParamOptional,
               Kept(std::move(default_value)));
  }
  /*! \brief The same for parameters of operators, whose role is told by the type. */
  [[gnu::cold]] Registry& add_argument(std::string name, ParamType type, std::string doc) {
    add_argument(std::move(name), std::string(type.text), std::move(doc));
    about_.SetRole(type.role);
    return *this;
  }
  template <typename T>
  [[gnu::cold]] Registry& add_argument(std::string name, ParamType type, T default_value,
                                       std::string doc) {
    add_argument(std::move(name), std::string(type.text), std::move(default_value), std::move(doc));
    about_.SetRole(type.role);
    return *this;
  }
  /*! \brief Any number of further arguments. */
  [[gnu::cold]] Registry& add_variadic(std::string name, std::string type, std::string doc) {
    return Add(std::move(name), std::move(type), std::move(doc), kMXNetParamVariadic);
  }
  /*! \brief A parameter of the front-end signature that accepts its default only. */
  template <typename T>
  [[gnu::cold]] Registry& add_frontend_argument(std::string name, std::string type, T default_value,
                                                std::string doc) {
    return Add(std::move(name), std::move(type), std::move(doc),
               kMXNetParamOptional | kMXNetParamFrontEnd, Kept(std::move(default_value)));
  }
  /*! \brief The parameters added behind this are taken by name only; a C++ body has them in order.
   */
  Registry& keyword_only() {
    about_.BeginKeywordOnly();
    return *this;
  }
  /*! \brief Python type expression of the result. */
  [[gnu::cold]] Registry& returns(std::string type) {
    about_.returns = std::move(type);
    return *this;
  }
  /*! \brief Let Python run other threads meanwhile, if the arguments hold at least that much. */
  [[gnu::cold]] Registry& release_gil(int64_t min_bytes = 0) {
    release_bytes_ = min_bytes;
    return *this;
  }
  /*!
   * \brief What the body throws begins with the function's name, "_npi.add: operands ...", unless
   * it does already, as messages about single arguments do. Stands before the body.
   */
  Registry& name_errors() {
    names_errors_ = true;
    return *this;
  }
  /*! \brief The parameter added last is an array whose elements the body changes. */
  [[gnu::cold]] Registry& mutated() {
    about_.MarkLast(kMXNetParamMutated);
    return *this;
  }
  /*! \brief Adds MXNetFuncFlag, or-ed: what makes a function an operator. */
  [[gnu::cold]] Registry& flags(uint64_t flags) {
    flags_ |= flags;
    return *this;
  }
  /*! \brief What the function computes, an MXNetOperator, which is copied; see mxnet/op/operator.h.
   */
  [[gnu::cold]] Registry& set_operator(const void* op) {
    op_ = op;
    return *this;
  }
  /*! \brief A function that is there as the body. */
  [[gnu::cold]] Registry& set_function(PackedFunc body) {
    body_ = std::move(body);
    return *this;
  }
  /*! \brief The body, a lambda `void(MXNetArgs args, MXNetRetValue* ret)`. */
  template <typename F>
  [[gnu::cold]] Registry& set_body(F body) {
    body_ = PackedFunc(std::move(body), names_errors_);
    return *this;
  }
  /*!
   * \brief Any lambda; its parameter types are checked at the call.
   *
   * They are also what the description says of parameters whose type it does not give. A
   * std::optional at the end may be left out, Variadic<T> takes all further arguments.
   */
  template <typename F>
  [[gnu::cold]] Registry& set_body_typed(F body) {
    about_.template TakeSignature<F>();
    return set_body(details::PackTyped(std::move(body)));
  }
  /*!
   * \brief One of several typed bodies, of which the arguments of a call choose one.
   *
   * The parameters and the result described since the last one are its own, and so is doc. Include
   * mxnet/runtime/overload.h to use it.
   */
  template <typename F>
  Registry& overload(F body, std::string doc = "");
  /*! \brief Replaces what is registered under the name already. */
  Registry& override_existing() {
    override_ = true;
    return *this;
  }

  /*!
   * \brief Registers; called once the whole chain has been read.
   *
   * ValueError where the description contradicts the C++ signature, TypeError where a default does.
   */
  [[gnu::cold]] void Commit() {
    if (failure_) throw failure_->In(name_);
    about_.Complete(name_);
    if (overloads_ != nullptr && (body_.defined() || about_.described())) {
      throw Error("ValueError", name_ + ": parameters or a body beside its overloads");
    }
    const PackedFunc& body = overloads_ == nullptr ? body_ : overloaded_body_;
    if (!body.defined()) throw Error("ValueError", name_ + " is registered without a body");
    MXNetFuncInfo info = about_.Describe(name_);
    if (overloads_ != nullptr) overloads_->Describe(&info);
    info.doc = doc_.c_str();
    info.file = file_;
    info.line = line_;
    info.release_lock_bytes = release_bytes_;
    info.flags = flags_;
    info.op = op_;
    MXNET_CHECK_CALL(MXNetFuncSetInfo(body.get(), &info));
    MXNET_CHECK_CALL(MXNetFuncRegisterGlobal(name_.c_str(), body.get(), override_ ? 1 : 0));
  }

 private:
  [[gnu::cold]] Registry& Add(std::string name, std::string type, std::string doc, int32_t flags,
                              Any default_value = Any()) {
    about_.Add(std::move(name), std::move(type), std::move(doc), flags, std::move(default_value));
    return *this;
  }

  /*! \brief A default. Nothing could catch what is thrown while a library loads, so Commit does. */
  template <typename T>
  Any Kept(T default_value) {
    try {
      return details::ToAny(std::move(default_value));
    } catch (const Error& error) {
      failure_ = error;
      return Any();
    }
  }

  std::string name_;
  const char* file_;
  int line_;
  std::string doc_;
  details::Description about_;
  PackedFunc body_;
  /*! \brief Owned by overloaded_body_. */
  details::Overloads* overloads_{nullptr};
  PackedFunc overloaded_body_;
  std::optional<Error> failure_;
  int64_t release_bytes_{-1};
  uint64_t flags_{0};
  const void* op_{nullptr};
  bool override_{false};
  bool names_errors_{false};
};

namespace details MXNET_HIDDEN {

/*!
 * \brief Says that a registration failed where no exception can be thrown.
 *
 * The runtime makes it the error of whoever loads the library, or prints it.
 */
[[gnu::cold]] inline void ReportFailedRegistration(const Error& error) noexcept {
  error.SetLast();
  MXNetFunctionHandle report = nullptr;
  MXNetValue result;
  int type_code = kMXNetNull;
  if (MXNetFuncGetGlobal("ffi.RegistrationFailed", &report) != 0 || report == nullptr ||
      MXNetFuncCall(report, nullptr, nullptr, 0, &result, &type_code) != 0) {
    std::fprintf(stderr, "mxnet: registration failed: %s\n", error.what());
  }
  MXNetFuncFree(report);
}

}  // namespace details MXNET_HIDDEN

/*! \brief Commits a description when a library is loaded. */
struct MXNET_HIDDEN RegistryEntry {
  template <typename Described>
  [[gnu::cold]] RegistryEntry(Described&& registry) noexcept {  // NOLINT(runtime/explicit)
    try {
      registry.Commit();
    } catch (const Error& error) {
      details::ReportFailedRegistration(error);
    } catch (const std::exception& error) {
      details::ReportFailedRegistration(Error("RuntimeError", details::TextOf(error)));
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
