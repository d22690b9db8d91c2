/*!
 * \file mxnet/runtime/packed_func.h
 * \brief PackedFunc: a callable whose arguments and result are tagged values.
 */
#ifndef MXNET_RUNTIME_PACKED_FUNC_H_
#define MXNET_RUNTIME_PACKED_FUNC_H_

#include <mxnet/runtime/backtrace.h>
#include <mxnet/runtime/type_traits.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
#if defined(__GLIBCXX__)
#include <cxxabi.h>
#endif

namespace mxnet {
namespace runtime {

namespace details MXNET_HIDDEN {

/*!
 * \brief The name of a function, for messages; of a callable of the front end, what that calls
 * it.
 */
[[gnu::cold]] inline std::string FunctionText(MXNetFunctionHandle func) {
  const MXNetFuncInfo* info = nullptr;
  MXNetFunctionHandle namer = nullptr;
  std::string name = MXNetFuncGetInfo(func, &info) == 0 ? info->name : "function";
  if (name != "function" || MXNetFuncGetGlobal("ffi.callable_name", &namer) != 0) return name;
  MXNetValue value;
  value.v_handle = func;
  const int type_code = kMXNetFuncHandle;
  Any told;
  if (namer != nullptr && told.Receive([&](MXNetValue* ret, int* ret_code) {
        return MXNetFuncCall(namer, &value, &type_code, 1, ret, ret_code);
      }) == 0) {
    name = told.As<std::string>();
  }
  MXNetFuncFree(namer);
  return name;
}

/*! \brief Whether the first parameter of a function is the object that it is a method of. */
[[gnu::cold]] inline bool IsMethod(const MXNetFuncInfo& info) noexcept {
  return info.num_params > 0 && (info.flags & kMXNetFuncMethod) != 0;
}

/*!
 * \brief "_npi.zeros: argument 1 ('dtype')", for messages. The object of a method is none that is
 * given as one, so that it is not counted.
 */
[[gnu::cold]] inline std::string ArgumentText(MXNetFunctionHandle func, int index) {
  const MXNetFuncInfo* info = nullptr;
  std::string position = "argument " + std::to_string(index);
  if (func == nullptr || MXNetFuncGetInfo(func, &info) != 0) return position;
  if (IsMethod(*info)) {
    position = index == 0 ? "argument" : "argument " + std::to_string(index - 1);
  }
  std::string text = std::string(info->name) + ": " + position;
  int body_index = 0;
  for (size_t i = 0; i < info->num_params; ++i) {
    if ((info->params[i].flags & kMXNetParamFrontEnd) != 0) continue;
    const bool variadic = (info->params[i].flags & kMXNetParamVariadic) != 0;
    if (body_index++ == index || variadic) return text + " ('" + info->params[i].name + "')";
  }
  return text;
}

}  // namespace details MXNET_HIDDEN

/*! \brief One borrowed argument; converts to any type that has TypeTraits. */
class MXNetArgValue {
 public:
  MXNetArgValue(const MXNetValue& value, int type_code, MXNetFunctionHandle func, int index)
      : value_(value), type_code_(type_code), index_(index), func_(func) {}

  int type_code() const noexcept { return type_code_; }
  const MXNetValue& value() const noexcept { return value_; }
  bool is_null() const noexcept { return type_code_ == kMXNetNull; }

  /*! \brief Reads the argument, or throws an error that names function, argument and types. */
  template <typename T>
  MXNET_HIDDEN T As() const {
    return details::ReadOrThrow<T>(value_, type_code_, [this] { return text(); });
  }
  template <typename T>
  MXNET_HIDDEN Match TryAs(T* out) const {
    return TypeTraits<T>::TryFrom(value_, type_code_, out);
  }
  template <typename T, typename = decltype(&TypeTraits<T>::TryFrom)>
  MXNET_HIDDEN operator T() const {
    return As<T>();
  }
  /*! \brief "_npi.zeros: argument 1 ('dtype')", for messages of the function's own. */
  std::string text() const { return details::ArgumentText(func_, index_); }
  std::string type_name() const { return TypeNameOf(value_, type_code_); }

