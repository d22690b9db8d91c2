/*!
 * \file function.cc
 * \brief Making and calling functions.
 */
#include "runtime/core/function.h"

#include <mxnet/runtime/packed_func.h>

#include <algorithm>
#include <cstddef>
#include <new>

#include "runtime/core/c_api_guard.h"
#include "runtime/core/error_state.h"
#include "runtime/core/observers.h"
#include "runtime/core/operator.h"
#include "runtime/core/stack_room.h"

namespace mxnet {
namespace runtime {
namespace {

void DestroyFunction(MXNetObject* self) {
  auto* func = reinterpret_cast<FunctionObject*>(self);
  if (func->finalizer != nullptr) func->finalizer(func->resource);
  if (func->info != FunctionInfo::Undescribed()) delete func->info;
  delete func;
}

bool IsOptional(const MXNetParamInfo& param) { return (param.flags & kMXNetParamOptional) != 0; }

/*! \brief Sets a TypeError with the text that text() makes, or a MemoryError. */
template <typename Text>
[[gnu::cold, gnu::noinline]] int Reject(const Text& text) noexcept {
  try {
    return Error("TypeError", text()).SetLast();
  } catch (const std::bad_alloc&) {
    return details::SetOutOfMemory();
  }
}

std::string CountText(const FunctionInfo& info, int given) {
  const auto& params = info.body_params();
  // The object of a method is not counted.
  const int self = details::IsMethod(info.view()) ? 1 : 0;
  const auto required =
      std::count_if(params.begin(), params.end(), [](const auto* p) { return !IsOptional(*p); }) -
      self;
  const auto most = static_cast<std::ptrdiff_t>(params.size()) - self;
  std::string text = std::string(info.view().name) + ": expected ";
  if (info.variadic()) {
    text += "at least " + std::to_string(required);
  } else if (required == most) {
    text += std::to_string(required);
  } else {
    text += std::to_string(required) + " to " + std::to_string(most);
  }
  return text + " arguments, got " + std::to_string(given - self);
}

}  // namespace

/*! \brief In turn, since what a function captured may be another function, and so on. */
void DeleteFunction(MXNetObject* self) { details::DeleteInTurn(self, &DestroyFunction); }

FunctionObject* NewFunction(MXNetPackedCFunc call, void* resource,
                            MXNetPackedCFuncFinalizer finalizer) {
  auto* object = new FunctionObject();
  object->header = MXNetObject{1, kMXNetObjectFunction, &DeleteFunction, nullptr};
  object->call = call;
  object->resource = resource;
  object->finalizer = finalizer;
  object->info = FunctionInfo::Undescribed();
  object->direct_args = FunctionObject::kAnyArgs;
  return object;
}

int FunctionObject::RejectCount(int num_args) const noexcept {
  return Reject([&] { return CountText(*info, num_args); });
}

int FunctionObject::CallDescribed(const MXNetValue* values, const int* type_codes, int num_args,
                                  MXNetValue* ret, int* ret_type_code) const {
  const auto& params = info->body_params();
  const int num_params = static_cast<int>(params.size());
  if (num_args > num_params && !info->variadic()) return RejectCount(num_args);
  bool gaps = false;
  for (int i = 0; i < num_args; ++i) gaps |= type_codes[i] == kMXNetMissing;
  if (num_args >= num_params && !gaps) {
    return call(resource, values, type_codes, num_args, ret, ret_type_code);
  }
  if (num_args > num_params) return CallVariadic(values, type_codes, num_args, ret, ret_type_code);
  MXNetValue filled[kMaxParams];
  int filled_codes[kMaxParams];
  if (Fill(values, type_codes, num_args, filled, filled_codes) != 0) return -1;
  return call(resource, filled, filled_codes, num_params, ret, ret_type_code);
}

int FunctionObject::CallVariadic(const MXNetValue* values, const int* type_codes, int num_args,
                                 MXNetValue* ret, int* ret_type_code) const {
  const size_t size = static_cast<size_t>(num_args);
  std::unique_ptr<MXNetValue[]> filled(new (std::nothrow) MXNetValue[size]);
  std::unique_ptr<int[]> filled_codes(new (std::nothrow) int[size]);
  if (filled == nullptr || filled_codes == nullptr) {
    return details::SetOutOfMemory();
  }
  std::copy_n(values, size, filled.get());
  std::copy_n(type_codes, size, filled_codes.get());
  if (Fill(values, type_codes, num_args, filled.get(), filled_codes.get()) != 0) return -1;
  return call(resource, filled.get(), filled_codes.get(), num_args, ret, ret_type_code);
}

int FunctionObject::Fill(const MXNetValue* values, const int* type_codes, int num_args,
                         MXNetValue* filled, int* filled_codes) const {
  const auto& params = info->body_params();
  const int num_params = static_cast<int>(params.size());
  for (int i = 0; i < num_params; ++i) {
    if (i < num_args && type_codes[i] != kMXNetMissing) {
      filled[i] = values[i];
      filled_codes[i] = type_codes[i];
    } else if (IsOptional(*params[i])) {
      filled[i] = params[i]->default_value.value;
      filled_codes[i] = params[i]->default_value.type_code;
    } else {
      return Reject([&] {
        // The object of a method is not counted.
        const int given = details::IsMethod(info->view()) ? i - 1 : i;
        const std::string number = given < 0 ? "" : std::to_string(given) + " ";
        return std::string(info->view().name) + ": missing argument " + number + "('" +
               params[i]->name + "')";
      });
    }
  }
  return 0;
}

int FunctionObject::CallChecked(const MXNetValue* values, const int* type_codes, int num_args,
                                MXNetValue* ret, int* ret_type_code) const {
  if (num_args == direct_args) {
    bool gaps = false;
    for (int i = 0; i < num_args; ++i) gaps |= type_codes[i] == kMXNetMissing;
    if (!gaps) return call(resource, values, type_codes, num_args, ret, ret_type_code);
  }
  return CallDescribed(values, type_codes, num_args, ret, ret_type_code);
}

int FunctionObject::Fail(int status) const noexcept {
  if (status == kElementsElsewhere) return status;
  if (info->view().file == nullptr) return -1;
  try {
    ErrorState::ThreadLocal()->AddFrame(info->view().file, info->view().line, info->view().name);
  } catch (const std::bad_alloc&) {
    // Without memory the error is passed on without this source location.
  }
  return -1;
}

int FunctionObject::Call(const MXNetValue* values, const int* type_codes, int num_args,
                         MXNetValue* ret, int* ret_type_code) const {
  *ret_type_code = kMXNetNull;
  const int status = direct_args == kAnyArgs
                         ? call(resource, values, type_codes, num_args, ret, ret_type_code)
                         : CallChecked(values, type_codes, num_args, ret, ret_type_code);
  return __builtin_expect(status == 0, 1) ? 0 : Fail(status);
}

}  // namespace runtime
}  // namespace mxnet

