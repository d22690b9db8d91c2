/*!
 * \file mxnet/runtime/enum.h
 * \brief MXNET_REGISTER_ENUM: makes a C++ enum one of Python's too.
 *
 *   enum class Mode { kFast = 1, kExact = 2 };
 *   MXNET_REGISTER_ENUM(Mode, "demo.Mode")
 *       .describe("How the result is rounded.")
 *       .value("FAST", Mode::kFast, "To the next number below.")
 *       .value("EXACT", Mode::kExact, "To the nearest number.");
 *
 * A typed body may then take and return a Mode. Python passes a member of the enum that
 * ffi.get_enum("demo.Mode") gives, the name of one or its value, and gets members back.
 */
#ifndef MXNET_RUNTIME_ENUM_H_
#define MXNET_RUNTIME_ENUM_H_

#include <mxnet/runtime/registry.h>

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace mxnet {
namespace runtime {
namespace details MXNET_HIDDEN {

/*! \brief The names of an enum. */
struct EnumTable {
  struct Member {
    std::string name;
    int64_t value;
    std::string doc;
  };
  std::string name;
  uint32_t type_index;
  std::vector<Member> members;

  // Of a table that was found, not made by its own library: what it was read from, the runtime's
  // count of changes, what that was then, and the table before it, which is in use as long.
  ObjectRef info;
  const uint64_t* changes{nullptr};
  mutable uint64_t seen{0};
  const EnumTable* former{nullptr};

  /*! \brief Whether an enum has been registered, maybe this one anew, since it was looked at. */
  bool is_stale() const {
    return changes != nullptr &&
           __atomic_load_n(changes, __ATOMIC_ACQUIRE) != __atomic_load_n(&seen, __ATOMIC_RELAXED);
  }
  /*! \brief "'FAST', 'EXACT'" */
  std::string Names() const {
    std::string text;
    for (const Member& member : members) {
      text += (text.empty() ? "'" : ", '") + member.name + "'";
    }
    return text;
  }
};

/*! \brief The name that MXNET_DECLARE_ENUM gives to an enum; NULL where it gives none. */
template <typename E>
struct DeclaredEnum {
  static constexpr const char* kName = nullptr;
};

/*!
 * \brief The names of an enum that another library has registered; NULL where none has.
 *
 * The former table where that says the same still.
 */
[[gnu::cold]] inline const EnumTable* FindEnumTable(const char* name, const EnumTable* former) {
  auto table = std::make_unique<EnumTable>();
  Tuple info;
  try {
    const auto changes = PackedFunc::GetGlobal("ffi.EnumChanges")().As<uint64_t>();
    table->changes = reinterpret_cast<const uint64_t*>(static_cast<uintptr_t>(changes));
    // Before the look: what changes meanwhile is looked at again.
    table->seen = __atomic_load_n(table->changes, __ATOMIC_ACQUIRE);
    info = PackedFunc::GetGlobal("ffi.EnumInfo")(name).As<Tuple>();
  } catch (const Error&) {
    return nullptr;
  }
  if (former != nullptr && former->info.same_as(info)) {
    __atomic_store_n(&former->seen, table->seen, __ATOMIC_RELAXED);
    return former;
  }
  table->name = name;
  table->type_index = info[1].As<uint32_t>();
  const auto names = info[3].As<std::vector<std::string>>();
  const auto values = info[4].As<std::vector<int64_t>>();
  for (size_t i = 0; i < names.size(); ++i) table->members.push_back({names[i], values[i], ""});
  table->info = std::move(info);
  table->former = former;
  return table.release();  // as long as the process, as that of the library's own enums
}

/*! \brief Where the table of E is, once it is registered, or was found. */
template <typename E>
struct EnumTableSlot {
  static inline const EnumTable* table = nullptr;
};

/*! \brief Looks for the table of a declared E, and puts it where EnumTableOf finds it. */
template <typename E>
[[gnu::cold, gnu::noinline]] const EnumTable* RenewEnumTable(const EnumTable* former) {
  const EnumTable* found = FindEnumTable(DeclaredEnum<E>::kName, former);
  if (found == nullptr || found == former) return found;
  const EnumTable* present = former;
  if (__atomic_compare_exchange_n(&EnumTableSlot<E>::table, &present, found, false,
                                  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    return found;
  }
  // Another thread was first.
  delete found;
  return present;
}

/*! \brief The table of E; NULL before it is registered. */
template <typename E>
const EnumTable* EnumTableOf() {
  const EnumTable* table = __atomic_load_n(&EnumTableSlot<E>::table, __ATOMIC_ACQUIRE);
  if constexpr (DeclaredEnum<E>::kName != nullptr) {
    if (__builtin_expect(table == nullptr || table->is_stale(), 0)) {
      table = RenewEnumTable<E>(table);
    }
  }
  return table;
}

/*! \brief "demo.Mode"; a TypeError where nothing says the name. */
template <typename E>
std::string EnumName() {
  if (DeclaredEnum<E>::kName != nullptr) return DeclaredEnum<E>::kName;
  const EnumTable* table = EnumTableOf<E>();
  if (table != nullptr) return table->name;
  MXNET_THROW("TypeError") << "the C++ enum " << TypeText<E>() << " is used before "
                           << "MXNET_REGISTER_ENUM registers it, and MXNET_DECLARE_ENUM does not "
                           << "declare it";
}

}  // namespace details MXNET_HIDDEN

template <typename E>
struct MXNET_HIDDEN TypeTraits<E, std::enable_if_t<std::is_enum_v<E>>> {
  static std::string Name() {
    const details::EnumTable* table = details::EnumTableOf<E>();
    const std::string name = details::EnumName<E>();
    return name + (table == nullptr ? " (no library that is loaded registers it)"
                                    : " (one of " + table->Names() + ")");
  }
  static std::string Annotation() { return details::EnumName<E>(); }
  static std::string ArgumentAnnotation() {
    const details::EnumTable* table = details::EnumTableOf<E>();
    const std::string names = table == nullptr ? "str" : "Literal[" + table->Names() + "]";
    return details::EnumName<E>() + " | " + names + " | int";
  }
  static Match TryFrom(const MXNetValue& value, int type_code, E* out) {
    std::string_view text;
    if (details::TextOf(value, type_code, &text)) {
      for (const auto& member : Table().members) {
        if (member.name == text) return Take(member.value, out);
      }
      Reject("'" + std::string(text) + "'");
    }
    const bool is_member = type_code == kMXNetEnum && value.v_enum.type_index == Table().type_index;
    if (type_code != kMXNetInt && !is_member) return Match::kWrongType;
    for (const auto& member : Table().members) {
      if (member.value == value.v_int64) return Take(member.value, out);
    }
    Reject("with the value " + std::to_string(value.v_int64));
  }
  static void Store(E value, MXNetAny* out) {
    out->type_code = kMXNetEnum;
    out->value.v_enum.value = static_cast<int64_t>(value);
    out->value.v_enum.type_index = Table().type_index;
  }

 private:
  static const details::EnumTable& Table() {
    const details::EnumTable* table = details::EnumTableOf<E>();
    if (table == nullptr) {
      MXNET_THROW("TypeError") << "no library that is loaded registers the enum "
                               << details::EnumName<E>();
    }
    return *table;
  }
  static Match Take(int64_t value, E* out) {
    *out = static_cast<E>(value);
    return Match::kOk;
  }
  [[noreturn]] static void Reject(const std::string& what) {
    MXNET_THROW("ValueError") << Table().name << " has no member " << what << "; its members are "
                              << Table().Names();
  }
};

/*! \brief Collects the description of an enum. */
template <typename E>
class MXNET_HIDDEN EnumRegistry {
 public:
  EnumRegistry(std::string name, const char* file, int line) : file_(file), line_(line) {
    table_.name = std::move(name);
  }

  /*! \brief What the enum means. */
  EnumRegistry& describe(std::string doc) {
    doc_ = std::move(doc);
    return *this;
  }
  /*! \brief One member, by the name that Python sees. */
  EnumRegistry& value(std::string name, E value, std::string doc = "") {
    table_.members.push_back({std::move(name), static_cast<int64_t>(value), std::move(doc)});
    return *this;
  }

  /*! \brief Registers; called once the whole chain has been read. ValueError for a taken name. */
  void Commit() const {
    const char* declared = details::DeclaredEnum<E>::kName;
    if (declared != nullptr && declared != table_.name) {
      MXNET_THROW("ValueError") << table_.name
                                << ": MXNET_DECLARE_ENUM gives its C++ enum the name " << declared;
    }
    auto table = std::make_unique<details::EnumTable>(table_);
    MXNET_CHECK_CALL(MXNetObjectTypeKey2Index(table->name.c_str(), &table->type_index));
    std::vector<Any> names, values, docs;
    for (const auto& member : table->members) {
      names.push_back(details::ToAny(member.name));
      values.push_back(details::ToAny(member.value));
      docs.push_back(details::ToAny(member.doc));
    }
    PackedFunc::GetGlobal("ffi.RegisterEnum")(table->name, doc_, Tuple(std::move(names)),
                                              Tuple(std::move(values)), Tuple(std::move(docs)),
                                              file_, line_);
    // As long as the process, like its functions.
    __atomic_store_n(&details::EnumTableSlot<E>::table, table.release(), __ATOMIC_RELEASE);
  }

 private:
  details::EnumTable table_;
  std::string doc_;
  const char* file_;
  int line_;
};

}  // namespace runtime
}  // namespace mxnet

/*!
 * \brief Says that a C++ enum is registered under a name, by this library or by another.
 *
 * As MXNET_DECLARE_CLASS does of a class: outside of namespaces, in the header that defines it.
 */
#define MXNET_DECLARE_ENUM(Type, Name)                              \
  template <>                                                       \
  struct MXNET_HIDDEN mxnet::runtime::details::DeclaredEnum<Type> { \
    static constexpr const char* kName = Name;                      \
  }

/*! \brief Starts the registration of a C++ enum; see the top of this file. */
#define MXNET_REGISTER_ENUM(Type, Name)                                                 \
  static const ::mxnet::runtime::RegistryEntry MXNET_REGISTER_CONCAT(mxnet_registered_, \
                                                                     __COUNTER__) =     \
      ::mxnet::runtime::EnumRegistry<Type>(Name, __FILE__, __LINE__)

#endif  // MXNET_RUNTIME_ENUM_H_
