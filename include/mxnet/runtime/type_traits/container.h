/*!
 * \file mxnet/runtime/type_traits/container.h
 * \brief Runs of integers, containers, and types that may be absent.
 */
#ifndef MXNET_RUNTIME_TYPE_TRAITS_CONTAINER_H_
#define MXNET_RUNTIME_TYPE_TRAITS_CONTAINER_H_

#include <mxnet/runtime/type_traits/base.h>

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace mxnet {
namespace runtime MXNET_HIDDEN {

template <>
struct TypeTraits<ShapeView> {
  [[gnu::cold]] static std::string Name() { return "tuple of int"; }
  [[gnu::cold]] static std::string Annotation() { return "tuple[int, ...]"; }
  [[gnu::cold]] static std::string ArgumentAnnotation() { return "Sequence[int]"; }
  static Match TryFrom(const MXNetValue& value, int type_code, ShapeView* out) {
    if (type_code == kMXNetIntTuple || type_code == kMXNetIntList) {
      *out = ShapeView(value.v_ints.data, value.v_ints.size);
      return Match::kOk;
    }
    if (ObjectTypeOf(value, type_code) != kMXNetObjectShape) return Match::kWrongType;
    const MXNetIntArray& ints = static_cast<const MXNetShapeObject*>(value.v_handle)->ints;
    *out = ShapeView(ints.data, ints.size);
    return Match::kOk;
  }
  static void Store(ShapeView value, MXNetAny* out) { details::StoreObject(Shape(value), out); }
};

template <>
struct TypeTraits<Shape> {
  [[gnu::cold]] static std::string Name() { return "tuple of int"; }
  [[gnu::cold]] static std::string Annotation() { return "tuple[int, ...]"; }
  [[gnu::cold]] static std::string ArgumentAnnotation() { return "Sequence[int]"; }
  static Match TryFrom(const MXNetValue& value, int type_code, Shape* out) {
    if (details::TryShare(value, type_code, kMXNetObjectShape, out) == Match::kOk) {
      return Match::kOk;
    }
    ShapeView view;
    if (TypeTraits<ShapeView>::TryFrom(value, type_code, &view) == Match::kOk) {
      *out = Shape(view);
      return Match::kOk;
    }
    return FromArray(value, type_code, out);
  }
  static void Store(Shape value, MXNetAny* out) { details::StoreObject(std::move(value), out); }

 private:
  /*! \brief An object that is a span of values, all of them integers. */
  static Match FromArray(const MXNetValue& value, int type_code, Shape* out) {
    const MXNetAnyArray* run = details::ItemsOf(value, type_code);
    if (run == nullptr) return Match::kWrongType;
    std::vector<int64_t> dims(run->size);
    for (size_t i = 0; i < run->size; ++i) {
      if (run->data[i].type_code != kMXNetInt) return Match::kWrongType;
      dims[i] = run->data[i].value.v_int64;
    }
    *out = Shape(ShapeView(dims));
    return Match::kOk;
  }
};

template <>
struct TypeTraits<Any> {
  [[gnu::cold]] static std::string Name() { return "Any"; }
  [[gnu::cold]] static std::string Annotation() { return "Any"; }
  static Match TryFrom(const MXNetValue& value, int type_code, Any* out) {
    *out = details::Own(value, type_code);
    return Match::kOk;
  }
  static void Store(Any value, MXNetAny* out) { *out = value.Detach(); }
};

template <>
struct TypeTraits<ObjectRef> {
  [[gnu::cold]] static std::string Name() { return "object"; }
  [[gnu::cold]] static std::string Annotation() { return "Any"; }
  static Match TryFrom(const MXNetValue& value, int type_code, ObjectRef* out) {
    if (type_code == kMXNetNull) {
      *out = nullptr;
      return Match::kOk;
    }
    Any any = details::Own(value, type_code);
    if (!IsObjectCode(any.type_code())) return Match::kWrongType;
    *out = ObjectRef::Steal(any.Detach().value.v_handle);
    return Match::kOk;
  }
  static void Store(ObjectRef value, MXNetAny* out) { details::StoreObject(std::move(value), out); }
};

namespace details MXNET_HIDDEN {

/*! \brief Appends a span of values, read where they lie, so that what T borrows lives on. */
template <typename T>
Match ReadRun(const MXNetAny* items, size_t size, std::vector<T>* out) {
  out->reserve(size);
  for (size_t i = 0; i < size; ++i) {
    T item{};
    const Match match = TypeTraits<T>::TryFrom(items[i].value, items[i].type_code, &item);
    if (match != Match::kOk) return match;
    out->push_back(std::move(item));
  }
  return Match::kOk;
}

template <typename T>
Match ReadInts(const MXNetIntArray& ints, std::vector<T>* out) {
  out->reserve(ints.size);
  for (size_t i = 0; i < ints.size; ++i) {
    if constexpr (std::is_same_v<T, Any>) {
      out->push_back(AnyOfInt(ints.data[i]));
    } else {
      const MXNetAny any = AnyOfInt(ints.data[i]).raw();
      const Match match = ReadRun(&any, 1, out);
      if (match != Match::kOk) return match;
    }
  }
  return Match::kOk;
}

}  // namespace details MXNET_HIDDEN

/*!
 * \brief Reads tuples and lists, element by element.
 *
 * Elements of a view type (std::string_view, const DLTensor*) point into the argument and are valid
 * for the call, as such a parameter itself is.
 */
template <typename T>
struct TypeTraits<std::vector<T>> {
  [[gnu::cold]] static std::string Name() { return "list of " + TypeTraits<T>::Name(); }
  [[gnu::cold]] static std::string Annotation() { return TypeTraits<Array<T>>::Annotation(); }
  [[gnu::cold]] static std::string ArgumentAnnotation() {
    return TypeTraits<Array<T>>::ArgumentAnnotation();
  }
  static constexpr int32_t kRole = details::RoleOfSequence<T>();
  static Match TryFrom(const MXNetValue& value, int type_code, std::vector<T>* out) {
    static_assert(details::IsElement<T>());
    out->clear();
    switch (type_code) {
      case kMXNetIntTuple:
      case kMXNetIntList:
        return details::ReadInts(value.v_ints, out);
      case kMXNetTuple:
      case kMXNetList:
        return details::ReadRun(value.v_seq.data, value.v_seq.size, out);
      default:
        break;
    }
    if (ObjectTypeOf(value, type_code) == kMXNetObjectShape) {
      return details::ReadInts(static_cast<const MXNetShapeObject*>(value.v_handle)->ints, out);
    }
    const MXNetAnyArray* items = details::ItemsOf(value, type_code);
    if (items == nullptr) return Match::kWrongType;
    return details::ReadRun(items->data, items->size, out);
  }
  static void Store(const std::vector<T>& value, MXNetAny* out) {
    details::StoreObject(Array<T>(value), out);
  }
};

template <>
struct TypeTraits<Tuple> {
  [[gnu::cold]] static std::string Name() { return "tuple"; }
  [[gnu::cold]] static std::string Annotation() { return "tuple[Any, ...]"; }
  [[gnu::cold]] static std::string ArgumentAnnotation() { return "Sequence[Any]"; }
  static Match TryFrom(const MXNetValue& value, int type_code, Tuple* out) {
    if (details::TryShare(value, type_code, kMXNetObjectTuple, out) == Match::kOk) {
      return Match::kOk;
    }
    std::vector<Any> items;
    const Match match = TypeTraits<std::vector<Any>>::TryFrom(value, type_code, &items);
    if (match == Match::kOk) *out = Tuple(std::move(items));
    return match;
  }
  static void Store(Tuple value, MXNetAny* out) { details::StoreObject(std::move(value), out); }
};

namespace details MXNET_HIDDEN {

/*! \brief Whether every element of a run can be read as T, or what is wrong with the first other.
 */
template <typename T>
Match AllMatch(const Any* begin, const Any* end, size_t step) {
  if constexpr (!std::is_same_v<T, Any>) {
    for (const Any* item = begin; item < end; item += step) {
      T ignored{};
      const Match match = TypeTraits<T>::TryFrom(item->value(), item->type_code(), &ignored);
      if (match != Match::kOk) return match;
    }
  }
  return Match::kOk;
}

}  // namespace details MXNET_HIDDEN

template <typename T>
struct TypeTraits<Array<T>> {
  [[gnu::cold]] static std::string Name() {
    if constexpr (std::is_same_v<T, Any>) return "list";
    return "list of " + TypeTraits<T>::Name();
  }
  [[gnu::cold]] static std::string Annotation() {
    return "ffi.Array[" + details::ResultAnnotation<T>() + "]";
  }
  [[gnu::cold]] static std::string ArgumentAnnotation() {
    return "Sequence[" + details::ArgumentAnnotation<T>() + "]";
  }
  static constexpr int32_t kRole = details::RoleOfSequence<T>();
  static Match TryFrom(const MXNetValue& value, int type_code, Array<T>* out) {
    static_assert(details::IsElement<T>());
    ObjectRef run;
    if (ObjectTypeOf(value, type_code) == kMXNetObjectArray) {
      run = ObjectRef::Borrow(value.v_handle);
    } else {
      std::vector<Any> items;
      const Match match = TypeTraits<std::vector<Any>>::TryFrom(value, type_code, &items);
      if (match != Match::kOk) return match;
      run = Array<Any>(std::move(items));
    }
    Array<T> array{std::move(run)};
    const Match match = details::AllMatch<T>(array.begin(), array.end(), 1);
    if (match == Match::kOk) *out = std::move(array);
    return match;
  }
  static void Store(Array<T> value, MXNetAny* out) { details::StoreObject(std::move(value), out); }
};

namespace details MXNET_HIDDEN {

/*! \brief Whether the keys and values of a Map or Dict can be read as K and V. */
template <typename K, typename V, typename Entries>
Match EntriesMatch(const Entries& entries) {
  if (entries.size() == 0) return Match::kOk;
  const Any* begin = &entries.key(0);
  const Any* end = begin + 2 * entries.size();
  const Match keys = AllMatch<K>(begin, end, 2);
  return keys == Match::kOk ? AllMatch<V>(begin + 1, end, 2) : keys;
}

/*! \brief Key, value, key, value, ... */
template <typename Entries>
std::vector<Any> EntriesOf(const Entries& entries) {
  if (entries.size() == 0) return {};
  const Any* begin = &entries.key(0);
  return std::vector<Any>(begin, begin + 2 * entries.size());
}

}  // namespace details MXNET_HIDDEN

template <typename K, typename V>
struct TypeTraits<Map<K, V>> {
  [[gnu::cold]] static std::string Name() {
    if constexpr (std::is_same_v<K, Any> && std::is_same_v<V, Any>) return "dict";
    return "dict of " + TypeTraits<K>::Name() + " to " + TypeTraits<V>::Name();
  }
  [[gnu::cold]] static std::string Annotation() {
    return "ffi.Map[" + details::ResultAnnotation<K>() + ", " + details::ResultAnnotation<V>() +
           "]";
  }
  [[gnu::cold]] static std::string ArgumentAnnotation() {
    return "Mapping[" + details::ArgumentAnnotation<K>() + ", " + details::ArgumentAnnotation<V>() +
           "]";
  }
  static Match TryFrom(const MXNetValue& value, int type_code, Map<K, V>* out) {
    static_assert(details::IsElement<K>() && details::IsElement<V>());
    ObjectRef entries;
    if (type_code == kMXNetDict) {
      entries = Map<Any, Any>(details::OwnRun(value.v_seq));
    } else if (ObjectTypeOf(value, type_code) == kMXNetObjectMap) {
      entries = ObjectRef::Borrow(value.v_handle);
    } else if (ObjectTypeOf(value, type_code) == kMXNetObjectDict) {
      const Dict<Any, Any> dict{ObjectRef::Borrow(value.v_handle)};
      entries = Map<Any, Any>(details::EntriesOf(dict));
    } else {
      return Match::kWrongType;
    }
    Map<K, V> map{std::move(entries)};
    const Match match = details::EntriesMatch<K, V>(map);
    if (match == Match::kOk) *out = std::move(map);
    return match;
  }
  static void Store(Map<K, V> value, MXNetAny* out) { details::StoreObject(std::move(value), out); }
};

/*! \brief A List is shared; anything else that is a list is copied into a new one. */
template <typename T>
struct TypeTraits<List<T>> {
  [[gnu::cold]] static std::string Name() { return TypeTraits<Array<T>>::Name(); }
  [[gnu::cold]] static std::string Annotation() {
    return "ffi.List[" + details::ResultAnnotation<T>() + "]";
  }
  [[gnu::cold]] static std::string ArgumentAnnotation() {
    return TypeTraits<Array<T>>::ArgumentAnnotation();
  }
  static constexpr int32_t kRole = details::RoleOfSequence<T>();
  static Match TryFrom(const MXNetValue& value, int type_code, List<T>* out) {
    static_assert(details::IsElement<T>());
    if (ObjectTypeOf(value, type_code) == kMXNetObjectList) {
      List<T> list{ObjectRef::Borrow(value.v_handle)};
      const Match match = details::AllMatch<T>(list.begin(), list.end(), 1);
      if (match == Match::kOk) *out = std::move(list);
      return match;
    }
    Array<T> array;
    const Match match = TypeTraits<Array<T>>::TryFrom(value, type_code, &array);
    if (match == Match::kOk) *out = List<T>(std::vector<Any>(array.begin(), array.end()));
    return match;
  }
  static void Store(List<T> value, MXNetAny* out) { details::StoreObject(std::move(value), out); }
};

/*! \brief A Dict is shared; anything else that is a dict is copied into a new one. */
template <typename K, typename V>
struct TypeTraits<Dict<K, V>> {
  [[gnu::cold]] static std::string Name() { return TypeTraits<Map<K, V>>::Name(); }
  [[gnu::cold]] static std::string Annotation() {
    return "ffi.Dict[" + details::ResultAnnotation<K>() + ", " + details::ResultAnnotation<V>() +
           "]";
  }
  [[gnu::cold]] static std::string ArgumentAnnotation() {
    return TypeTraits<Map<K, V>>::ArgumentAnnotation();
  }
  static Match TryFrom(const MXNetValue& value, int type_code, Dict<K, V>* out) {
    static_assert(details::IsElement<K>() && details::IsElement<V>());
    if (ObjectTypeOf(value, type_code) == kMXNetObjectDict) {
      Dict<K, V> dict{ObjectRef::Borrow(value.v_handle)};
      const Match match = details::EntriesMatch<K, V>(dict);
      if (match == Match::kOk) *out = std::move(dict);
      return match;
    }
    Map<K, V> map;
    const Match match = TypeTraits<Map<K, V>>::TryFrom(value, type_code, &map);
    if (match == Match::kOk) *out = Dict<K, V>(details::EntriesOf(map));
    return match;
  }
  static void Store(Dict<K, V> value, MXNetAny* out) {
    details::StoreObject(std::move(value), out);
  }
};

template <typename T>
struct TypeTraits<std::optional<T>> {
  [[gnu::cold]] static std::string Name() { return TypeTraits<T>::Name() + " or None"; }
  [[gnu::cold]] static std::string Annotation() {
    return details::ResultAnnotation<T>() + " | None";
  }
  [[gnu::cold]] static std::string ArgumentAnnotation() {
    return details::ArgumentAnnotation<T>() + " | None";
  }
  static constexpr int32_t kRole = details::RoleOf<T>();
  static Match TryFrom(const MXNetValue& value, int type_code, std::optional<T>* out) {
    static_assert(details::IsElement<T>());
    if (type_code == kMXNetNull) {
      out->reset();
      return Match::kOk;
    }
    T inner{};
    Match match = TypeTraits<T>::TryFrom(value, type_code, &inner);
    if (match == Match::kOk) *out = std::move(inner);
    return match;
  }
  static void Store(std::optional<T> value, MXNetAny* out) {
    if (value) {
      TypeTraits<T>::Store(std::move(*value), out);
    } else {
      out->type_code = kMXNetNull;
    }
  }
};

namespace details MXNET_HIDDEN {

/*! \brief The first element that is not a T, of a span of integers or values. */
template <typename T>
[[gnu::cold]] std::string CulpritOfRun(const MXNetValue& value, int type_code) {
  const bool ints = type_code == kMXNetIntTuple || type_code == kMXNetIntList;
  const bool borrowed = type_code == kMXNetTuple || type_code == kMXNetList;
  const MXNetAnyArray* items = borrowed ? &value.v_seq : ItemsOf(value, type_code);
  const size_t size = ints ? value.v_ints.size : items != nullptr ? items->size : 0;
  for (size_t i = 0; i < size; ++i) {
    const MXNetAny element = ints ? AnyOfInt(value.v_ints.data[i]).raw() : items->data[i];
    const std::string text = CulpritAt<T>("item " + std::to_string(i), element);
    if (!text.empty()) return text;
  }
  return "";
}

template <typename T>
struct Culprit<std::vector<T>> {
  [[gnu::cold]] static std::string Of(const MXNetValue& value, int type_code) {
    return CulpritOfRun<T>(value, type_code);
  }
};
template <typename T>
struct Culprit<Array<T>> : Culprit<std::vector<T>> {};
template <typename T>
struct Culprit<List<T>> : Culprit<std::vector<T>> {};
template <>
struct Culprit<ShapeView> : Culprit<std::vector<int64_t>> {};
template <>
struct Culprit<Shape> : Culprit<std::vector<int64_t>> {};

template <typename K, typename V>
struct Culprit<Map<K, V>> {
  [[gnu::cold]] static std::string Of(const MXNetValue& value, int type_code) {
    const uint32_t kind = ObjectTypeOf(value, type_code);
    const bool is_map = kind == kMXNetObjectMap || kind == kMXNetObjectDict;
    if (type_code != kMXNetDict && !is_map) return "";
    const MXNetAnyArray& run =
        is_map ? static_cast<const MXNetMapObject*>(value.v_handle)->items : value.v_seq;
    for (size_t i = 0; i + 1 < run.size; i += 2) {
      const std::string entry = "of entry " + std::to_string(i / 2);
      std::string text = CulpritAt<K>("key " + entry, run.data[i]);
      if (text.empty()) text = CulpritAt<V>("value " + entry, run.data[i + 1]);
      if (!text.empty()) return text;
    }
    return "";
  }
};
template <typename K, typename V>
struct Culprit<Dict<K, V>> : Culprit<Map<K, V>> {};

template <typename T>
struct Culprit<std::optional<T>> : Culprit<T> {};

template <>
struct IsBorrowed<ShapeView> : std::true_type {};
template <typename T>
struct IsBorrowed<std::vector<T>> : IsBorrowed<T> {};
template <typename T>
struct IsBorrowed<std::optional<T>> : IsBorrowed<T> {};

}  // namespace details MXNET_HIDDEN

}  // namespace runtime MXNET_HIDDEN
}  // namespace mxnet

#endif  // MXNET_RUNTIME_TYPE_TRAITS_CONTAINER_H_
