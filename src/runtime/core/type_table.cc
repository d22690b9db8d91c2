/*!
 * \file type_table.cc
 * \brief The table of object types: their keys, and the descriptions of classes.
 */
#include <mxnet/runtime/registry.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/core/c_api_guard.h"
#include "runtime/core/fork_safe.h"
#include "runtime/core/python_name.h"
#include "runtime/core/registration_log.h"

namespace mxnet {
namespace runtime {
namespace {

/*! \brief Size of a description in version 1.0 of the ABI. */
constexpr size_t kSmallestInfo = offsetof(MXNetTypeInfo, value_size);

/*! \brief Owned copy of the description of a type. Never freed. */
class TypeRecord {
 public:
  TypeRecord(const MXNetTypeInfo& info, uint32_t index) {
    // The library may have been built with fewer members, or more.
    std::memcpy(&info_, &info, std::min(info.struct_size, sizeof(info_)));
    info_.struct_size = sizeof(info_);
    info_.key = Keep(info.key);
    info_.doc = Keep(info.doc == nullptr ? "" : info.doc);
    info_.type_index = index;
    CheckRun(info.fields, info.num_fields, "fields");
    CheckRun(info.methods, info.num_methods, "methods");
    fields_.assign(info.fields, info.fields + info.num_fields);
    for (MXNetFieldInfo& field : fields_) {
      CheckName(field.name, field.getter != nullptr);
      field.name = Keep(field.name);
      field.type = Keep(field.type);
      field.doc = Keep(field.doc);
    }
    methods_.assign(info.methods, info.methods + info.num_methods);
    for (MXNetMethodInfo& method : methods_) {
      CheckName(method.name, method.func != nullptr);
      method.name = Keep(method.name);
    }
    CheckRepeated();
    // Last, since nothing after this fails.
    for (MXNetMethodInfo& method : methods_) {
      details::Retain(static_cast<MXNetObject*>(method.func));
    }
    info_.fields = fields_.data();
    info_.methods = methods_.data();
  }

  const MXNetTypeInfo& view() const { return info_; }
  /*! \brief Whether its key stands for another class by now, or for none. */
  bool forgotten() const { return forgotten_.load(std::memory_order_acquire); }
  void Forget() { forgotten_.store(true, std::memory_order_release); }

 private:
  void CheckName(const char* name, bool complete) const {
    if (name == nullptr || !complete) {
      MXNET_THROW("ValueError") << info_.key << ": a field or method without a name or a function";
    }
    CheckPythonName(info_.key, "a field or method", name);
  }

  /*! \brief ValueError where two members have one name: Python would have the last one only. */
  void CheckRepeated() const {
    std::vector<std::string> names;
    for (const MXNetFieldInfo& field : fields_) names.emplace_back(field.name);
    for (const MXNetMethodInfo& method : methods_) names.emplace_back(method.name);
    std::sort(names.begin(), names.end());
    const auto repeated = std::adjacent_find(names.begin(), names.end());
    if (repeated == names.end()) return;
    MXNET_THROW("ValueError") << info_.key << ": '" << *repeated << "' is defined twice; a method, "
                              << "__init__ too, has no overloads";
  }

  void CheckRun(const void* run, size_t size, const char* what) const {
    if (size > 0 && run == nullptr) {
      MXNET_THROW("ValueError") << info_.key << ": " << size << " " << what
                                << " are described and the array of them is NULL";
    }
  }

  const char* Keep(const char* text) {
    if (text == nullptr) return nullptr;
    strings_.emplace_back(text);
    return strings_.back().c_str();
  }

  std::deque<std::string> strings_;
  std::vector<MXNetFieldInfo> fields_;
  std::vector<MXNetMethodInfo> methods_;
  MXNetTypeInfo info_{};
  std::atomic<bool> forgotten_{false};
};

/*!
 * \brief Keys, indices and descriptions of types.
 *
 * Leaked: libraries may still ask while the process exits. Descriptions are read without a lock,
 * because calls that pass an object of a derived class read them.
 */
class TypeTable {
 public:
  static TypeTable* Global() {
    static TypeTable* table = new TypeTable();
    return table;
  }

  uint32_t IndexOf(const std::string& key) {
    std::lock_guard<ForkSafeMutex> lock(mutex_);
    return FindOrAdd(key);
  }