 private:
  const MXNetValue& value_;
  int type_code_;
  int index_;
  MXNetFunctionHandle func_;
};

/*! \brief The borrowed arguments of one call. */
class MXNetArgs {
 public:
  const MXNetValue* values;
  const int* type_codes;
  int num_args;
  MXNetFunctionHandle func; /*!< the function called, for messages; may be NULL */

  int size() const noexcept { return num_args; }
  MXNetArgValue operator[](int i) const {
    if (i < 0 || i >= num_args) ThrowMissing(i);
    return MXNetArgValue(values[i], type_codes[i], func, i);
  }

 private:
  /*! \brief Apart from operator[], so that it stays small enough to be inlined. */
  [[noreturn, gnu::cold, gnu::noinline]] void ThrowMissing(int i) const {
    MXNET_THROW("TypeError") << details::ArgumentText(func, i) << " is missing: " << num_args
                             << " given";
  }
};

/*! \brief The result of a call: assign a value, or an Error to fail without unwinding. */
class MXNetRetValue {
 public:
  MXNetRetValue() = default;
  explicit MXNetRetValue(Any any) noexcept : any_(std::move(any)) {}
  MXNetRetValue(MXNetRetValue&&) = default;
  MXNetRetValue& operator=(MXNetRetValue&&) = default;

  template <typename T,
            typename = std::enable_if_t<!std::is_same_v<std::decay_t<T>, MXNetRetValue> &&
                                        !std::is_same_v<std::decay_t<T>, MXNetArgValue> &&
                                        !std::is_same_v<std::decay_t<T>, Error>>>
  MXNET_HIDDEN MXNetRetValue& operator=(T&& value) {
    if constexpr (std::is_base_of_v<ObjectRef, std::decay_t<T>>) {
      any_.HoldObject(std::forward<T>(value));
    } else {
      any_ = details::ToAny(std::forward<T>(value));
    }
    return *this;
  }
  MXNetRetValue& operator=(const MXNetArgValue& arg) {
    any_ = details::Own(arg.value(), arg.type_code());
    return *this;
  }
  MXNetRetValue& operator=(const Error& error) {
    any_ = Any();
    failure_ = error.content_;
    return *this;
  }

  bool failed() const noexcept { return failure_.defined(); }
  /*! \brief What it failed with, where it did. */
  Error failure() const noexcept { return Error(failure_); }
  int type_code() const noexcept { return any_.type_code(); }
  const MXNetValue& value() const noexcept { return any_.value(); }
  const Any& any() const noexcept { return any_; }
  template <typename T>
  MXNET_HIDDEN T As() const {
    return details::ReadOrThrow<T>(value(), type_code(), [] { return std::string("result"); });
  }
  template <typename T, typename = decltype(&TypeTraits<T>::TryFrom)>
  MXNET_HIDDEN operator T() const {
    return As<T>();
  }
  /*! \brief Has a C function write the result, as Any::Receive does. */
  template <typename Call>
  int Receive(const Call& call) {
    failure_ = ObjectRef();
    return any_.Receive(call);
  }
  /*! \brief Writes the result as a C function returns it. */
  void MoveTo(MXNetValue* value, int* type_code) noexcept { any_.MoveTo(value, type_code); }

