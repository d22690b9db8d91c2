/*!
 * \file host_functions.cc
 * \brief Functions whose bodies belong to an interpreter that may end before the process does.
 */
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/stack_room.h>

#include <cstdint>
#include <utility>

#include "runtime/core/functions_of_host.h"

namespace mxnet {
namespace runtime {
namespace {

/*! \brief A body of the host, and how to find out whether it may still be entered. */
struct HostBody {
  MXNetPackedCFunc call;
  MXNetPackedCFuncFinalizer finalizer;
  void* resource;
  int (*is_initialized)();
  void* (*thread_state)();

  /*! \brief While the interpreter ends, only threads that it knows may enter. */
  bool MayEnter() const { return is_initialized() != 0 || thread_state() != nullptr; }

  static int Call(void* self, const MXNetValue* values, const int* type_codes, int num_args,
                  MXNetValue* ret, int* ret_type_code) {
    auto* body = static_cast<HostBody*>(self);
    if (!body->MayEnter()) {
      return Error("RuntimeError", "the Python interpreter is shutting down").SetLast();
    }
    if (!details::HasStackRoom()) {
      return Error("RecursionError",
                   "maximum recursion depth exceeded in a callback: the stack of "
                   "the thread is full")
          .SetLast();
    }
    return body->call(body->resource, values, type_codes, num_args, ret, ret_type_code);
  }

  static void Finalize(void* self) {
    auto* body = static_cast<HostBody*>(self);
    if (body->MayEnter()) body->finalizer(body->resource);
    delete body;
  }
};

template <typename F>
F PointerAt(uint64_t address) {
  return reinterpret_cast<F>(static_cast<uintptr_t>(address));
}

MXNET_REGISTER_API("ffi.host_function")
    .describe("Makes a function of an interpreter's C functions, not entered once it has ended.")
    .add_argument("call", "int", "Address of an MXNetPackedCFunc.")
    .add_argument("finalizer", "int", "Address of an MXNetPackedCFuncFinalizer.")
    .add_argument("resource", "int", "What both are given first.")
    .add_argument("is_initialized", "int", "Address of `int (*)(void)`: 0 from the end on.")
    .add_argument("thread_state", "int",
                  "Address of `void* (*)(void)`: not NULL where the thread belongs to the "
                  "interpreter and may enter it until it is gone.")
    .add_argument("host", "int", 0,
                  "Address of the callable, which resource keeps alive, to share its function as "
                  "MXNetFuncFromHost does.")
    .returns("Callable[..., Any]")
    .set_body_typed([](uint64_t call, uint64_t finalizer, uint64_t resource,
                       uint64_t is_initialized, uint64_t thread_state, uint64_t host) {
      if (host != 0) {
        ObjectRef found = FindFunctionOfHost(&HostBody::Call, PointerAt<void*>(host));
        if (found.defined()) {
          PointerAt<MXNetPackedCFuncFinalizer>(finalizer)(PointerAt<void*>(resource));
          return PackedFunc(std::move(found));
        }
      }
      auto* body =
          new HostBody{PointerAt<MXNetPackedCFunc>(call),
                       PointerAt<MXNetPackedCFuncFinalizer>(finalizer), PointerAt<void*>(resource),
                       PointerAt<int (*)()>(is_initialized), PointerAt<void* (*)()>(thread_state)};
      MXNetFunctionHandle func = nullptr;
      MXNET_CHECK_CALL(MXNetFuncCreateFromCFunc(&HostBody::Call, body, &HostBody::Finalize, &func));
      PackedFunc made(ObjectRef::Steal(func));
      if (host != 0) {
        ObjectRef other =
            ShareFunctionOfHost(static_cast<FunctionObject*>(func), PointerAt<void*>(host));
        if (other.defined()) return PackedFunc(std::move(other));
      }
      return made;
    });

MXNET_REGISTER_API("ffi.callable_name")
    .describe(
        "What messages call a callable of the host language. The front end replaces it; without "
        "one it has no name.")
    .arg("callable", "Its function.")
    .set_body_typed([](FunctionView) { return "function"; });

}  // namespace
}  // namespace runtime
}  // namespace mxnet
