/*!
 * \file mxnet/runtime/packed_func/typed.h
 * \brief Functions with a C++ signature: bodies whose arguments are checked, and calls.
 */
#ifndef MXNET_RUNTIME_PACKED_FUNC_TYPED_H_
#define MXNET_RUNTIME_PACKED_FUNC_TYPED_H_

#include <mxnet/runtime/packed_func/function.h>

#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace mxnet {
namespace runtime {

/*! \brief The last parameter of a typed body, which takes all further arguments. */
template <typename T>
class Variadic : public std::vector<T> {
 public:
  using std::vector<T>::vector;
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

#endif  // MXNET_RUNTIME_PACKED_FUNC_TYPED_H_
