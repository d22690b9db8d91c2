/*!
 * \file mxnet/runtime/type_traits/has_traits.h
 * \brief Tells the types that have TypeTraits from the classes that may be registered.
 */
#ifndef MXNET_RUNTIME_TYPE_TRAITS_HAS_TRAITS_H_
#define MXNET_RUNTIME_TYPE_TRAITS_HAS_TRAITS_H_

#include <mxnet/runtime/c_runtime_api.h>

#include <string_view>
#include <type_traits>

namespace mxnet {
namespace runtime {

template <typename T, typename>
struct MXNET_HIDDEN TypeTraits;

template <typename T>
class Variadic;

namespace details MXNET_HIDDEN {

template <typename T, typename = void>
struct HasTraits : std::false_type {};
template <typename T>
struct HasTraits<T, std::void_t<decltype(sizeof(TypeTraits<T, void>))>> : std::true_type {};
/*! \brief Is read argument by argument. */
template <typename T>
struct HasTraits<Variadic<T>> : std::true_type {};

/*! \brief The key that MXNET_DECLARE_CLASS gives to a class; NULL where it gives none. */
template <typename T>
struct DeclaredClass {
  static constexpr const char* kKey = nullptr;
};

/*! \brief Whether a class is one of the standard library, by its name as the compiler writes it. */
template <typename T>
constexpr bool IsOfStd() {
  constexpr std::string_view function = __PRETTY_FUNCTION__;  // "... [with T = std::set<int>]"
  return function.substr(function.find("T = ") + 4, 5) == "std::";
}

template <typename T>
constexpr bool IsClass() {
  if constexpr (!std::is_class_v<T> || HasTraits<T>::value) {
    return false;
  } else if constexpr (DeclaredClass<T>::kKey == nullptr) {
    static_assert(!std::is_same_v<T, DLTensor> && !std::is_same_v<T, const DLTensor>,
                  "a DLTensor by value: take a const DLTensor*, or a DLTensor* to write into it, "
                  "and return an NDArray");
    static_assert(!IsOfStd<T>(),
                  "this class of the standard library is not converted. std::pair, tuple, array, "
                  "map, unordered_map, function and variant are if mxnet/runtime/stl.h is "
                  "included; in place of std::shared_ptr<T> or std::unique_ptr<T> take a Ref<T>, "
                  "in place of std::filesystem::path a std::string. To register this very type as "
                  "a class, declare it: MXNET_DECLARE_CLASS(Type, \"key\")");
  }
  return true;
}

/*! \brief Whether T is a class that MXNET_REGISTER_CLASS may register. */
template <typename T>
constexpr bool kIsClass = IsClass<T>();

/*! \brief Whether a container that is read may have a T; the reason if not. */
template <typename T>
constexpr bool IsElement() {
  static_assert(!kIsClass<T>, "an element that is a class: take Ref<T>, std::vector<Ref<T>>");
  static_assert(HasTraits<T>::value, "an element of a type that is not converted");
  return true;
}

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

}  // namespace details MXNET_HIDDEN
}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_TYPE_TRAITS_HAS_TRAITS_H_
