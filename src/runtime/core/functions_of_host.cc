/*!
 * \file functions_of_host.cc
 * \brief The one function of each callable of the host language.
 */
#include "runtime/core/functions_of_host.h"

#include <functional>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "runtime/core/c_api_guard.h"
#include "runtime/core/fork_safe.h"

namespace mxnet {
namespace runtime {
namespace {

/*! \brief A callable, and what calls it: two front ends may know the same callable. */
struct Key {
  MXNetPackedCFunc body;
  void* host;

  bool operator==(const Key& other) const { return body == other.body && host == other.host; }
};

struct KeyHash {
  size_t operator()(const Key& key) const { return std::hash<void*>()(key.host); }
};

/*!
 * \brief The functions that live; it holds no reference to them.
 *
 * Leaked on purpose: threads may still call while static destructors run.
 */
class Table {
 public:
  static Table* Global() {
    static Table* table = new Table();
    return table;
  }

  ObjectRef Find(const Key& key) {
    std::lock_guard<ForkSafeMutex> lock(mutex_);
    return FindLocked(key);
  }

  /*! \brief What is found already; where that is nothing, function is from now on. */
  ObjectRef FindOrAdd(const Key& key, Object* function) {
    std::lock_guard<ForkSafeMutex> lock(mutex_);
    ObjectRef found = FindLocked(key);
    if (!found.defined()) functions_[key] = function;
    return found;
  }

  /*!
   * \brief Whether the last reference is gone; the function is not found any more then.
   *
   * A deleter is called with a count of 0, or of 1 that nobody else can hold: see details::Release.
   * In the second case somebody may have found the function meanwhile.
   */
  bool Remove(const Key& key, Object* function) {
    std::lock_guard<ForkSafeMutex> lock(mutex_);
    int32_t* count = &function->ref_count;
    if (__atomic_load_n(count, __ATOMIC_ACQUIRE) > 1 &&
        __atomic_fetch_sub(count, 1, __ATOMIC_ACQ_REL) > 1) {
      return false;
    }
    auto found = functions_.find(key);
    if (found != functions_.end() && found->second == function) functions_.erase(found);
    return true;
  }

 private:
  ObjectRef FindLocked(const Key& key) {
    auto found = functions_.find(key);
    if (found == functions_.end()) return nullptr;
    // One without a reference is about to be deleted, by a thread that waits for the lock.
    int32_t* count = &found->second->ref_count;
    int32_t seen = __atomic_load_n(count, __ATOMIC_RELAXED);
    while (seen > 0) {
      if (__atomic_compare_exchange_n(count, &seen, seen + 1, true, __ATOMIC_ACQUIRE,
                                      __ATOMIC_RELAXED)) {
        return ObjectRef::Steal(found->second);
      }
    }
    return nullptr;
  }

  ForkSafeMutex mutex_;
  std::unordered_map<Key, Object*, KeyHash> functions_;
};

Key KeyOf(const Object* function) {
  return Key{reinterpret_cast<const FunctionObject*>(function)->call, function->host};
}

void DeleteShared(Object* self) {
  if (!Table::Global()->Remove(KeyOf(self), self)) return;
  // Found by nobody any more; a deletion that has to wait calls the deleter again.
  self->deleter = &DeleteFunction;
  DeleteFunction(self);
}

}  // namespace

ObjectRef FindFunctionOfHost(MXNetPackedCFunc body, void* host) {
  return Table::Global()->Find(Key{body, host});
}

ObjectRef ShareFunctionOfHost(FunctionObject* function, void* host) {
  function->header.host = host;
  ObjectRef other = Table::Global()->FindOrAdd(KeyOf(&function->header), &function->header);
  if (!other.defined()) function->header.deleter = &DeleteShared;
  return other;
}

}  // namespace runtime
}  // namespace mxnet

using mxnet::runtime::FunctionObject;
using mxnet::runtime::Guard;
using mxnet::runtime::RequireNotNull;

int MXNetFuncFromHost(MXNetPackedCFunc func, void* host, MXNetPackedCFuncFinalizer finalizer,
                      MXNetFunctionHandle* out) {
  mxnet::runtime::ObjectRef made;
  bool found = false;
  const int status = Guard([&] {
    RequireNotNull(reinterpret_cast<const void*>(func), "MXNetFuncFromHost", "func");
    RequireNotNull(host, "MXNetFuncFromHost", "host");
    RequireNotNull(out, "MXNetFuncFromHost", "out");
    made = mxnet::runtime::FindFunctionOfHost(func, host);
    found = made.defined();
    if (!found) {
      // The finalizer is told only now, as a failure before the end is told of below.
      FunctionObject* function = mxnet::runtime::NewFunction(func, host, nullptr);
      mxnet::runtime::ObjectRef fresh = mxnet::runtime::ObjectRef::Steal(function);
      made = mxnet::runtime::ShareFunctionOfHost(function, host);
      found = made.defined();
      if (!found) {
        function->finalizer = finalizer;
        made = std::move(fresh);
      }
    }
    *out = made.Detach();
  });
  if ((found || status != 0) && finalizer != nullptr) finalizer(host);
  return status;
}