 private:
  Any any_;
  /*! \brief What the Error shares with its copies. */
  ObjectRef failure_;
};

/*! \brief The last parameter of a typed body, which takes all further arguments. */
template <typename T>
class Variadic : public std::vector<T> {
 public:
  using std::vector<T>::vector;
};

namespace details MXNET_HIDDEN {

/*! \brief Makes an error the last one, said of the function unless it names that already. */
[[gnu::cold, gnu::noinline]] inline int SetLastOf(MXNetFunctionHandle func,
                                                  const Error& error) noexcept {
  const MXNetFuncInfo* info = nullptr;
  if (MXNetFuncGetInfo(func, &info) != 0 || error.message().rfind(info->name, 0) == 0) {
    return error.SetLast();
  }
  try {
    return error.In(info->name).SetLast();
  } catch (const std::bad_alloc&) {
    return SetOutOfMemory();
  }
}

/*!
 * \brief The status that body returns, or -1 where it throws, which becomes the last error.
 *
 * on_error sets an Error, which has a kind and a source location already.
 *
 * A forced unwinding has no exception object for the reference to bind to; the sanitizer minds.
 */
template <typename Body, typename OnError>
[[gnu::always_inline]] __attribute__((no_sanitize("null"))) inline int Guarded(
    const Body& body, const OnError& on_error) {
  try {
    return body();
#if defined(__GLIBCXX__)
  } catch (const abi::__forced_unwind&) {
    // The end of a thread, not an error: CPython ends daemon threads so, and must not be stopped.
    throw;
#endif
#if defined(MXNET_WATCHES_THROWS)
  } catch (const ThrowWatcher&) {
    return -1;  // never: see backtrace.h
#endif
  } catch (const Error& error) {
    return on_error(error);
  } catch (const std::bad_alloc&) {
    return SetOutOfMemory();
  } catch (const std::out_of_range& error) {
    return SetLastError("IndexError", TextOf(error));
  } catch (const std::invalid_argument& error) {
    return SetLastError("ValueError", TextOf(error));
  } catch (const std::overflow_error& error) {
    return SetLastError("OverflowError", TextOf(error));
  } catch (const std::exception& error) {
    return SetLastError("RuntimeError", TextOf(error));
  } catch (...) {
    return SetLastError("RuntimeError", "a C++ exception of unknown type");
  }
}

/*! \brief A function body with what it captured; the resource behind the C function. */
template <typename F>
struct Closure {
  F body;
  MXNetFunctionHandle self;
  bool names_errors;

  __attribute__((no_sanitize("null"))) static int Call(void* resource, const MXNetValue* values,
                                                       const int* type_codes, int num_args,
                                                       MXNetValue* ret, int* ret_type_code) {
    auto* closure = static_cast<Closure*>(resource);
    const auto call = [&] {
      MXNetRetValue result;
      closure->body(MXNetArgs{values, type_codes, num_args, closure->self}, &result);
      // Only now: what the body's locals refer to may fail itself when it ends.
      if (result.failed()) return result.failure().SetLast();
      result.MoveTo(ret, ret_type_code);
      return 0;
    };
    const auto on_error = [&](const Error& error) {
      return closure->names_errors ? SetLastOf(closure->self, error) : error.SetLast();
    };
    return Guarded(call, on_error);
  }

  static void Delete(void* resource) { delete static_cast<Closure*>(resource); }
};

}  // namespace details MXNET_HIDDEN

class FunctionView;

/*! \brief Shares a function: a C++ lambda, or whatever the front end made one of. */
class PackedFunc : public ObjectRef {
 public:
  PackedFunc() = default;
  PackedFunc(std::nullptr_t) {}  // NOLINT(runtime/explicit)
  explicit PackedFunc(ObjectRef ref) : ObjectRef(std::move(ref)) {}
  /*! \brief Of a lambda `void(MXNetArgs, MXNetRetValue*)`; see Registry::name_errors. */
  template <typename F,
            typename = std::enable_if_t<!std::is_same_v<F, FunctionView> &&
                                        std::is_invocable_v<F&, MXNetArgs, MXNetRetValue*>>>
  PackedFunc(F body, bool names_errors = false) {  // NOLINT(runtime/explicit)
    using Closure = details::Closure<F>;
    auto* closure = new Closure{std::move(body), nullptr, names_errors};
    MXNetFunctionHandle handle;
    MXNET_CHECK_CALL(MXNetFuncCreateFromCFunc(&Closure::Call, closure, &Closure::Delete, &handle));
    closure->self = handle;
    *this = PackedFunc(ObjectRef::Steal(handle));
  }

  /*! \brief The registered function, or an undefined one. */
  static PackedFunc GetGlobal(const char* name) {
    MXNetFunctionHandle handle;
    MXNET_CHECK_CALL(MXNetFuncGetGlobal(name, &handle));
    return PackedFunc(ObjectRef::Steal(handle));
  }

