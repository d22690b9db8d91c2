/*!
 * \file mxnet/runtime/type_traits/ref.h
 * \brief Objects that hold a value of a plain C++ class, and Ref<T>, a shared owner of one.
 *
 * A class becomes known to Python by MXNET_REGISTER_CLASS, see mxnet/runtime/class.h. A typed body
 * takes it as `T&`, `const T&` or `Ref<T>` and returns a `T`, which is moved into a new object, or
 * a `Ref<T>`.
 */
#ifndef MXNET_RUNTIME_TYPE_TRAITS_REF_H_
#define MXNET_RUNTIME_TYPE_TRAITS_REF_H_

#include <mxnet/runtime/type_traits/base.h>
#include <mxnet/runtime/type_traits/has_traits.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace mxnet {
namespace runtime {

namespace details MXNET_HIDDEN {

/*!
 * \brief Type index of a class: kMXNetObjectNone before MXNET_REGISTER_CLASS in this library, or,
 *        of a class of another library, before the first use.
 */
template <typename T>
struct ClassIndex {
  static inline uint32_t value = kMXNetObjectNone;
  /*! \brief Whether this library registers the class. */
  static inline bool is_own = false;
};

/*! \brief "geo::Point" of "... [with T = geo::Point]", as compilers describe a template. */
[[gnu::cold]] inline std::string TypeText(std::string_view function) {
  const size_t begin = function.find("T = ") + 4;
  return std::string(function.substr(begin, function.find_first_of(";]", begin) - begin));
}

/*! \brief "geo::Point" */
template <typename T>
[[gnu::cold]] std::string TypeText() {
  return TypeText(__PRETTY_FUNCTION__);
}

/*! \brief "demo.Counter"; a TypeError where nothing says the key. */
template <typename T>
[[gnu::cold]] std::string ClassKey() {
  if constexpr (DeclaredClass<T>::kKey != nullptr) return DeclaredClass<T>::kKey;
  const char* key = nullptr;
  if (ClassIndex<T>::value == kMXNetObjectNone) {
    MXNET_THROW("TypeError") << "the C++ class " << TypeText<T>() << " is used before "
                             << "MXNET_REGISTER_CLASS registers it, and MXNET_DECLARE_CLASS does "
                             << "not declare it";
  }
  MXNET_CHECK_CALL(MXNetObjectTypeIndex2Key(ClassIndex<T>::value, &key));
  return key;
}

template <typename T, typename... Args>
T Construct(Args&&... args) {
  if constexpr (std::is_constructible_v<T, Args...>) {
    return T(std::forward<Args>(args)...);
  } else {
    return T{std::forward<Args>(args)...};  // an aggregate
  }
}

/*! \brief An object with a T in it. */
template <typename T>
struct Instance {
  MXNetObject header;
  T value;

  template <typename... Args>
  explicit Instance(Args&&... args)
      : header{1, ClassIndex<T>::value, &DeleteObject<Instance>, nullptr},
        value(Construct<T>(std::forward<Args>(args)...)) {}

  /*! \brief Bytes from the header to the value; offsetof is for simpler types. */
  static constexpr size_t Offset() {
    return (sizeof(MXNetObject) + alignof(T) - 1) / alignof(T) * alignof(T);
  }
};

/*!
 * \brief Looks a class up that another library may have registered, or registered anew.
 *
 * False, with the reason as the last error, where its ClassIndex is none then.
 */
template <typename T>
[[gnu::cold]] bool FindClass() noexcept {
  if constexpr (DeclaredClass<T>::kKey != nullptr) {
    if (!ClassIndex<T>::is_own) {
      uint32_t index = __atomic_load_n(&ClassIndex<T>::value, __ATOMIC_RELAXED);
      const int status = MXNetObjectFindType(DeclaredClass<T>::kKey, sizeof(T),
                                             static_cast<int64_t>(Instance<T>::Offset()), &index);
      __atomic_store_n(&ClassIndex<T>::value, index, __ATOMIC_RELAXED);
      return status == 0;
    }
  }
  return ClassIndex<T>::value != kMXNetObjectNone;
}

/*! \brief What messages call a class: its key, and why no object is one where that is so. */
template <typename T>
[[gnu::cold]] std::string ClassName() {
  if (DeclaredClass<T>::kKey == nullptr || FindClass<T>()) return ClassKey<T>();
  return ClassKey<T>() + " (" + Error::FromLast().message() + ")";
}

/*! \brief Address of the value of a base class in an object; nullptr where it has no such base. */
inline void* FindBase(MXNetObject* object, uint32_t wanted) noexcept {
  const MXNetTypeInfo* info = nullptr;
  if (wanted == kMXNetObjectNone || MXNetObjectGetTypeInfo(object->type_index, &info) != 0 ||
      info == nullptr) {
    return nullptr;
  }
  int64_t offset = info->value_offset;
  while (info->type_index != wanted) {
    if (info->base_index == kMXNetObjectNone) return nullptr;
    offset += info->base_offset;
    MXNetObjectGetTypeInfo(info->base_index, &info);
  }
  return reinterpret_cast<char*>(object) + offset;
}

/*! \brief The T in an object, nullptr where it holds another class. */
template <typename T>
T* FindValue(MXNetObject* object) noexcept {
  // Another thread may look the class up meanwhile.
  if (object->type_index == __atomic_load_n(&ClassIndex<T>::value, __ATOMIC_RELAXED)) {
    return reinterpret_cast<T*>(reinterpret_cast<char*>(object) + Instance<T>::Offset());
  }
  if (DeclaredClass<T>::kKey != nullptr && !FindClass<T>()) return nullptr;
  return static_cast<T*>(FindBase(object, ClassIndex<T>::value));
}

template <typename T>
T* FindValue(const MXNetValue& value, int type_code) noexcept {
  if (type_code != kMXNetObjectHandle || value.v_handle == nullptr) return nullptr;
  return FindValue<T>(static_cast<MXNetObject*>(value.v_handle));
}

/*! \brief A new object with a T made of args; TypeError where T is not registered. */
template <typename T, typename... Args>
ObjectRef NewInstance(Args&&... args) {
  if constexpr (DeclaredClass<T>::kKey != nullptr) {
    if (!FindClass<T>()) throw Error::FromLast().In("an object is made");
  } else if (ClassIndex<T>::value == kMXNetObjectNone) {
    MXNET_THROW("TypeError") << "an object is made of the C++ class " << TypeText<T>()
                             << ", which MXNET_REGISTER_CLASS has not registered";
  }
  return ObjectRef::Steal(new Instance<T>(std::forward<Args>(args)...));
}

/*! \brief What a typed body's parameter `T&` is read into: borrowed for the call. */
template <typename T>
struct ClassArgument {
  T* value{nullptr};

