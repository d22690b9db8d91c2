/*!
 * \file enum_functions.cc
 * \brief The table of registered enums, from which front ends make their own.
 */
#include <mxnet/runtime/registry.h>

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/core/fork_safe.h"
#include "runtime/core/python_name.h"
#include "runtime/core/registration_log.h"

namespace mxnet {
namespace runtime {
namespace {

/*! \brief ValueError where Python's enum cannot have the members. */
void CheckMembers(const std::string& name, const Tuple& names) {
  std::set<std::string> seen;
  for (const Any& any : names) {
    const std::string member = any.As<std::string>();
    CheckPythonName(name.c_str(), "a member", member.c_str());
    if (member == "mro" || (member.front() == '_' && member.back() == '_')) {
      MXNET_THROW("ValueError") << name << ": a member cannot be called '" << member
                                << "': Python's enums have that name for something else";
    }
    if (!seen.insert(member).second) {
      MXNET_THROW("ValueError") << name << ": two members have the name '" << member << "'";
    }
  }
}

/*! \brief Enums by name. Leaked on purpose, as the table of functions is. */
class EnumDirectory {
 public:
  static EnumDirectory* Global() {
    static EnumDirectory* directory = new EnumDirectory();
    return directory;
  }

  /*!
   * \brief Registers an enum. Its name may be taken by the same file, of which a first attempt to
   *        load failed, or by a library that the one being loaded may replace.
   */
  void Register(const std::string& name, const std::string& file, Tuple info) {
    RegistrationLog* log = RegistrationLog::Current();
    std::unique_lock<ForkSafeMutex> lock(mutex_);
    const auto inserted = enums_.try_emplace(name, Entry{file, info});
    Entry former{"", Tuple(ObjectRef())};
    if (!inserted.second) {
      Entry& entry = inserted.first->second;
      if (entry.file != file && (log == nullptr || !log->MayReplace(name))) {
        MXNET_THROW("ValueError")
            << "enum '" << name << "' is registered already, in " << entry.file
            << "; only a later load_inline of the same library name may register it anew";
      }
      former = std::exchange(entry, Entry{file, std::move(info)});
    }
    ++changes_;
    // The former description is released after the lock: that may run other code.
    lock.unlock();
    if (log != nullptr) log->AddedEnum(name, former.file, former.info);
  }

  void Restore(const std::string& name, const std::string& file, const ObjectRef& info) {
    Entry dropped{"", Tuple(ObjectRef())};
    std::lock_guard<ForkSafeMutex> lock(mutex_);
    const auto found = enums_.find(name);
    if (found == enums_.end()) return;
    dropped = std::move(found->second);
    ++changes_;
    if (info.defined()) {
      found->second = Entry{file, Tuple(info)};
    } else {
      enums_.erase(found);
    }
  }

  /*! \brief How often enums were registered or removed; results of Find are stale if it differs. */
  const std::atomic<uint64_t>* changes() const { return &changes_; }

  Tuple Find(const std::string& name) const {
    std::shared_lock<ForkSafeMutex> lock(mutex_);
    const auto found = enums_.find(name);
    if (found == enums_.end()) {
      MXNET_THROW("KeyError") << "no enum is registered as '" << name << "'";
    }
    return found->second.info;
  }

  std::vector<std::string> Names() const {
    std::shared_lock<ForkSafeMutex> lock(mutex_);
    std::vector<std::string> names;
    for (const auto& entry : enums_) names.push_back(entry.first);
    return names;
  }

 private:
  struct Entry {
    std::string file;
    Tuple info;
  };

  mutable ForkSafeMutex mutex_;
  std::map<std::string, Entry> enums_;
  std::atomic<uint64_t> changes_{0};
  static_assert(sizeof(std::atomic<uint64_t>) == sizeof(uint64_t), "libraries read it as a number");
};

MXNET_REGISTER_API("ffi.RegisterEnum")
    .describe("Registers the members of an enum; what MXNET_REGISTER_ENUM calls.")
    .arg("name", "As it is registered, 'demo.Mode'.")
    .arg("doc", "What it means.")
    .arg("names", "Names of the members.")
    .arg("values", "Their values.")
    .arg("docs", "What they mean.")
    .arg("file", "Where it is registered.")
    .arg("line", "Where it is registered.")
    .set_body_typed([](String name, String doc, Tuple names, Tuple values, Tuple docs, String file,
                       int64_t line) {
      CheckMembers(name.str(), names);
      uint32_t index = 0;
      MXNET_CHECK_CALL(MXNetObjectTypeKey2Index(name.str().c_str(), &index));
      std::vector<Any> info{details::ToAny(name),  details::ToAny(index),  details::ToAny(doc),
                            details::ToAny(names), details::ToAny(values), details::ToAny(docs),
                            details::ToAny(file),  details::ToAny(line)};
      EnumDirectory::Global()->Register(name.str(), file.str(), Tuple(std::move(info)));
    });

MXNET_REGISTER_API("ffi.EnumInfo")
    .describe("Name, type index, doc, names, values, docs, file and line of an enum.")
    .arg("name", "As it is registered.")
    .set_body_typed([](std::string name) { return EnumDirectory::Global()->Find(name); });

MXNET_REGISTER_API("ffi.EnumChanges")
    .describe(
        "Address of a count, an uint64, that grows where ffi.EnumInfo may say something else.")
    .set_body_typed([] {
      return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(EnumDirectory::Global()->changes()));
    });

MXNET_REGISTER_API("ffi.EnumName")
    .describe("The name of the enum that has a type index.")
    .arg("type_index", "Its index.")
    .set_body_typed([](uint32_t type_index) {
      const char* key = nullptr;
      MXNET_CHECK_CALL(MXNetObjectTypeIndex2Key(type_index, &key));
      return std::string(key);
    });

MXNET_REGISTER_API("ffi.EnumNames").describe("Names of all enums, sorted.").set_body_typed([] {
  return EnumDirectory::Global()->Names();
});

}  // namespace

void RestoreEnum(const std::string& name, const std::string& file, const ObjectRef& info) {
  EnumDirectory::Global()->Restore(name, file, info);
}

}  // namespace runtime
}  // namespace mxnet