  /*! \brief Calls with borrowed arguments, and throws where that fails. */
  MXNetRetValue CallPacked(const MXNetValue* values, const int* type_codes, int num_args) const {
    MXNetRetValue result;
    CallPacked(values, type_codes, num_args, &result);
    return result;
  }
  /*! \brief The same with a result that is there: `func.CallPacked(..., ret)` in a packed body. */
  void CallPacked(const MXNetValue* values, const int* type_codes, int num_args,
                  MXNetRetValue* ret) const {
    MXNET_CHECK_CALL(ret->Receive([&](MXNetValue* value, int* type_code) {
      return MXNetFuncCall(get(), values, type_codes, num_args, value, type_code);
    }));
  }

  template <typename... Args>
  MXNET_HIDDEN MXNetRetValue operator()(Args&&... args) const {
    constexpr int kNumArgs = sizeof...(Args);
    // Owned for the call: a temporary std::string argument becomes a String object here.
    Any owned[kNumArgs + 1] = {details::ToAny(std::forward<Args>(args))...};
    MXNetValue values[kNumArgs + 1] = {};
    int type_codes[kNumArgs + 1] = {};
    for (int i = 0; i < kNumArgs; ++i) {
      values[i] = owned[i].value();
      type_codes[i] = owned[i].type_code();
    }
    return CallPacked(values, type_codes, kNumArgs);
  }
};

/*! \brief The field's other name for the same thing. */
using Function = PackedFunc;

/*!
 * \brief A function that is borrowed, as an argument is for the call: called like a PackedFunc.
 *
 * It owns no reference, which saves two locked instructions, and must not outlive what it is of: it
 * cannot be copied, so that no lambda captures it unawares. To keep the function, make a PackedFunc
 * of it. A typed body's parameter `const PackedFunc&` is borrowed in the same way.
 */
class FunctionView {
 public:
  FunctionView() = default;
  FunctionView(const PackedFunc& func) noexcept  // NOLINT(runtime/explicit)
      : func_(ObjectRef::Steal(func.get())) {}
  FunctionView(const FunctionView&) = delete;
  FunctionView(FunctionView&&) = default;
  FunctionView& operator=(const FunctionView&) = delete;
  FunctionView& operator=(FunctionView&& other) noexcept {
    func_.Detach();
    func_ = std::move(other.func_);
    return *this;
  }
  ~FunctionView() { func_.Detach(); }

  /*! \brief Of a handle that somebody else owns. */
  static FunctionView Of(MXNetFunctionHandle handle) noexcept {
    FunctionView view;
    view.func_ = PackedFunc(ObjectRef::Steal(handle));
    return view;
  }

  operator const PackedFunc&() const noexcept { return func_; }
  MXNetFunctionHandle get() const noexcept { return func_.get(); }
  bool defined() const noexcept { return func_.defined(); }
  explicit operator bool() const noexcept { return defined(); }

  /*! \brief As in PackedFunc, with or without an MXNetRetValue* at the end. */
  template <typename... Ret>
  auto CallPacked(const MXNetValue* values, const int* type_codes, int num_args, Ret... ret) const {
    return func_.CallPacked(values, type_codes, num_args, ret...);
  }
  template <typename... Args>
  MXNetRetValue operator()(Args&&... args) const {
    return func_(std::forward<Args>(args)...);
  }

