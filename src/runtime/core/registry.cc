/*!
 * \file registry.cc
 * \brief The global table of functions.
 */
#include <mxnet/runtime/object.h>

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/core/c_api_guard.h"
#include "runtime/core/fork_safe.h"
#include "runtime/core/function.h"
#include "runtime/core/registration_log.h"
#include "runtime/core/thread_end.h"

namespace mxnet {
namespace runtime {
namespace {

/*!
 * \brief Names and their functions.
 *
 * Leaked on purpose: libraries and threads may still look functions up, and functions of the front
 * end language must not be finalized, while static destructors run.
 */
class FunctionTable {
 public:
  static FunctionTable* Global() {
    static FunctionTable* table = new FunctionTable();
    return table;
  }

  ObjectRef Find(const std::string& name) const {
    std::shared_lock<ForkSafeMutex> lock(mutex_);
    auto found = functions_.find(name);
    return found == functions_.end() ? ObjectRef() : found->second;
  }

  void Register(const std::string& name, ObjectRef func, bool allow_override) {
    if (name.empty()) MXNET_THROW("ValueError") << "a function is registered under an empty name";
    RegistrationLog* log = RegistrationLog::Current();
    allow_override = allow_override || (log != nullptr && log->MayReplace(name));
    ObjectRef former = func;
    std::unique_lock<ForkSafeMutex> lock(mutex_);
    auto inserted = functions_.try_emplace(name, func);
    if (inserted.second) {
      former = nullptr;
    } else if (allow_override) {
      std::swap(inserted.first->second, former);
    } else {
      MXNET_THROW("ValueError") << "function '" << name
                                << "' is registered already; pass override=True to replace it";
    }
    // Releasing the former function may run code of the front end, so not under the lock.
    lock.unlock();
    if (log != nullptr) log->Added(name, func, former);
  }

  void Restore(const std::string& name, const ObjectRef& func, ObjectRef former) {
    std::unique_lock<ForkSafeMutex> lock(mutex_);
    auto found = functions_.find(name);
    if (found == functions_.end() || !found->second.same_as(func)) return;
    std::swap(found->second, former);
    if (!found->second.defined()) functions_.erase(found);
    lock.unlock();
  }

  void Remove(const std::string& name) {
    ObjectRef removed;
    std::unique_lock<ForkSafeMutex> lock(mutex_);
    auto found = functions_.find(name);
    if (found == functions_.end()) {
      MXNET_THROW("KeyError") << "no function is registered as '" << name << "'";
    }
    removed = std::move(found->second);
    functions_.erase(found);
    lock.unlock();
  }

  std::vector<NamedFunction> All() const {
    std::shared_lock<ForkSafeMutex> lock(mutex_);
    return {functions_.begin(), functions_.end()};
  }

  std::vector<std::string> Names() const {
    std::shared_lock<ForkSafeMutex> lock(mutex_);
    std::vector<std::string> names;
    names.reserve(functions_.size());
    for (const auto& entry : functions_) names.push_back(entry.first);
    lock.unlock();
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  mutable ForkSafeMutex mutex_;
  std::unordered_map<std::string, ObjectRef> functions_;
};

}  // namespace

std::vector<NamedFunction> RegisteredFunctions() { return FunctionTable::Global()->All(); }

void RestoreFunction(const std::string& name, const ObjectRef& func, const ObjectRef& former) {
  FunctionTable::Global()->Restore(name, func, former);
}

}  // namespace runtime
}  // namespace mxnet

using mxnet::runtime::FunctionTable;
using mxnet::runtime::Guard;
using mxnet::runtime::ObjectRef;
using mxnet::runtime::RequireNotNull;
using mxnet::runtime::ThreadEnd;

namespace {

/*! \brief What MXNetFunc* functions return to a thread; usable in destructors of thread_locals. */
struct Kept {
  /*! \brief The last name not found: a call of the undefined function names it in its error. */
  std::string missing;
  std::vector<std::string> names;
  std::vector<const char*> pointers;

  static __thread Kept* of_thread;

  static Kept* ThreadLocal() {
    static const ThreadEnd end([](void* kept) {
      of_thread = nullptr;
      delete static_cast<Kept*>(kept);
    });
    if (of_thread == nullptr) {
      of_thread = new Kept();
      end.Ask(of_thread);
    }
    return of_thread;
  }
};

__thread Kept* Kept::of_thread = nullptr;

}  // namespace

const char* mxnet::runtime::LastMissingFunction() noexcept {
  return Kept::of_thread == nullptr ? "" : Kept::of_thread->missing.c_str();
}

int MXNetFuncGetGlobal(const char* name, MXNetFunctionHandle* out) {
  return Guard([&] {
    RequireNotNull(name, "MXNetFuncGetGlobal", "name");
    RequireNotNull(out, "MXNetFuncGetGlobal", "out");
    *out = FunctionTable::Global()->Find(name).Detach();
    if (*out == nullptr) Kept::ThreadLocal()->missing = name;
  });
}

int MXNetFuncRegisterGlobal(const char* name, MXNetFunctionHandle func, int allow_override) {
  return Guard([&] {
    RequireNotNull(name, "MXNetFuncRegisterGlobal", "name");
    RequireNotNull(func, "MXNetFuncRegisterGlobal", "func");
    FunctionTable::Global()->Register(name, ObjectRef::Borrow(func), allow_override != 0);
  });
}

int MXNetFuncRemoveGlobal(const char* name) {
  return Guard([&] {
    RequireNotNull(name, "MXNetFuncRemoveGlobal", "name");
    FunctionTable::Global()->Remove(name);
  });
}

int MXNetFuncListGlobalNames(int* out_size, const char*** out_names) {
  return Guard([&] {
    RequireNotNull(out_size, "MXNetFuncListGlobalNames", "out_size");
    RequireNotNull(out_names, "MXNetFuncListGlobalNames", "out_names");
    Kept* kept = Kept::ThreadLocal();
    kept->names = FunctionTable::Global()->Names();
    kept->pointers.clear();
    for (const std::string& name : kept->names) kept->pointers.push_back(name.c_str());
    *out_size = static_cast<int>(kept->pointers.size());
    *out_names = kept->pointers.data();
  });
}
