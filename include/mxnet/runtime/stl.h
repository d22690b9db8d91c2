/*!
 * \file mxnet/runtime/stl.h
 * \brief Conversions of more of the standard library, for those who want them.
 *
 *   std::pair<A, B>, std::tuple<T...>          a tuple or list of that length; results are tuples
 *   std::array<T, N>                           a list or tuple of that length
 *   std::map<K, V>, std::unordered_map<K, V>   a dict, copied
 *   std::function<R(A...)>                     any callable
 *   std::variant<T...>                         what one of the alternatives takes: the first that
 *                                              does so as it is, else the first that converts it
 *
 * Without this header they are rejected where they are compiled. The values are copied: Map, Dict,
 * Tuple and TypedPackedFunc share them.
 */
#ifndef MXNET_RUNTIME_STL_H_
#define MXNET_RUNTIME_STL_H_

#include <mxnet/runtime/overload.h>

#include <array>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace mxnet {
namespace runtime MXNET_HIDDEN {
namespace details MXNET_HIDDEN {

/*! \brief The elements of a tuple or list, where they lie, in whatever form it is passed. */
class Elements {
 public:
  /*! \brief Of a value; see fits(). */
  Elements(const MXNetValue& value, int type_code, size_t expected) : run_() {
    const MXNetAnyArray* items = ItemsOf(value, type_code);
    size_t size = 0;
    if (type_code == kMXNetTuple || type_code == kMXNetList) items = &value.v_seq;
    if (type_code == kMXNetIntTuple || type_code == kMXNetIntList) {
      ints_ = &value.v_ints;
    } else if (ObjectTypeOf(value, type_code) == kMXNetObjectShape) {
      ints_ = &static_cast<const MXNetShapeObject*>(value.v_handle)->ints;
    }
    if (items != nullptr) run_ = *items;
    size = ints_ != nullptr ? ints_->size : run_.size;
    fits_ = (items != nullptr || ints_ != nullptr) && size == expected;
  }

  /*! \brief Whether it is a span of as many elements as are expected. */
  bool fits() const { return fits_; }

  template <typename T>
  Match Read(size_t i, T* out) const {
    static_assert(IsElement<T>());
    const MXNetAny item = ints_ != nullptr ? AnyOfInt(ints_->data[i]).raw() : run_.data[i];
    return TypeTraits<T>::TryFrom(item.value, item.type_code, out);
  }

 private:
  MXNetAnyArray run_;
  const MXNetIntArray* ints_{nullptr};
  bool fits_{false};
};

/*! \brief "int, str", of what each type is called by `Text`. */
template <typename... Texts>
std::string Joined(const char* between, const Texts&... texts) {
  std::string joined;
  ((joined += (joined.empty() ? "" : between) + texts), ...);
  return joined;
}

/*! \brief What std::pair and std::tuple have in common: a row of values of given types. */
template <typename Row, typename... T>
struct RowTraits {
  [[gnu::cold]] static std::string Name() {
    return "tuple[" + Joined(", ", TypeTraits<T>::Name()...) + "]";
  }
  [[gnu::cold]] static std::string Annotation() {
    return "tuple[" + (sizeof...(T) == 0 ? "()" : Joined(", ", ResultAnnotation<T>()...)) + "]";
  }
  [[gnu::cold]] static std::string ArgumentAnnotation() {
    return "tuple[" +
           (sizeof...(T) == 0 ? "()" : Joined(", ", details::ArgumentAnnotation<T>()...)) + "]";
  }
  static Match TryFrom(const MXNetValue& value, int type_code, Row* out) {
    const Elements elements(value, type_code, sizeof...(T));
    return elements.fits() ? Read(elements, out, std::index_sequence_for<T...>())
                           : Match::kWrongType;
  }
  static void Store(Row value, MXNetAny* out) {
    std::apply(
        [out](T&... item) {
          std::vector<Any> items;
          (items.push_back(ToAny(std::move(item))), ...);
          StoreObject(Tuple(std::move(items)), out);
        },
        value);
  }

