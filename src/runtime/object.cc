/*!
 * \file object.cc
 * \brief Reference counts and the table of object types.
 */
#include <mxnet/runtime/object.h>

#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/c_api_guard.h"
#include "runtime/fork_safe.h"

namespace mxnet {
namespace runtime {
namespace {

/*! \brief Maps type keys to indices. Leaked: libraries may still ask while the process exits. */
class TypeTable {
 public:
  static TypeTable* Global() {
    static TypeTable* table = new TypeTable();
    return table;
  }

  uint32_t IndexOf(const std::string& key) {
    std::lock_guard<ForkSafeMutex> lock(mutex_);
    auto found = indices_.find(key);
    if (found != indices_.end()) return found->second;
    const uint32_t index = next_++;
    Add(index, key);
    return index;
  }

  const char* KeyOf(uint32_t index) {
    std::lock_guard<ForkSafeMutex> lock(mutex_);
    auto found = keys_.find(index);
    if (found == keys_.end()) {
      MXNET_THROW("ValueError") << "no object type has index " << index;
    }
    return found->second;
  }

 private:
  TypeTable() {
    const char* fixed[] = {"None",      "ffi.Function", "ffi.NDArray", "ffi.String", "ffi.Bytes",
                           "ffi.Shape", "ffi.Tuple",    "ffi.Array",   "ffi.Map",    "ffi.Opaque"};
    for (uint32_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); ++i) Add(i, fixed[i]);
  }

  void Add(uint32_t index, const std::string& key) {
    // Keys of an unordered_map do not move, so their text can be handed out.
    keys_[index] = indices_.emplace(key, index).first->first.c_str();
  }

  ForkSafeMutex mutex_;
  std::unordered_map<std::string, uint32_t> indices_;
  std::unordered_map<uint32_t, const char*> keys_;
  uint32_t next_{kMXNetObjectDynamic};
};

}  // namespace
}  // namespace runtime
}  // namespace mxnet

using mxnet::runtime::Guard;
using mxnet::runtime::RequireNotNull;

int MXNetObjectRetain(MXNetObjectHandle obj) {
  return Guard([&] {
    RequireNotNull(obj, "MXNetObjectRetain", "obj");
    mxnet::runtime::details::Retain(static_cast<MXNetObject*>(obj));
  });
}

int MXNetObjectFree(MXNetObjectHandle obj) {
  mxnet::runtime::details::Release(static_cast<MXNetObject*>(obj));
  return 0;
}

int MXNetObjectGetTypeIndex(MXNetObjectHandle obj, uint32_t* out_index) {
  return Guard([&] {
    RequireNotNull(obj, "MXNetObjectGetTypeIndex", "obj");
    RequireNotNull(out_index, "MXNetObjectGetTypeIndex", "out_index");
    *out_index = static_cast<MXNetObject*>(obj)->type_index;
  });
}

int MXNetObjectTypeKey2Index(const char* key, uint32_t* out_index) {
  return Guard([&] {
    RequireNotNull(key, "MXNetObjectTypeKey2Index", "key");
    RequireNotNull(out_index, "MXNetObjectTypeKey2Index", "out_index");
    *out_index = mxnet::runtime::TypeTable::Global()->IndexOf(key);
  });
}

int MXNetObjectTypeIndex2Key(uint32_t index, const char** out_key) {
  return Guard([&] {
    RequireNotNull(out_key, "MXNetObjectTypeIndex2Key", "out_key");
    *out_key = mxnet::runtime::TypeTable::Global()->KeyOf(index);
  });
}
