/*!
 * \file mxnet/runtime/type_traits/has_traits.h
 * \brief Tells the types that have TypeTraits from the classes that may be registered.
 */
#ifndef MXNET_RUNTIME_TYPE_TRAITS_HAS_TRAITS_H_
#define MXNET_RUNTIME_TYPE_TRAITS_HAS_TRAITS_H_

#include <string_view>
#include <type_traits>

namespace mxnet {
namespace runtime {

template <typename T, typename>
struct TypeTraits;

template <typename T>
class Variadic;

namespace details {

template <typename T, typename = void>
struct HasTraits : std::false_type {};
template <typename T>
struct HasTraits<T, std::void_t<decltype(sizeof(TypeTraits<T, void>))>> : std::true_type {};
/*! \brief Is read argument by argument. */
template <typename T>
struct HasTraits<Variadic<T>> : std::true_type {};

/*! \brief Whether T is a class that MXNET_REGISTER_CLASS may register. */
template <typename T>
constexpr bool kIsClass = std::is_class_v<T> && !HasTraits<T>::value;

/*!
 * \brief Whether a T that is read points into the value it is read from, or lies there.
 *
 * Such a type is fine for a parameter, and for nothing that outlives the call.
 */
template <typename T>
struct IsBorrowed : std::is_reference<T> {};
template <>
struct IsBorrowed<const char*> : std::true_type {};
template <>
struct IsBorrowed<std::string_view> : std::true_type {};

}  // namespace details
}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_TYPE_TRAITS_HAS_TRAITS_H_
