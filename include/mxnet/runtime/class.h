/*!
 * \file mxnet/runtime/class.h
 * \brief MXNET_REGISTER_CLASS: makes a C++ class one of Python's too.
 *
 *   MXNET_REGISTER_CLASS(Counter, "demo.Counter")
 *       .describe("Counts up.")
 *       .def_init<int64_t>().arg("start", 0, "Where it begins.")
 *       .def_readwrite("value", &Counter::value, "What it has come to.")
 *       .def("add", &Counter::Add, "Counts on.").arg("by", 1, "How far.");
 *
 * Any class will do; it needs no base of the runtime's. In Python `ffi.get_class("demo.Counter")`
 * is a class, whose objects hold a Counter each. C++ takes one as `Counter&`, `const Counter&` or
 * `Ref<Counter>`.
 */
#ifndef MXNET_RUNTIME_CLASS_H_
#define MXNET_RUNTIME_CLASS_H_

#include <mxnet/runtime/registry.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace mxnet {
namespace runtime {
namespace details MXNET_HIDDEN {

/*! \brief What the getter and the setter of a field need; one a field. */
template <typename Get, typename Set>
struct FieldAccess {
  std::string name; /*!< "demo.Counter.value" */
  Get get;
  Set set;
};

template <typename T>
T& ValueOf(MXNetObjectHandle self, const std::string& what) {
  T* value = self == nullptr ? nullptr : FindValue<T>(static_cast<MXNetObject*>(self));
  if (value == nullptr) {
    MXNetValue given{};
    given.v_handle = self;
    MXNET_THROW("TypeError") << what << ": expected " << ClassKey<T>() << ", got "
                             << (self == nullptr ? "None" : TypeNameOf(given, kMXNetObjectHandle));
  }
  return *value;
}

/*! \brief Text is borrowed, which saves the object; everything else becomes an owned value. */
template <typename V>
void StoreField(V&& value, MXNetAny* out) {
  if constexpr (std::is_same_v<V, const std::string&>) {
    out->type_code = kMXNetStr;
    out->value.v_str = MXNetByteArray{value.data(), value.size()};
  } else {
    *out = ToAny(std::forward<V>(value)).Detach();
  }
}

inline int SetLast(const Error& error) noexcept { return error.SetLast(); }

template <typename T, typename Access>
__attribute__((no_sanitize("null"))) int GetField(void* resource, MXNetObjectHandle self,
                                                  MXNetAny* out) {
  return Guarded(
      [&] {
        auto* access = static_cast<Access*>(resource);
        const T& value = ValueOf<T>(self, access->name);
        StoreField<decltype(access->get(value))>(access->get(value), out);
        return 0;
      },
      SetLast);
}

template <typename T, typename V, typename Access>
__attribute__((no_sanitize("null"))) int SetField(void* resource, MXNetObjectHandle self,
                                                  const MXNetAny* value) {
  return Guarded(
      [&] {
        auto* access = static_cast<Access*>(resource);
        access->set(ValueOf<T>(self, access->name),
                    ReadOrThrow<V>(value->value, value->type_code, [&] { return access->name; }));
        return 0;
      },
      SetLast);
}

/*! \brief A method of a class as a callable that takes the object first. */
template <typename T, typename F>
auto MethodBody(F body) {
  return body;
}
template <typename T, typename C, typename R, typename... Args>
auto MethodBody(R (C::*method)(Args...)) {
  return
      [method](T& self, Args... args) -> R { return (self.*method)(std::forward<Args>(args)...); };
}
template <typename T, typename C, typename R, typename... Args>
auto MethodBody(R (C::*method)(Args...) noexcept) {
  return MethodBody<T>(static_cast<R (C::*)(Args...)>(method));
}
template <typename T, typename C, typename R, typename... Args>
auto MethodBody(R (C::*method)(Args...) const) {
  return [method](const T& self, Args... args) -> R {
    return (self.*method)(std::forward<Args>(args)...);
  };
}
template <typename T, typename C, typename R, typename... Args>
auto MethodBody(R (C::*method)(Args...) const noexcept) {
  return MethodBody<T>(static_cast<R (C::*)(Args...) const>(method));
}

template <typename T, typename Base, typename = void>
struct IsPlainBase : std::false_type {};
template <typename T, typename Base>
struct IsPlainBase<T, Base, std::void_t<decltype(static_cast<T*>(std::declval<Base*>()))>>
    : std::is_base_of<Base, T> {};

}  // namespace details MXNET_HIDDEN

/*! \brief Collects the one description of a class. */
template <typename T>
class MXNET_HIDDEN ClassRegistry {
 public:
  ClassRegistry(std::string key, const char* file, int line)
      : key_(std::move(key)), file_(file), line_(line) {
    static_assert(details::kIsClass<T>, "this type has a counterpart in Python already");
    repeated_ = std::exchange(details::ClassIndex<T>::is_own, true);
    // At once, because the signature of a method may name the class itself.
    if (!repeated_) MXNetObjectTypeKey2Index(key_.c_str(), &details::ClassIndex<T>::value);
  }

