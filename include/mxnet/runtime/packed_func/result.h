/*!
 * \file mxnet/runtime/packed_func/result.h
 * \brief What a packed body gives back: a value, or an Error.
 */
#ifndef MXNET_RUNTIME_PACKED_FUNC_RESULT_H_
#define MXNET_RUNTIME_PACKED_FUNC_RESULT_H_

#include <mxnet/runtime/packed_func/arguments.h>

#include <string>
#include <type_traits>
#include <utility>

namespace mxnet {
namespace runtime {

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
  /*! \brief What the Error shares with its copies. */
  ObjectRef failure_;
  // The last, as what goes first: right behind MoveTo it is known to hold nothing.
  Any any_;
};

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_PACKED_FUNC_RESULT_H_
