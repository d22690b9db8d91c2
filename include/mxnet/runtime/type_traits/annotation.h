/*!
 * \file mxnet/runtime/type_traits/annotation.h
 * \brief What Python calls a C++ type: the type expressions of signatures, help and stubs.
 *
 * A specialization of TypeTraits says it by `static std::string Annotation()`, the type of a
 * result, and, where an argument may be more than that, `static std::string ArgumentAnnotation()`.
 * What a parameter of the type is to who reads descriptions, it says by
 * `static constexpr int32_t kRole`, an MXNetParamRole.
 */
#ifndef MXNET_RUNTIME_TYPE_TRAITS_ANNOTATION_H_
#define MXNET_RUNTIME_TYPE_TRAITS_ANNOTATION_H_

#include <mxnet/runtime/type_traits/has_traits.h>

#include <string>
#include <type_traits>

namespace mxnet {
namespace runtime {

namespace details MXNET_HIDDEN {

template <typename T>
struct ClassArgument;

template <typename T, typename = void>
struct HasAnnotation : std::false_type {};
template <typename T>
struct HasAnnotation<T, std::void_t<decltype(TypeTraits<T, void>::Annotation())>> : std::true_type {
};

template <typename T, typename = void>
struct HasArgumentAnnotation : std::false_type {};
template <typename T>
struct HasArgumentAnnotation<T, std::void_t<decltype(TypeTraits<T, void>::ArgumentAnnotation())>>
    : std::true_type {};

/*! \brief Type expression of a T that C++ returns; "Any" where its TypeTraits say none. */
template <typename T>
std::string ResultAnnotation() {
  if constexpr (std::is_void_v<T>) {
    return "None";
  } else if constexpr (HasAnnotation<T>::value) {
    return TypeTraits<T, void>::Annotation();
  } else if constexpr (kIsClass<T>) {
    return TypeTraits<ClassArgument<T>, void>::Annotation();
  } else {
    return "Any";
  }
}

/*! \brief Type expression of what is accepted for a T. */
template <typename T>
std::string ArgumentAnnotation() {
  if constexpr (HasArgumentAnnotation<T>::value) {
    return TypeTraits<T, void>::ArgumentAnnotation();
  } else {
    return ResultAnnotation<T>();
  }
}

template <typename T, typename = void>
struct HasRole : std::false_type {};
template <typename T>
struct HasRole<T, std::void_t<decltype(TypeTraits<T, void>::kRole)>> : std::true_type {};

/*! \brief The MXNetParamRole of a parameter; an attribute where its TypeTraits say nothing. */
template <typename T>
constexpr int32_t RoleOf() {
  if constexpr (HasRole<T>::value) return TypeTraits<T, void>::kRole;
  return kMXNetRoleAttribute;
}

/*! \brief The same of a sequence of T. */
template <typename T>
constexpr int32_t RoleOfSequence() {
  return RoleOf<T>() == kMXNetRoleArray ? kMXNetRoleArrays : kMXNetRoleAttribute;
}

}  // namespace details MXNET_HIDDEN
}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_TYPE_TRAITS_ANNOTATION_H_
