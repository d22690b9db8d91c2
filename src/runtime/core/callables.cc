/*!
 * \file callables.cc
 * \brief Functions that front ends make of callables: one for each callable, and none runs after
 * its interpreter has ended.
 */
#include <mxnet/runtime/entrance.h>
#include <mxnet/runtime/registry.h>

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "runtime/core/c_api_guard.h"
#include "runtime/core/fork_safe.h"
#include "runtime/core/function.h"

namespace mxnet {
namespace runtime {
namespace {

/*! \brief A callable with the body that calls it, as two front ends may share a callable. */
struct Key {
  MXNetPackedCFunc body;
  void* callable;

  bool operator==(const Key& other) const {
    return body == other.body && callable == other.callable;
  }
};

struct KeyHash {
  size_t operator()(const Key& key) const { return std::hash<void*>()(key.callable); }
};

/*!
 * \brief The functions of callables that are alive; it holds no references to them.
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

  /*! \brief The function found for the key; if there is none, adds this one and returns nothing. */
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
  return Key{reinterpret_cast<const FunctionObject*>(function)->call, function->peer};
}

void DeleteShared(Object* self) {
  if (!Table::Global()->Remove(KeyOf(self), self)) return;
  // Found by nobody any more; a deletion that has to wait calls the deleter again.
  self->deleter = &DeleteFunction;
  DeleteFunction(self);
}

/*! \brief The function with this body that was shared for a callable and lives still; or nothing.
 */
ObjectRef FindFunctionOfCallable(MXNetPackedCFunc body, void* callable) {
  return Table::Global()->Find(Key{body, callable});
}

/*!
 * \brief Makes a new function, which keeps callable alive, the one that is found by it.
 *
 * Gives the one that another thread has shared since nothing was found, and changes nothing then.
 */
ObjectRef ShareFunctionOfCallable(FunctionObject* function, void* callable) {
  function->header.peer = callable;
  ObjectRef other = Table::Global()->FindOrAdd(KeyOf(&function->header), &function->header);
  if (!other.defined()) function->header.deleter = &DeleteShared;
  return other;
}

/*! \brief How threads enter an interpreter: its C functions. */
struct Interpreter {
  int (*is_initialized)();
  void* (*thread_state)();
  int (*ensure)();
  void (*release)(int);

  /*!
   * \brief Runs body() inside; false where the interpreter ends, which only threads that it knows
   * may still enter.
   */
  template <typename F>
  bool Run(F&& body) const {
    if (thread_state() != nullptr) {
      body();
      return true;
    }
    int state = 0;
    const auto enter = [&] { state = ensure(); };
    const auto stay = [&] {
      body();
      release(state);
    };
    return is_initialized() != 0 && Entrance::Global()->Visit(enter, stay);
  }
};

/*! \brief A body of the front end, and the interpreter that it enters. */
struct CallableBody {
  MXNetPackedCFunc call;
  MXNetPackedCFuncFinalizer finalizer;
  void* resource;
  Interpreter interpreter;

  static int Call(void* self, const MXNetValue* values, const int* type_codes, int num_args,
                  MXNetValue* ret, int* ret_type_code) {
    auto* body = static_cast<CallableBody*>(self);
    int status = 0;
    const bool has_run = body->interpreter.Run([&] {
      status = body->call(body->resource, values, type_codes, num_args, ret, ret_type_code);
    });
    if (has_run) return status;
    return Error("RuntimeError", "the Python interpreter is shutting down").SetLast();
  }