 private:
  PackedFunc func_;
};

template <>
struct MXNET_HIDDEN TypeTraits<PackedFunc> {
  [[gnu::cold]] static std::string Name() { return "function"; }
  [[gnu::cold]] static std::string Annotation() { return "ffi.Function"; }
  [[gnu::cold]] static std::string ArgumentAnnotation() { return "Callable[..., Any]"; }
  static Match TryFrom(const MXNetValue& value, int type_code, PackedFunc* out) {
    return details::TryShare(value, type_code, kMXNetObjectFunction, out);
  }
  static void Store(PackedFunc value, MXNetAny* out) {
    details::StoreObject(std::move(value), out);
  }
};

/*! \brief Reads what a PackedFunc does. */
template <>
struct MXNET_HIDDEN TypeTraits<FunctionView> : TypeTraits<PackedFunc> {
  static Match TryFrom(const MXNetValue& value, int type_code, FunctionView* out) noexcept {
    if (ObjectTypeOf(value, type_code) != kMXNetObjectFunction) return Match::kWrongType;
    *out = FunctionView::Of(value.v_handle);
    return Match::kOk;
  }
};

namespace details MXNET_HIDDEN {

template <>
struct Held<const PackedFunc&> {
  using type = FunctionView;
};
template <>
struct IsBorrowed<FunctionView> : std::true_type {};
template <typename T>
struct IsBorrowed<Variadic<T>> : IsBorrowed<T> {};

template <typename T>
struct FunctionSignature : FunctionSignature<decltype(&T::operator())> {};
template <typename R, typename... Args>
struct FunctionSignature<R(Args...)> {
  using Result = R;
  using Arguments = std::tuple<typename Held<Args>::type...>;
};
template <typename R, typename... Args>
struct FunctionSignature<R (*)(Args...)> : FunctionSignature<R(Args...)> {};
template <typename C, typename R, typename... Args>
struct FunctionSignature<R (C::*)(Args...)> : FunctionSignature<R(Args...)> {};
template <typename C, typename R, typename... Args>
struct FunctionSignature<R (C::*)(Args...) const> : FunctionSignature<R(Args...)> {};
template <typename R, typename... Args>
struct FunctionSignature<R (*)(Args...) noexcept> : FunctionSignature<R(Args...)> {};
template <typename C, typename R, typename... Args>
struct FunctionSignature<R (C::*)(Args...) noexcept> : FunctionSignature<R(Args...)> {};
template <typename C, typename R, typename... Args>
struct FunctionSignature<R (C::*)(Args...) const noexcept> : FunctionSignature<R(Args...)> {};

template <typename F>
using ResultOf = typename FunctionSignature<F>::Result;

template <typename T>
struct IsVariadic : std::false_type {};
template <typename T>
struct IsVariadic<Variadic<T>> : std::true_type {};

template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};

/*! \brief How many arguments a typed body takes at least, and whether it takes any number more. */
template <typename Arguments>
struct ArgumentCount;
template <typename... Args>
struct ArgumentCount<std::tuple<Args...>> {
  static constexpr bool kVariadic = (IsVariadic<Args>::value || ...);
  static constexpr int kFixed = static_cast<int>(sizeof...(Args)) - (kVariadic ? 1 : 0);

  static bool Fits(int given) { return kVariadic ? given >= kFixed : given == kFixed; }