  /*! \brief What the class is; its first line is a summary. */
  ClassRegistry& describe(std::string doc) {
    doc_ = std::move(doc);
    return *this;
  }

  /*! \brief Makes the class derive from one that is registered before. */
  template <typename Base>
  ClassRegistry& def_base() {
    static_assert(details::IsPlainBase<T, Base>::value, "expected a base that is not virtual");
    // Any address would do: the distance is that of the types.
    auto* derived = reinterpret_cast<T*>(uintptr_t{1} << 12);
    base_offset_ =
        reinterpret_cast<char*>(static_cast<Base*>(derived)) - reinterpret_cast<char*>(derived);
    base_ = &details::ClassIndex<Base>::value;
    find_base_ = &details::FindClass<Base>;
    return *this;
  }

  /*! \brief Lets Python make objects by the constructor that takes Args. */
  template <typename... Args>
  ClassRegistry& def_init() {
    return def_init([](Args... args) { return Ref<T>::Make(std::forward<Args>(args)...); });
  }
  /*! \brief Lets Python make objects by a callable that returns a T or a Ref<T>. */
  template <typename F>
  ClassRegistry& def_init(F make) {
    return Add("__init__", std::move(make), "", kMXNetMethodStatic);
  }

  /*! \brief A data member that Python may read. */
  template <typename M, typename C>
  ClassRegistry& def_readonly(std::string name, M C::* member, std::string doc = "") {
    return AddField<M>(std::move(name), Reader(member), nullptr, std::move(doc));
  }
  /*! \brief A data member that Python may read and write. */
  template <typename M, typename C>
  ClassRegistry& def_readwrite(std::string name, M C::* member, std::string doc = "") {
    return AddField<M>(
        std::move(name), Reader(member),
        [member](T& self, M value) { self.*member = std::move(value); }, std::move(doc));
  }
  /*! \brief A value that a callable computes of a `const T&`. */
  template <typename Get>
  ClassRegistry& def_property(std::string name, Get get, std::string doc = "") {
    auto reader = Property(std::move(get));
    using Value = std::decay_t<decltype(reader(std::declval<const T&>()))>;
    return AddField<Value>(std::move(name), std::move(reader), nullptr, std::move(doc));
  }
  /*! \brief The same with a callable `void(T&, V)` that sets it. */
  template <typename Get, typename Set,
            typename = std::enable_if_t<!std::is_convertible_v<Set, std::string>>>
  ClassRegistry& def_property(std::string name, Get get, Set set, std::string doc = "") {
    auto reader = Property(std::move(get));
    using Value = std::decay_t<decltype(reader(std::declval<const T&>()))>;
    return AddField<Value>(std::move(name), std::move(reader),
                           details::MethodBody<T>(std::move(set)), std::move(doc));
  }

  /*!
   * \brief A method: a member function, or a callable that takes the object first.
   *
   * A name with two underscores means what it means in Python.
   */
  template <typename F>
  ClassRegistry& def(std::string name, F body, std::string doc = "") {
    return Add(std::move(name), details::MethodBody<T>(std::move(body)), std::move(doc), 0);
  }
  /*! \brief A function of the class, which takes no object. */
  template <typename F>
  ClassRegistry& def_static(std::string name, F body, std::string doc = "") {
    return Add(std::move(name), std::move(body), std::move(doc), kMXNetMethodStatic);
  }
  /*! \brief `==` and `!=` by the C++ operator==. */
  ClassRegistry& def_eq() {
    return def("__eq__", [](const T& self, const T& other) -> bool { return self == other; })
        .arg("other", "The object compared with.");
  }
  /*! \brief `copy.copy` by the copy constructor. */
  ClassRegistry& def_copy() {
    return def("__copy__", [](const T& self) { return T(self); });
  }
  /*!
   * \brief Pickling: get returns the state of a `const T&`, set makes a T or a Ref<T> of a state.
   *
   * Without it a pickle holds the fields, and what __init__ and the fields can set is restored.
   */
  template <typename Get, typename Set>
  ClassRegistry& def_pickle(Get get, Set set) {
    def("__ffi_getstate__", std::move(get));
    return def_static("__ffi_setstate__", std::move(set)).arg("state", "What the pickle holds.");
  }