  const char* KeyOf(uint32_t index) {
    std::lock_guard<ForkSafeMutex> lock(mutex_);
    auto found = keys_.find(index);
    if (found == keys_.end()) {
      MXNET_THROW("ValueError") << "no object type has index " << index;
    }
    return found->second;
  }

  uint32_t Register(const MXNetTypeInfo& info) {
    if (info.key[0] == '\0')
      MXNET_THROW("ValueError") << "a class is registered under an empty key";
    RegistrationLog* log = RegistrationLog::Current();
    std::lock_guard<ForkSafeMutex> lock(mutex_);
    uint32_t index = FindOrAdd(info.key);
    if (index >= kMXNetObjectDynamic && InfoOf(index) != nullptr && log != nullptr &&
        log->MayReplace(info.key)) {
      ForgetLocked(info.key, index);
      index = FindOrAdd(info.key);
    }
    if (index < kMXNetObjectDynamic || InfoOf(index) != nullptr) {
      MXNET_THROW("ValueError") << "a class is registered as '" << info.key << "' already";
    }
    if (index >= kMaxClasses) {
      MXNET_THROW("ValueError") << info.key << ": more than " << kMaxClasses << " object types";
    }
    if (info.base_index != kMXNetObjectNone && InfoOf(info.base_index) == nullptr) {
      MXNET_THROW("ValueError") << info.key << ": its base class is not registered";
    }
    records_[index].store(new TypeRecord(info, index), std::memory_order_release);
    if (log != nullptr) log->AddedClass(info.key, index);
    return index;
  }

  void Forget(const std::string& key, uint32_t index) {
    std::lock_guard<ForkSafeMutex> lock(mutex_);
    ForgetLocked(key, index);
  }

  const MXNetTypeInfo* InfoOf(uint32_t index) const {
    const TypeRecord* record = RecordOf(index);
    return record == nullptr ? nullptr : &record->view();
  }

  /*! \brief See MXNetObjectFindType. */
  uint32_t FindType(const char* key, size_t value_size, int64_t value_offset, uint32_t known) {
    const TypeRecord* record = RecordOf(known);
    if (record != nullptr && !record->forgotten() && std::strcmp(record->view().key, key) == 0) {
      return known;
    }
    std::lock_guard<ForkSafeMutex> lock(mutex_);
    const auto found = indices_.find(key);
    const MXNetTypeInfo* info = found == indices_.end() ? nullptr : InfoOf(found->second);
    if (info == nullptr) {
      MXNET_THROW("TypeError") << "no library that is loaded registers the class " << key;
    }
    // Libraries that do not know the size say 0.
    if (info->value_size != 0 && info->value_size != value_size) {
      ThrowLayout(key, info->value_size, value_size, "bytes");
    }
    if (info->value_offset != value_offset) {
      ThrowLayout(key, info->value_offset, value_offset, "bytes before it in its object");
    }
    return found->second;
  }

  std::vector<std::string> ClassKeys() {
    std::lock_guard<ForkSafeMutex> lock(mutex_);
    std::vector<std::string> keys;
    for (uint32_t index = kMXNetObjectDynamic; index < next_ && index < kMaxClasses; ++index) {
      const MXNetTypeInfo* view = InfoOf(index);
      if (view != nullptr && indices_.count(view->key) != 0 && indices_.at(view->key) == index) {
        keys.emplace_back(view->key);
      }
    }
    return keys;
  }

 private:
  template <typename Count>
  [[noreturn]] static void ThrowLayout(const char* key, Count registered, Count compiled,
                                       const char* what) {
    MXNET_THROW("TypeError") << "the class " << key << " is registered with " << registered << " "
                             << what << ", but this library was compiled with " << compiled
                             << ": build both with the same header";
  }

  static constexpr uint32_t kMaxClasses = 1 << 14;

  TypeRecord* RecordOf(uint32_t index) const {
    return index < kMaxClasses ? records_[index].load(std::memory_order_acquire) : nullptr;
  }

  TypeTable() {
    const char* fixed[] = {"None",      "ffi.Function", "ffi.NDArray", "ffi.String",
                           "ffi.Bytes", "ffi.Shape",    "ffi.Tuple",   "ffi.Array",
                           "ffi.Map",   "ffi.Opaque",   "ffi.List",    "ffi.Dict"};
    for (uint32_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); ++i) Add(i, fixed[i]);
  }