 private:
  static constexpr bool LastAlone() {
    const bool variadic[] = {IsVariadic<Args>::value..., false};
    for (size_t i = 0; i + 1 < sizeof...(Args); ++i) {
      if (variadic[i]) return false;
    }
    return true;
  }
  static_assert(LastAlone(), "Variadic<T> is possible as the last parameter only");
};

/*! \brief Says through ret what is wrong with argument i. The runtime has the text, to keep this
 * small. */
template <typename T>
[[gnu::cold, gnu::noinline]] void RejectArgument(Match match, const MXNetArgs& args, int i,
                                                 MXNetRetValue* ret) {
  const MXNetAny given{args.values[i], args.type_codes[i], 0};
  MXNetFuncRejectArgument(args.func, i, TypeTraits<T>::Name().c_str(), &given,
                          match == Match::kOutOfRange);
  const Error error = Error::FromLast();
  const std::string culprit = Culprit<T>::Of(given.value, given.type_code);
  *ret = culprit.empty() ? error : error.Restated(error.kind(), error.message() + culprit);
}

/*! \brief Reads argument i into *out; on mismatch reports through ret, without a throw. */
template <typename T>
bool ReadTyped(const MXNetArgs& args, int i, T* out, MXNetRetValue* ret) {
  Match match = ReadNamed(args.values[i], args.type_codes[i], out,
                          [&args, i] { return ArgumentText(args.func, i); });
  if (match == Match::kOk) return true;
  RejectArgument<T>(match, args, i, ret);
  return false;
}

/*! \brief Reads argument i and all behind it. */
template <typename T>
bool ReadTyped(const MXNetArgs& args, int i, Variadic<T>* out, MXNetRetValue* ret) {
  for (; i < args.num_args; ++i) {
    T item{};
    if (!ReadTyped(args, i, &item, ret)) return false;
    out->push_back(std::move(item));
  }
  return true;
}

template <typename F, typename... Args, size_t... I>
void CallTyped(const F& body, const MXNetArgs& args, MXNetRetValue* ret, std::tuple<Args...>*,
               std::index_sequence<I...>) {
  std::tuple<Args...> values{};
  if (!(ReadTyped(args, I, &std::get<I>(values), ret) && ...)) return;
  if constexpr (std::is_void_v<ResultOf<F>>) {
    body(std::move(std::get<I>(values))...);
  } else {
    *ret = body(std::move(std::get<I>(values))...);
  }
}

/*! \brief Wraps any lambda as a packed body that checks count and types at the call. */
template <typename F>
auto PackTyped(F body) {
  using Arguments = typename FunctionSignature<F>::Arguments;
  using Count = ArgumentCount<Arguments>;
  return [body = std::move(body)](MXNetArgs args, MXNetRetValue* ret) {
    if (!Count::Fits(args.num_args)) {
      MXNetFuncRejectCount(args.func, Count::kFixed, Count::kVariadic, args.num_args);
      *ret = Error::FromLast();
      return;
    }
    CallTyped(body, args, ret, static_cast<Arguments*>(nullptr),
              std::make_index_sequence<std::tuple_size_v<Arguments>>());
  };
}

}  // namespace details MXNET_HIDDEN

template <typename Signature>
class TypedPackedFunc;

/*! \brief A PackedFunc with a C++ signature. */
template <typename R, typename... Args>
class TypedPackedFunc<R(Args...)> {
  static_assert(
      !details::IsBorrowed<R>::value,
      "the result of a TypedPackedFunc cannot be borrowed, for the value that it would be "
      "borrowed of is gone after the call: return an owning type, std::string or String "
      "instead of std::string_view, NDArray instead of DLTensor*");

 public:
  TypedPackedFunc() = default;
  explicit TypedPackedFunc(PackedFunc packed) : packed_(std::move(packed)) {}
  template <typename F, typename = std::enable_if_t<!std::is_same_v<F, FunctionView> &&
                                                    std::is_invocable_r_v<R, F&, Args...>>>
  TypedPackedFunc(F body)  // NOLINT(runtime/explicit)
      : packed_(details::PackTyped(Body<F>{std::move(body)})) {}

  R operator()(Args... args) const {
    MXNetRetValue result = packed_(std::forward<Args>(args)...);
    if constexpr (!std::is_void_v<R>) {
      return details::ReadOrThrow<R>(result.value(), result.type_code(), [this] {
        return details::FunctionText(packed_.get()) + ": result";
      });
    }
  }
  const PackedFunc& packed() const noexcept { return packed_; }

 private:
  /*! \brief A callable under this very signature, whatever its own is. */
  template <typename F>
  struct Body {
    mutable F body;
    R operator()(Args... args) const { return body(std::forward<Args>(args)...); }
  };

  PackedFunc packed_;
};

/*! \brief Any function; arguments and results are converted at its calls. */
template <typename R, typename... Args>
struct MXNET_HIDDEN TypeTraits<TypedPackedFunc<R(Args...)>> {
  using Typed = TypedPackedFunc<R(Args...)>;

  [[gnu::cold]] static std::string Name() { return "function"; }
  [[gnu::cold]] static std::string Annotation() { return "ffi.Function"; }
  [[gnu::cold]] static std::string ArgumentAnnotation() {
    std::string text;
    ((text += (text.empty() ? "" : ", ") + details::ResultAnnotation<std::decay_t<Args>>()), ...);
    return "Callable[[" + text + "], " + details::ArgumentAnnotation<R>() + "]";
  }
  static Match TryFrom(const MXNetValue& value, int type_code, Typed* out) {
    PackedFunc func;
    const Match match = TypeTraits<PackedFunc>::TryFrom(value, type_code, &func);
    if (match == Match::kOk) *out = Typed(std::move(func));
    return match;
  }
  static void Store(const Typed& value, MXNetAny* out) {
    TypeTraits<PackedFunc>::Store(value.packed(), out);
  }
};

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_PACKED_FUNC_H_