  /*! \brief A parameter of the method defined last, after the object itself. */
  ClassRegistry& arg(std::string name, std::string doc = "") {
    Last().about.Add(std::move(name), "", std::move(doc), kMXNetParamRequired);
    return *this;
  }
  /*! \brief The same with a default and no text: whatever is not text is a default. */
  template <typename V, typename = std::enable_if_t<!std::is_convertible_v<V, std::string_view> ||
                                                    std::is_null_pointer_v<V>>>
  ClassRegistry& arg(std::string name, V default_value) {
    return arg(std::move(name), std::move(default_value), "");
  }
  /*! \brief The same with a default: nullptr, a bool, a number, a string. */
  template <typename V>
  ClassRegistry& arg(std::string name, V default_value, std::string doc) {
    Any kept;
    try {
      kept = details::ToAny(std::move(default_value));
    } catch (const Error& error) {
      // While a library loads nothing can catch it, so that Commit throws it.
      if (!failure_) failure_ = error;
    }
    Last().about.Add(std::move(name), "", std::move(doc), kMXNetParamOptional, std::move(kept));
    return *this;
  }
  /*! \brief The parameters behind this, of the method defined last, are taken by name only. */
  ClassRegistry& keyword_only() {
    Last().about.BeginKeywordOnly();
    return *this;
  }
  /*! \brief Python type expression of the result of the method defined last. */
  ClassRegistry& returns(std::string type) {
    Last().about.returns = std::move(type);
    return *this;
  }
  /*! \brief Lets Python run other threads during the method defined last. */
  ClassRegistry& release_gil(int64_t min_bytes = 0) {
    Last().release_bytes = min_bytes;
    return *this;
  }

  /*!
   * \brief Registers; called once the whole chain has been read.
   *
   * ValueError where the key or the C++ class is registered already, where the base is not, or
   * where the description of a method contradicts its C++ signature.
   */
  void Commit() {
    if (repeated_) {
      MXNET_THROW("ValueError") << key_ << ": its C++ class is registered as "
                                << details::ClassKey<T>() << " already";
    }
    try {
      CheckDeclared();
      Register();
    } catch (...) {
      details::ClassIndex<T>::value = kMXNetObjectNone;
      details::ClassIndex<T>::is_own = false;
      throw;
    }
  }

 private:
  struct Field {
    std::string name;
    /*! \brief The field's type. Asked late: its enum or class may be registered after its use. */
    std::string (*type)();
    std::string doc;
    MXNetFieldGetter getter;
    MXNetFieldSetter setter;
    std::shared_ptr<void> access;
  };
  struct Method {
    std::string name;
    int32_t flags;
    PackedFunc body;
    size_t num_params;
    details::Description about;
    int64_t release_bytes;
  };

  void CheckDeclared() const {
    const char* declared = details::DeclaredClass<T>::kKey;
    if (declared == nullptr || declared == key_) return;
    MXNET_THROW("ValueError") << key_ << ": MXNET_DECLARE_CLASS gives its C++ class the key "
                              << declared;
  }

  void Register() {
    MXNetSetLastError(nullptr);  // so that there is a reason only where find_base_ gives one
    if (base_ != nullptr && !find_base_()) {
      const std::string reason = Error::FromLast().message();
      MXNET_THROW("ValueError") << key_ << ": its base class is not registered before it"
                                << (reason.empty() ? "" : ": ") << reason;
    }
    if (failure_) throw failure_->In(key_);
    std::vector<MXNetMethodInfo> methods;
    for (Method& method : methods_) {
      Describe(method);
      methods.push_back({method.name.c_str(), method.body.get(), method.flags, 0});
    }
    std::vector<MXNetFieldInfo> fields;
    std::deque<std::string> types;
    for (const Field& field : fields_) {
      try {
        types.push_back(field.type());
      } catch (const Error& error) {
        throw error.In(key_ + "." + field.name);
      }
      fields.push_back({field.name.c_str(), types.back().c_str(), field.doc.c_str(), field.getter,
                        field.setter, field.access.get()});
    }
    MXNetTypeInfo info{};
    info.struct_size = sizeof(info);
    info.abi_major = MXNET_RUNTIME_ABI_MAJOR;
    info.abi_minor = MXNET_RUNTIME_ABI_MINOR;
    info.key = key_.c_str();
    info.doc = doc_.c_str();
    info.base_index = base_ == nullptr ? static_cast<uint32_t>(kMXNetObjectNone) : *base_;
    info.value_offset = static_cast<int64_t>(details::Instance<T>::Offset());
    info.base_offset = base_offset_;
    info.fields = fields.data();
    info.num_fields = fields.size();
    info.methods = methods.data();
    info.num_methods = methods.size();
    info.value_size = sizeof(T);
    // Another index than that of the key so far, where the class is registered anew.
    MXNET_CHECK_CALL(MXNetObjectRegisterType(&info, &details::ClassIndex<T>::value));
    // From now on the runtime refers to what the getters and setters need.
    static auto* for_good = new std::vector<std::shared_ptr<void>>();
    for (const Field& field : fields_) for_good->push_back(field.access);
  }