  uint32_t FindOrAdd(const std::string& key) {
    auto found = indices_.find(key);
    if (found != indices_.end()) return found->second;
    const uint32_t index = next_++;
    Add(index, key);
    return index;
  }

  void Add(uint32_t index, const std::string& key) {
    indices_.emplace(key, index);
    // Callers keep pointers to the text, so it stays when the key is forgotten.
    texts_.push_back(key);
    keys_[index] = texts_.back().c_str();
  }

  void ForgetLocked(const std::string& key, uint32_t index) {
    auto found = indices_.find(key);
    if (found == indices_.end() || found->second != index) return;
    indices_.erase(found);
    if (TypeRecord* record = RecordOf(index)) record->Forget();
  }

  ForkSafeMutex mutex_;
  std::unordered_map<std::string, uint32_t> indices_;
  std::unordered_map<uint32_t, const char*> keys_;
  std::deque<std::string> texts_;
  uint32_t next_{kMXNetObjectDynamic};
  std::atomic<TypeRecord*> records_[kMaxClasses]{};
};

MXNET_REGISTER_API("ffi.ClassKeys")
    .describe("Keys of all classes that C++ has registered, in the order in which it did.")
    .returns("ffi.Array[str]")
    .set_body_typed([]() { return TypeTable::Global()->ClassKeys(); });

}  // namespace

void ForgetClassKey(const std::string& key, uint32_t index) {
  TypeTable::Global()->Forget(key, index);
}

}  // namespace runtime
}  // namespace mxnet

using mxnet::runtime::Guard;
using mxnet::runtime::RequireNotNull;
using mxnet::runtime::TypeTable;

int MXNetObjectTypeKey2Index(const char* key, uint32_t* out_index) {
  return Guard([&] {
    RequireNotNull(key, "MXNetObjectTypeKey2Index", "key");
    RequireNotNull(out_index, "MXNetObjectTypeKey2Index", "out_index");
    *out_index = TypeTable::Global()->IndexOf(key);
  });
}

int MXNetObjectTypeIndex2Key(uint32_t index, const char** out_key) {
  return Guard([&] {
    RequireNotNull(out_key, "MXNetObjectTypeIndex2Key", "out_key");
    *out_key = TypeTable::Global()->KeyOf(index);
  });
}

int MXNetObjectRegisterType(const MXNetTypeInfo* info, uint32_t* out_index) {
  return Guard([&] {
    RequireNotNull(info, "MXNetObjectRegisterType", "info");
    RequireNotNull(out_index, "MXNetObjectRegisterType", "out_index");
    const size_t size = info->struct_size;
    // The version first: in another one only its own position is known.
    if (size >= offsetof(MXNetTypeInfo, key) && info->abi_major != MXNET_RUNTIME_ABI_MAJOR) {
      MXNET_THROW("ImportError") << "the library was built against version " << info->abi_major
                                 << "." << info->abi_minor << " of the function ABI, this runtime "
                                 << "has version " << MXNET_RUNTIME_ABI_MAJOR << "."
                                 << MXNET_RUNTIME_ABI_MINOR;
    }
    if (size < mxnet::runtime::kSmallestInfo) {
      MXNET_THROW("ValueError") << "MXNetObjectRegisterType: struct_size of a description is "
                                << size << ", expected at least " << mxnet::runtime::kSmallestInfo;
    }
    RequireNotNull(info->key, "MXNetObjectRegisterType", "info->key");
    *out_index = TypeTable::Global()->Register(*info);
  });
}

int MXNetObjectFindType(const char* key, size_t value_size, int64_t value_offset, uint32_t* index) {
  return Guard([&] {
    RequireNotNull(key, "MXNetObjectFindType", "key");
    RequireNotNull(index, "MXNetObjectFindType", "index");
    const uint32_t known = *index;
    *index = kMXNetObjectNone;
    *index = TypeTable::Global()->FindType(key, value_size, value_offset, known);
  });
}

int MXNetObjectGetTypeInfo(uint32_t index, const MXNetTypeInfo** out) {
  return Guard([&] {
    RequireNotNull(out, "MXNetObjectGetTypeInfo", "out");
    *out = TypeTable::Global()->InfoOf(index);
  });
}