 private:
  template <size_t... I>
  static Match Read([[maybe_unused]] const Elements& elements, [[maybe_unused]] Row* out,
                    std::index_sequence<I...>) {
    Match match = Match::kOk;
    [[maybe_unused]] const auto read = [&](size_t i, auto* item) {
      if (match == Match::kOk) match = elements.Read(i, item);
    };
    (read(I, &std::get<I>(*out)), ...);
    return match;
  }
};

/*! \brief What std::map and std::unordered_map have in common. */
template <typename StdMap, typename K = typename StdMap::key_type,
          typename V = typename StdMap::mapped_type>
struct StdMapTraits {
  [[gnu::cold]] static std::string Name() { return TypeTraits<Map<K, V>>::Name(); }
  [[gnu::cold]] static std::string Annotation() { return TypeTraits<Map<K, V>>::Annotation(); }
  [[gnu::cold]] static std::string ArgumentAnnotation() {
    return TypeTraits<Map<K, V>>::ArgumentAnnotation();
  }
  static Match TryFrom(const MXNetValue& value, int type_code, StdMap* out) {
    static_assert(IsElement<K>() && IsElement<V>());
    const uint32_t type_index = ObjectTypeOf(value, type_code);
    if (type_code == kMXNetDict) return Read(value.v_seq, out);
    if (type_index != kMXNetObjectMap && type_index != kMXNetObjectDict) return Match::kWrongType;
    return Read(static_cast<const MXNetMapObject*>(value.v_handle)->items, out);
  }
  static void Store(const StdMap& value, MXNetAny* out) {
    std::vector<Any> items;
    for (const auto& [key, item] : value) {
      items.push_back(ToAny(K(key)));
      items.push_back(ToAny(V(item)));
    }
    StoreObject(Map<K, V>(std::move(items)), out);
  }

 private:
  static Match Read(const MXNetAnyArray& run, StdMap* out) {
    out->clear();
    for (size_t i = 0; i + 1 < run.size; i += 2) {
      K key{};
      V item{};
      Match match = TypeTraits<K>::TryFrom(run.data[i].value, run.data[i].type_code, &key);
      if (match != Match::kOk) return match;
      match = TypeTraits<V>::TryFrom(run.data[i + 1].value, run.data[i + 1].type_code, &item);
      if (match != Match::kOk) return match;
      out->insert_or_assign(std::move(key), std::move(item));
    }
    return Match::kOk;
  }
};

template <typename... T>
struct IsBorrowed<std::tuple<T...>> : std::disjunction<IsBorrowed<T>...> {};
template <typename A, typename B>
struct IsBorrowed<std::pair<A, B>> : std::disjunction<IsBorrowed<A>, IsBorrowed<B>> {};
template <typename... T>
struct IsBorrowed<std::variant<T...>> : std::disjunction<IsBorrowed<T>...> {};
template <typename T, size_t N>
struct IsBorrowed<std::array<T, N>> : IsBorrowed<T> {};
template <typename K, typename V, typename... More>
struct IsBorrowed<std::map<K, V, More...>> : IsBorrowed<std::pair<K, V>> {};
template <typename K, typename V, typename... More>
struct IsBorrowed<std::unordered_map<K, V, More...>> : IsBorrowed<std::pair<K, V>> {};

}  // namespace details MXNET_HIDDEN

template <typename A, typename B>
struct TypeTraits<std::pair<A, B>> : details::RowTraits<std::pair<A, B>, A, B> {};
template <typename... T>
struct TypeTraits<std::tuple<T...>> : details::RowTraits<std::tuple<T...>, T...> {};
template <typename K, typename V, typename... More>
struct TypeTraits<std::map<K, V, More...>> : details::StdMapTraits<std::map<K, V, More...>> {};
template <typename K, typename V, typename... More>
struct TypeTraits<std::unordered_map<K, V, More...>>
    : details::StdMapTraits<std::unordered_map<K, V, More...>> {};

template <typename T, size_t N>
struct TypeTraits<std::array<T, N>> {
  [[gnu::cold]] static std::string Name() {
    return "list of " + std::to_string(N) + " " + TypeTraits<T>::Name();
  }
  [[gnu::cold]] static std::string Annotation() { return TypeTraits<Array<T>>::Annotation(); }
  [[gnu::cold]] static std::string ArgumentAnnotation() {
    return TypeTraits<Array<T>>::ArgumentAnnotation();
  }
  static constexpr int32_t kRole = details::RoleOfSequence<T>();
  static Match TryFrom(const MXNetValue& value, int type_code, std::array<T, N>* out) {
    const details::Elements elements(value, type_code, N);
    Match match = elements.fits() ? Match::kOk : Match::kWrongType;
    for (size_t i = 0; i < N && match == Match::kOk; ++i) match = elements.Read(i, &(*out)[i]);
    return match;
  }
  static void Store(const std::array<T, N>& value, MXNetAny* out) {
    details::StoreObject(Array<T>(std::vector<T>(value.begin(), value.end())), out);
  }
};

template <typename R, typename... Args>
struct TypeTraits<std::function<R(Args...)>> {
  using Typed = TypedPackedFunc<R(Args...)>;