using mxnet::runtime::FunctionObject;
using mxnet::runtime::Guard;
using mxnet::runtime::RequireNotNull;

namespace {

[[gnu::noinline, gnu::cold]] int RejectCall(MXNetFunctionHandle func) {
  const char* missing = func == nullptr ? mxnet::runtime::LastMissingFunction() : "";
  if (*missing != '\0') {
    return Guard([&] {
      MXNET_THROW("ValueError") << "MXNetFuncCall: an undefined function is called; the last one "
                                << "that was looked for here and is not registered is '" << missing
                                << "'";
    });
  }
  return mxnet::runtime::details::SetLastError(
      "ValueError",
      "MXNetFuncCall: func, ret_val or ret_type_code is NULL, or num_args "
      "is negative, or there are arguments and arg_values or type_codes is NULL");
}

[[gnu::noinline, gnu::cold]] int RejectDepth(const FunctionObject* func) {
  const auto& view = func->info->view();
  return Guard([&] {
    MXNET_THROW("RecursionError") << (view.name == nullptr ? "MXNetFuncCall" : view.name)
                                  << ": maximum recursion depth exceeded: the stack of the thread "
                                     "is full";
  });
}

}  // namespace

int MXNetFuncCall(MXNetFunctionHandle func, const MXNetValue* arg_values, const int* type_codes,
                  int num_args, MXNetValue* ret_val, int* ret_type_code) {
  // One by one, as several in one condition are put together before they are branched upon.
  if (__builtin_expect(func == nullptr, 0)) return RejectCall(func);
  if (__builtin_expect(ret_val == nullptr, 0)) return RejectCall(func);
  if (__builtin_expect(ret_type_code == nullptr, 0)) return RejectCall(func);
  if (num_args != 0) {
    if (__builtin_expect(num_args < 0, 0)) return RejectCall(func);
    if (__builtin_expect(arg_values == nullptr, 0)) return RejectCall(func);
    if (__builtin_expect(type_codes == nullptr, 0)) return RejectCall(func);
  }
  const auto* function = static_cast<const FunctionObject*>(func);
  if (__builtin_expect(!mxnet::runtime::HasStackRoom(), 0)) return RejectDepth(function);
  if (mxnet::runtime::Observed()) {
    return mxnet::runtime::CallObserved(function, arg_values, type_codes, num_args, ret_val,
                                        ret_type_code);
  }
  return function->Call(arg_values, type_codes, num_args, ret_val, ret_type_code);
}

int MXNetFuncCreateFromCFunc(MXNetPackedCFunc func, void* resource,
                             MXNetPackedCFuncFinalizer finalizer, MXNetFunctionHandle* out) {
  const int status = Guard([&] {
    RequireNotNull(reinterpret_cast<const void*>(func), "MXNetFuncCreateFromCFunc", "func");
    RequireNotNull(out, "MXNetFuncCreateFromCFunc", "out");
    *out = mxnet::runtime::NewFunction(func, resource, finalizer);
  });
  if (status != 0 && finalizer != nullptr) finalizer(resource);
  return status;
}

int MXNetFuncFree(MXNetFunctionHandle func) { return MXNetObjectFree(func); }
