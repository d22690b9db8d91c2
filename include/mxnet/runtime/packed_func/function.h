/*!
 * \file mxnet/runtime/packed_func/function.h
 * \brief PackedFunc and FunctionView: functions that are shared, and borrowed.
 */
#ifndef MXNET_RUNTIME_PACKED_FUNC_FUNCTION_H_
#define MXNET_RUNTIME_PACKED_FUNC_FUNCTION_H_

#include <mxnet/runtime/backtrace.h>
#include <mxnet/runtime/packed_func/result.h>

#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#if defined(__GLIBCXX__)
#include <cxxabi.h>
#endif

namespace mxnet {
namespace runtime {

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

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_PACKED_FUNC_FUNCTION_H_