  [[gnu::cold]] static std::string Name() { return TypeTraits<Typed>::Name(); }
  [[gnu::cold]] static std::string Annotation() { return TypeTraits<Typed>::Annotation(); }
  [[gnu::cold]] static std::string ArgumentAnnotation() {
    return TypeTraits<Typed>::ArgumentAnnotation();
  }
  static Match TryFrom(const MXNetValue& value, int type_code, std::function<R(Args...)>* out) {
    Typed typed;
    const Match match = TypeTraits<Typed>::TryFrom(value, type_code, &typed);
    if (match == Match::kOk) *out = std::move(typed);
    return match;
  }
  static void Store(std::function<R(Args...)> value, MXNetAny* out) {
    out->type_code = kMXNetNull;
    if (value) TypeTraits<Typed>::Store(Typed(std::move(value)), out);
  }
};

/*! \brief None, for `std::variant<std::monostate, T...>`. */
template <>
struct TypeTraits<std::monostate> {
  [[gnu::cold]] static std::string Name() { return "None"; }
  [[gnu::cold]] static std::string Annotation() { return "None"; }
  static Match TryFrom(const MXNetValue&, int type_code, std::monostate*) noexcept {
    return type_code == kMXNetNull ? Match::kOk : Match::kWrongType;
  }
  static void Store(std::monostate, MXNetAny* out) { out->type_code = kMXNetNull; }
};

template <typename... T>
struct TypeTraits<std::variant<T...>> {
  [[gnu::cold]] static std::string Name() {
    return details::Joined(" or ", TypeTraits<T>::Name()...);
  }
  [[gnu::cold]] static std::string Annotation() {
    return details::Joined(" | ", details::ResultAnnotation<T>()...);
  }
  [[gnu::cold]] static std::string ArgumentAnnotation() {
    return details::Joined(" | ", details::ArgumentAnnotation<T>()...);
  }
  // The same as that of the first alternative which is no attribute.
  static constexpr int32_t kRole = [] {
    int32_t role = kMXNetRoleAttribute;
    ((role = role == kMXNetRoleAttribute ? details::RoleOf<T>() : role), ...);
    return role;
  }();
  static Match TryFrom(const MXNetValue& value, int type_code, std::variant<T...>* out) {
    for (const bool exact : {true, false}) {
      if ((Take<T>(value, type_code, exact, out) || ...)) return Match::kOk;
    }
    return Match::kWrongType;
  }
  static void Store(std::variant<T...> value, MXNetAny* out) {
    std::visit([out](auto&& item) { *out = details::ToAny(std::move(item)).Detach(); },
               std::move(value));
  }

 private:
  template <typename U>
  static bool Take(const MXNetValue& value, int type_code, bool exact, std::variant<T...>* out) {
    static_assert(details::IsElement<U>());
    if (exact && !details::IsExact<U>(value, type_code)) return false;
    U item{};
    try {
      if (TypeTraits<U>::TryFrom(value, type_code, &item) != Match::kOk) return false;
    } catch (const Error&) {
      return false;  // another alternative may take it
    }
    *out = std::move(item);
    return true;
  }
};

}  // namespace runtime MXNET_HIDDEN
}  // namespace mxnet

#endif  // MXNET_RUNTIME_STL_H_
