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
#include <type_traits>
#include <utility>

namespace mxnet {
namespace runtime {

namespace details {

/*! \brief Type index of a registered class, kMXNetObjectNone before MXNET_REGISTER_CLASS. */
template <typename T>
struct ClassIndex {
  static inline uint32_t value = kMXNetObjectNone;
};

/*! \brief "demo.Counter" */
template <typename T>
std::string ClassKey() {
  const char* key = nullptr;
  if (ClassIndex<T>::value == kMXNetObjectNone ||
      MXNetObjectTypeIndex2Key(ClassIndex<T>::value, &key) != 0) {
    return "an object of a C++ class that is not registered";
  }
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
  void* value = object->type_index == ClassIndex<T>::value
                    ? reinterpret_cast<char*>(object) + Instance<T>::Offset()
                    : FindBase(object, ClassIndex<T>::value);
  return static_cast<T*>(value);
}

template <typename T>
T* FindValue(const MXNetValue& value, int type_code) noexcept {
  if (type_code != kMXNetObjectHandle || value.v_handle == nullptr) return nullptr;
  return FindValue<T>(static_cast<MXNetObject*>(value.v_handle));
}

/*! \brief A new object with a T made of args; TypeError where T is not registered. */
template <typename T, typename... Args>
ObjectRef NewInstance(Args&&... args) {
  if (ClassIndex<T>::value == kMXNetObjectNone) {
    MXNET_THROW("TypeError") << "an object is made of a C++ class that MXNET_REGISTER_CLASS has "
                             << "not registered";
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
};
template <typename Arg>
struct Held<Arg, true> {
  using type = ClassArgument<std::decay_t<Arg>>;
};

}  // namespace details

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
  static Ref Make(Args&&... args) {
    return Ref(details::NewInstance<T>(std::forward<Args>(args)...));
  }
  /*! \brief The object as one with a T, or nothing where it is of another class. */
  static Ref Cast(ObjectRef object) noexcept {
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
  explicit Ref(ObjectRef object)
      : ObjectRef(std::move(object)), value_(details::FindValue<T>(ObjectRef::get())) {}

  T* value_{nullptr};
};

template <typename T>
struct TypeTraits<Ref<T>> {
  static std::string Name() { return details::ClassKey<T>(); }
  static std::string Annotation() { return details::ClassKey<T>(); }
  static Match TryFrom(const MXNetValue& value, int type_code, Ref<T>* out) {
    if (details::FindValue<T>(value, type_code) == nullptr) return Match::kWrongType;
    *out = Ref<T>::Cast(ObjectRef::Borrow(value.v_handle));
    return Match::kOk;
  }
  static void Store(Ref<T> value, MXNetAny* out) { details::StoreObject(std::move(value), out); }
};

template <typename T>
struct TypeTraits<details::ClassArgument<T>> {
  static std::string Name() { return details::ClassKey<T>(); }
  static std::string Annotation() { return details::ClassKey<T>(); }
  static Match TryFrom(const MXNetValue& value, int type_code, details::ClassArgument<T>* out) {
    out->value = details::FindValue<T>(value, type_code);
    return out->value == nullptr ? Match::kWrongType : Match::kOk;
  }
};

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_TYPE_TRAITS_REF_H_