  operator T&() const noexcept { return *value; }
};

/*! \brief What a parameter declared as Arg is read into. */
template <typename Arg, bool = kIsClass<std::decay_t<Arg>>>
struct Held {
  using type = std::decay_t<Arg>;
  static_assert(HasTraits<type>::value,
                "a parameter of a type that is not converted: of a class T take T&, const T& or "
                "Ref<T>, of an array const DLTensor* or NDArray, of anything Any");
  static_assert(!std::is_lvalue_reference_v<Arg> || std::is_const_v<std::remove_reference_t<Arg>>,
                "a parameter T& of a type that is converted: take it by value or as const T&. An "
                "NDArray, a List, a Dict or a PackedFunc by value shares what was passed, so that "
                "changes reach it; what a std::string or a std::vector becomes has to be returned");
};
template <typename Arg>
struct Held<Arg, true> {
  using type = ClassArgument<std::decay_t<Arg>>;
};

}  // namespace details MXNET_HIDDEN

/*! \brief Owns a reference to an object with a T, or nothing. Copies share the object. */
template <typename T>
class Ref : public ObjectRef {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}  // NOLINT(runtime/explicit)
  /*! \brief Of a derived class. */
  template <typename U, typename = std::enable_if_t<std::is_convertible_v<U*, T*>>>
  Ref(const Ref<U>& other) : ObjectRef(other), value_(other.get()) {}  // NOLINT(runtime/explicit)
  Ref(const Ref&) = default;
  Ref(Ref&& other) noexcept
      : ObjectRef(std::move(other)), value_(std::exchange(other.value_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    ObjectRef::operator=(std::move(other));
    value_ = other.value_;
    return *this;
  }

  /*! \brief A new object with a T made of args. */
  template <typename... Args>
  MXNET_HIDDEN static Ref Make(Args&&... args) {
    return Ref(details::NewInstance<T>(std::forward<Args>(args)...));
  }
  /*! \brief The object as one with a T, or nothing where it is of another class. */
  MXNET_HIDDEN static Ref Cast(ObjectRef object) noexcept {
    Object* raw = object.get();
    Ref ref;
    if (raw != nullptr) ref.value_ = details::FindValue<T>(raw);
    if (ref.value_ != nullptr) static_cast<ObjectRef&>(ref) = std::move(object);
    return ref;
  }

  T* get() const noexcept { return value_; }
  /*! \brief The T; a ValueError where there is none. */
  T& operator*() const {
    if (value_ == nullptr) MXNET_THROW("ValueError") << "a reference to nothing is followed";
    return *value_;
  }
  T* operator->() const { return &**this; }

 private:
  MXNET_HIDDEN explicit Ref(ObjectRef object)
      : ObjectRef(std::move(object)), value_(details::FindValue<T>(ObjectRef::get())) {}

  T* value_{nullptr};
};

template <typename T>
struct MXNET_HIDDEN TypeTraits<Ref<T>> {
  static std::string Name() { return details::ClassName<T>(); }
  static std::string Annotation() { return details::ClassKey<T>(); }
  static Match TryFrom(const MXNetValue& value, int type_code, Ref<T>* out) {
    if (details::FindValue<T>(value, type_code) == nullptr) return Match::kWrongType;
    *out = Ref<T>::Cast(ObjectRef::Borrow(value.v_handle));
    return Match::kOk;
  }
  static void Store(Ref<T> value, MXNetAny* out) { details::StoreObject(std::move(value), out); }
};

template <typename T>
struct MXNET_HIDDEN TypeTraits<details::ClassArgument<T>> {
  static std::string Name() { return details::ClassName<T>(); }
  static std::string Annotation() { return details::ClassKey<T>(); }
  static Match TryFrom(const MXNetValue& value, int type_code, details::ClassArgument<T>* out) {
    out->value = details::FindValue<T>(value, type_code);
    return out->value == nullptr ? Match::kWrongType : Match::kOk;
  }
};

}  // namespace runtime
}  // namespace mxnet

/*!
 * \brief Says that a C++ class is registered under a key, by this library or by another.
 *
 *   struct Point { double x, y; };
 *   MXNET_DECLARE_CLASS(Point, "geo.Point");
 *
 * It stands outside of namespaces, in the header that defines the class. Each library that includes
 * the header may take, make and return objects of the class, whatever compiler made it; the one
 * that registers the class has to be loaded before the first object is made, not before the others.
 */
#define MXNET_DECLARE_CLASS(Type, Key)                               \
  template <>                                                        \
  struct MXNET_HIDDEN mxnet::runtime::details::DeclaredClass<Type> { \
    static constexpr const char* kKey = Key;                         \
  }

#endif  // MXNET_RUNTIME_TYPE_TRAITS_REF_H_