  static void Finalize(void* self) {
    auto* body = static_cast<CallableBody*>(self);
    body->interpreter.Run([&] { body->finalizer(body->resource); });
    delete body;
  }
};

/*! \brief What any thread may do with an object of the front end, and the interpreter it enters. */
struct Release {
  MXNetPackedCFuncFinalizer call;
  Interpreter interpreter;
};

// A front end has a handful; C functions, which are given nothing else, find them by their number.
constexpr size_t kMostReleases = 16;
std::array<Release, kMostReleases> releases;
size_t num_releases = 0;
std::mutex releases_mutex;

template <size_t I>
void RunRelease(void* object) {
  releases[I].interpreter.Run([object] { releases[I].call(object); });
}

template <size_t... I>
constexpr std::array<MXNetPackedCFuncFinalizer, kMostReleases> AllReleases(
    std::index_sequence<I...>) {
  return {&RunRelease<I>...};
}

constexpr auto kReleases = AllReleases(std::make_index_sequence<kMostReleases>());

template <typename F>
F PointerAt(uint64_t address) {
  return reinterpret_cast<F>(static_cast<uintptr_t>(address));
}

Interpreter InterpreterAt(uint64_t is_initialized, uint64_t thread_state, uint64_t ensure,
                          uint64_t release) {
  return {PointerAt<int (*)()>(is_initialized), PointerAt<void* (*)()>(thread_state),
          PointerAt<int (*)()>(ensure), PointerAt<void (*)(int)>(release)};
}

MXNET_REGISTER_API("ffi.function_of")
    .describe("Makes a function of an interpreter's C functions, not entered once it has ended.")
    .add_argument("call", "int", "Address of an MXNetPackedCFunc.")
    .add_argument("finalizer", "int", "Address of an MXNetPackedCFuncFinalizer.")
    .add_argument("resource", "int", "What both are given first.")
    .add_argument("is_initialized", "int", "Address of `int (*)(void)`: 0 from the end on.")
    .add_argument("thread_state", "int",
                  "Address of `void* (*)(void)`: not NULL where the thread belongs to the "
                  "interpreter and may enter it until it is gone.")
    .add_argument("ensure", "int", "Address of `int (*)(void)`: enters the interpreter.")
    .add_argument("release", "int",
                  "Address of `void (*)(int)`: leaves it, given what ensure gave.")
    .add_argument("callable", "int", 0,
                  "Address of the callable, which resource keeps alive, to share its function as "
                  "MXNetFuncFromCallable does.")
    .returns("Callable[..., Any]")
    .set_body_typed([](uint64_t call, uint64_t finalizer, uint64_t resource,
                       uint64_t is_initialized, uint64_t thread_state, uint64_t ensure,
                       uint64_t release, uint64_t callable) {
      if (callable != 0) {
        ObjectRef found = FindFunctionOfCallable(&CallableBody::Call, PointerAt<void*>(callable));
        if (found.defined()) {
          PointerAt<MXNetPackedCFuncFinalizer>(finalizer)(PointerAt<void*>(resource));
          return PackedFunc(std::move(found));
        }
      }
      const auto interpreter = InterpreterAt(is_initialized, thread_state, ensure, release);
      auto* body = new CallableBody{PointerAt<MXNetPackedCFunc>(call),
                                    PointerAt<MXNetPackedCFuncFinalizer>(finalizer),
                                    PointerAt<void*>(resource), interpreter};
      MXNetFunctionHandle func = nullptr;
      MXNET_CHECK_CALL(
          MXNetFuncCreateFromCFunc(&CallableBody::Call, body, &CallableBody::Finalize, &func));
      PackedFunc made(ObjectRef::Steal(func));
      if (callable != 0) {
        ObjectRef other =
            ShareFunctionOfCallable(static_cast<FunctionObject*>(func), PointerAt<void*>(callable));
        if (other.defined()) return PackedFunc(std::move(other));
      }
      return made;
    });

MXNET_REGISTER_API("ffi.release_of")
    .describe(
        "The address of a C function that calls one of an interpreter with the same argument, and "
        "does nothing once that has ended; that of the function itself where there are too many.")
    .add_argument("call", "int", "Address of an MXNetPackedCFuncFinalizer.")
    .add_argument("is_initialized", "int", "As of ffi.function_of.")
    .add_argument("thread_state", "int", "As of ffi.function_of.")
    .add_argument("ensure", "int", "As of ffi.function_of.")
    .add_argument("release", "int", "As of ffi.function_of.")
    .returns("int")
    .set_body_typed([](uint64_t call, uint64_t is_initialized, uint64_t thread_state,
                       uint64_t ensure, uint64_t release) {
      const std::lock_guard<std::mutex> lock(releases_mutex);
      if (num_releases == kMostReleases) return call;
      releases[num_releases] = {PointerAt<MXNetPackedCFuncFinalizer>(call),
                                InterpreterAt(is_initialized, thread_state, ensure, release)};
      return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(kReleases[num_releases++]));
    });

MXNET_REGISTER_API("ffi.close_entrance")
    .describe("Lets no thread that an interpreter does not know enter it any more.")
    .set_body_typed([] { Entrance::Global()->Close(); })
    .release_gil();

MXNET_REGISTER_API("ffi.callable_name")
    .describe(
        "What messages call a callable of the front end. The front end replaces it; without "
        "one it has no name.")
    .arg("callable", "Its function.")
    .set_body_typed([](FunctionView) { return "function"; });

MXNET_REGISTER_API("ffi.callable_kind")
    .describe(
        "What messages say was given where a callable of the front end is not what is expected. "
        "The front end replaces it.")
    .arg("callable", "Its function.")
    .set_body_typed([](FunctionView) { return "function"; });

}  // namespace
}  // namespace runtime
}  // namespace mxnet

using mxnet::runtime::FunctionObject;
using mxnet::runtime::Guard;
using mxnet::runtime::RequireNotNull;

int MXNetFuncFromCallable(MXNetPackedCFunc func, void* callable,
                          MXNetPackedCFuncFinalizer finalizer, MXNetFunctionHandle* out) {
  mxnet::runtime::ObjectRef made;
  bool found = false;
  const int status = Guard([&] {
    RequireNotNull(reinterpret_cast<const void*>(func), "MXNetFuncFromCallable", "func");
    RequireNotNull(callable, "MXNetFuncFromCallable", "callable");
    RequireNotNull(out, "MXNetFuncFromCallable", "out");
    made = mxnet::runtime::FindFunctionOfCallable(func, callable);
    found = made.defined();
    if (!found) {
      // Without the finalizer, which would run where something below fails.
      FunctionObject* function = mxnet::runtime::NewFunction(func, callable, nullptr);
      mxnet::runtime::ObjectRef fresh = mxnet::runtime::ObjectRef::Steal(function);
      made = mxnet::runtime::ShareFunctionOfCallable(function, callable);
      found = made.defined();
      if (!found) {
        function->finalizer = finalizer;
        made = std::move(fresh);
      }
    }
    *out = made.Detach();
  });
  if ((found || status != 0) && finalizer != nullptr) finalizer(callable);
  return status;
}
