/*!
 * \file mxnet/runtime/packed_func/arguments.h
 * \brief What a function is called with, and how messages name an argument.
 */
#ifndef MXNET_RUNTIME_PACKED_FUNC_ARGUMENTS_H_
#define MXNET_RUNTIME_PACKED_FUNC_ARGUMENTS_H_

#include <mxnet/runtime/type_traits.h>

#include <string>

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

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_PACKED_FUNC_ARGUMENTS_H_