  template <typename M, typename C>
  static auto Reader(M C::* member) {
    return [member](const T& self) -> const M& { return self.*member; };
  }

  template <typename Get>
  static auto Property(Get get) {
    auto body = details::MethodBody<T>(std::move(get));
    return [body = std::move(body)](const T& self) { return body(self); };
  }

  template <typename V, typename Get, typename Set>
  ClassRegistry& AddField(std::string name, Get get, Set set, std::string doc) {
    static_assert(!details::kIsClass<V>, "a field of a class: hold it in a Ref, which is shared");
    static_assert(!std::is_same_v<V, std::string_view> && !std::is_pointer_v<V>,
                  "a field that borrows an argument for the call only");
    using Access = details::FieldAccess<Get, Set>;
    MXNetFieldSetter setter = nullptr;
    if constexpr (!std::is_null_pointer_v<Set>) setter = &details::SetField<T, V, Access>;
    std::shared_ptr<Access> access(new Access{key_ + "." + name, std::move(get), std::move(set)});
    fields_.push_back({std::move(name), &details::ResultAnnotation<V>, std::move(doc),
                       &details::GetField<T, Access>, setter, std::move(access)});
    return *this;
  }

  template <typename F>
  ClassRegistry& Add(std::string name, F body, std::string doc, int32_t flags) {
    Method method{std::move(name), flags, nullptr, 0, {}, -1};
    method.about.doc = std::move(doc);
    if ((flags & kMXNetMethodStatic) == 0) method.about.Add("self", "", "", kMXNetParamRequired);
    if constexpr (std::is_invocable_v<F&, MXNetArgs, MXNetRetValue*>) {
      method.body = PackedFunc(std::move(body));
    } else {
      using Arguments = typename details::FunctionSignature<F>::Arguments;
      method.num_params = std::tuple_size_v<Arguments>;
      method.body = PackedFunc(details::PackTyped(std::move(body)));
      method.about.template TakeSignature<F>();
    }
    methods_.push_back(std::move(method));
    return *this;
  }

  Method& Last() {
    // While a library loads nothing can catch an error, so that one is kept for Commit.
    if (methods_.empty()) methods_.push_back({"", 0, nullptr, 0, {}, -1});
    return methods_.back();
  }

  void Describe(Method& method) const {
    if (method.name.empty()) {
      MXNET_THROW("ValueError") << key_ << ": a parameter is described before any method";
    }
    details::Description& about = method.about;
    const std::string name = key_ + "." + method.name;
    if (about.params().size() == 1 && (method.flags & kMXNetMethodStatic) == 0) {
      for (size_t i = 1; i < method.num_params; ++i) {
        about.Add("arg" + std::to_string(i - 1), "", "", kMXNetParamRequired);
      }
    }
    about.Complete(name);
    MXNetFuncInfo info = about.Describe(name);
    info.file = file_;
    info.line = line_;
    info.release_lock_bytes = method.release_bytes;
    if ((method.flags & kMXNetMethodStatic) == 0) info.flags = kMXNetFuncMethod;
    MXNET_CHECK_CALL(MXNetFuncSetInfo(method.body.get(), &info));
  }

  std::string key_;
  const char* file_;
  int line_;
  std::string doc_;
  const uint32_t* base_{nullptr};
  bool (*find_base_)() noexcept {nullptr};
  int64_t base_offset_{0};
  bool repeated_{false};
  std::optional<Error> failure_;
  std::vector<Field> fields_;
  std::vector<Method> methods_;
};

}  // namespace runtime
}  // namespace mxnet

/*! \brief Starts the registration of a class; see the top of this file. */
#define MXNET_REGISTER_CLASS(Type, Key)                                                 \
  static const ::mxnet::runtime::RegistryEntry MXNET_REGISTER_CONCAT(mxnet_registered_, \
                                                                     __COUNTER__) =     \
      ::mxnet::runtime::ClassRegistry<Type>(Key, __FILE__, __LINE__)

#endif  // MXNET_RUNTIME_CLASS_H_
