/*!
 * \file mxnet/runtime/type_traits.h
 * \brief TypeTraits<T>: how a C++ type is read from and written to a tagged value.
 *
 * One specialization a type serves arguments, results, container elements and the text of errors:
 *
 *   static std::string Name();                                     what messages call the type
 *   static Match TryFrom(const MXNetValue&, int type_code, T*);    reads; throws only where the
 *                                                                  type is right and the value not
 *   static void Store(T value, MXNetAny* out);                     writes an owned value
 *
 * TryFrom of a view type (std::string_view, ShapeView, const DLTensor*) borrows: it is valid for
 * the call only.
 */
#ifndef MXNET_RUNTIME_TYPE_TRAITS_H_
#define MXNET_RUNTIME_TYPE_TRAITS_H_

#include <mxnet/runtime/type_traits/base.h>
#include <mxnet/runtime/type_traits/container.h>
#include <mxnet/runtime/type_traits/number.h>
#include <mxnet/runtime/type_traits/plain.h>
#include <mxnet/runtime/type_traits/ref.h>
#include <mxnet/runtime/type_traits/tensor.h>
#include <mxnet/runtime/type_traits/text.h>

#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace mxnet {
namespace runtime {

namespace details MXNET_HIDDEN {

/*! \brief TryFrom, whose own errors are said of what(). */
template <typename T, typename What>
Match ReadNamed(const MXNetValue& value, int type_code, T* out, const What& what) {
  if constexpr (noexcept(TypeTraits<T>::TryFrom(value, type_code, out))) {
    return TypeTraits<T>::TryFrom(value, type_code, out);
  } else {
    try {
      return TypeTraits<T>::TryFrom(value, type_code, out);
    } catch (const Error& error) {
      throw error.In(what());
    }
  }
}

/*! \brief Apart from ReadOrThrow, so that this is small enough to be inlined. */
template <typename T, typename What>
[[noreturn, gnu::cold, gnu::noinline]] void ThrowMismatch(Match match, const MXNetValue& value,
                                                          int type_code, const What& what) {
  MXNET_THROW(KindOf(match)) << MismatchText(match, what(), TypeTraits<T>::Name(), value, type_code)
                             << Culprit<T>::Of(value, type_code);
}

template <typename T, typename What>
T ReadOrThrow(const MXNetValue& value, int type_code, const What& what) {
  T out{};
  Match match = ReadNamed(value, type_code, &out, what);
  if (match != Match::kOk) ThrowMismatch<T>(match, value, type_code, what);
  return out;
}

template <typename T>
Any ToAny(T&& value) {
  using Value = std::decay_t<T>;
  if constexpr (kIsClass<Value>) {
    return AnyOfObject(NewInstance<Value>(std::forward<T>(value)));
  } else {
    static_assert(!std::is_same_v<Value, DLTensor*> && !std::is_same_v<Value, const DLTensor*>,
                  "a DLTensor* is borrowed for the call and cannot be returned, passed on or kept: "
                  "return an NDArray; to pass an argument on, take it as an NDArray");
    static_assert(HasTraits<Value>::value,
                  "a value of a type that is not converted; of a class T pass a T or a Ref<T>");
    MXNetAny raw{};
    TypeTraits<Value>::Store(std::forward<T>(value), &raw);
    return Any::Steal(raw);
  }
}

}  // namespace details MXNET_HIDDEN

template <typename T>
Any Any::Of(T&& value) {
  return details::ToAny(std::forward<T>(value));
}

template <typename T>
T Any::As() const {
  return details::ReadOrThrow<T>(value(), type_code(), [] { return std::string("the value"); });
}

template <typename T>
Array<T>::Array(const std::vector<T>& items) {
  std::vector<Any> values;
  values.reserve(items.size());
  for (const T& item : items) values.push_back(details::ToAny(T(item)));
  *this = Array<T>(std::move(values));
}

template <typename K, typename V>
Map<K, V>::Map(std::initializer_list<std::pair<K, V>> entries) {
  std::vector<Any> items;
  for (const auto& entry : entries) {
    items.push_back(details::ToAny(K(entry.first)));
    items.push_back(details::ToAny(V(entry.second)));
  }
  *this = Map(std::move(items));
}

template <typename T>
Any List<T>::Own(T value) {
  return details::ToAny(std::move(value));
}

template <typename K, typename V>
void Dict<K, V>::Set(K key, V value) const {
  details::SetEntry(object(), details::ToAny(std::move(key)), details::ToAny(std::move(value)));
}

template <typename K, typename V>
int64_t Dict<K, V>::Find(const K& key) const {
  return details::FindEntry(object()->map, details::ToAny(K(key)).raw());
}

template <typename K, typename V>
bool Map<K, V>::count(const K& key) const {
  return details::FindEntry(object(), details::ToAny(K(key)).raw()) >= 0;
}

template <typename K, typename V>
V Map<K, V>::at(const K& key) const {
  int64_t entry = details::FindEntry(object(), details::ToAny(K(key)).raw());
  if (entry < 0) MXNET_THROW("KeyError") << "the map has no such key";
  if constexpr (std::is_same_v<V, Any>) return value(static_cast<size_t>(entry));
  return value(static_cast<size_t>(entry)).template As<V>();
}

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_TYPE_TRAITS_H_
