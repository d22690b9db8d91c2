/*!
 * \file function.cc
 * \brief Making and calling functions.
 */
#include "runtime/core/function.h"

#include <mxnet/runtime/packed_func.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>

#include "runtime/core/c_api_guard.h"
#include "runtime/core/error_state.h"
#include "runtime/core/observers.h"
#include "runtime/core/operator.h"
#include "runtime/core/python_name.h"
#include "runtime/core/stack_room.h"

namespace mxnet {
namespace runtime {
namespace {

/*! \brief Size of a description in version 1.0 of the ABI. */
constexpr size_t kSmallestInfo = offsetof(MXNetFuncInfo, overloads);
/*! \brief Size of an operator in that version. */
constexpr size_t kSmallestOperator = offsetof(MXNetOperator, gradient) + sizeof(void*);

void CheckSize(size_t struct_size, size_t smallest) {
  if (struct_size < smallest) {
    MXNET_THROW("ValueError") << "MXNetFuncSetInfo: struct_size of a description is " << struct_size
                              << ", expected at least " << smallest;
  }
}

const FunctionInfo* Undescribed() {
  static const FunctionInfo* info = new FunctionInfo();
  return info;
}

void DestroyFunction(MXNetObject* self) {
  auto* func = reinterpret_cast<FunctionObject*>(self);
  if (func->finalizer != nullptr) func->finalizer(func->resource);
  if (func->info != Undescribed()) delete func->info;
  delete func;
}

/*! \brief Values that a description can own: they refer to nothing, or to text that is copied. */
bool IsPlainOrText(int type_code) {
  switch (type_code) {
    case kMXNetInt:
    case kMXNetUInt:
    case kMXNetFloat:
    case kMXNetBool:
    case kMXNetComplex:
    case kMXNetNull:
    case kMXNetType:
    case kMXNetContext:
    case kMXNetStr:
    case kMXNetEnum:
      return true;
    default:
      return false;
  }
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

/*! \brief ValueError where Python could not write a parameter, or two have one name. */
void CheckNames(const char* function, const MXNetParamInfo* params, size_t num_params) {
  for (size_t i = 0; i < num_params; ++i) {
    const char* name = params[i].name;
    if (name == nullptr) continue;
    CheckPythonName(function, "a parameter", name);
    for (size_t j = 0; j < i; ++j) {
      if (params[j].name == nullptr || std::strcmp(params[j].name, name) != 0) continue;
      MXNET_THROW("ValueError") << function << ": two parameters have the name '" << name << "'";
    }
  }
}

}  // namespace

void CheckParams(const char* function, const MXNetParamInfo* params, size_t num_params) {
  if (num_params > kMaxParams) {
    MXNET_THROW("ValueError") << function << ": " << num_params
                              << " parameters are described, at most " << kMaxParams
                              << " are possible";
  }
  if (num_params > 0 && params == nullptr) {
    MXNET_THROW("ValueError") << function << ": " << num_params
                              << " parameters are described and the array of them is NULL";
  }
  CheckNames(function, params, num_params);
}

/*! \brief In turn, since what a function captured may be another function, and so on. */
void DeleteFunction(MXNetObject* self) { details::DeleteInTurn(self, &DestroyFunction); }

FunctionObject* NewFunction(MXNetPackedCFunc call, void* resource,
                            MXNetPackedCFuncFinalizer finalizer) {
  auto* object = new FunctionObject();
  object->header = MXNetObject{1, kMXNetObjectFunction, &DeleteFunction, nullptr};
  object->call = call;
  object->resource = resource;
  object->finalizer = finalizer;
  object->info = Undescribed();
  object->direct_args = FunctionObject::kAnyArgs;
  return object;
}

FunctionInfo::FunctionInfo() {
  info_.struct_size = sizeof(info_);
  info_.abi_major = MXNET_RUNTIME_ABI_MAJOR;
  info_.abi_minor = MXNET_RUNTIME_ABI_MINOR;
  info_.name = "function";
  info_.doc = "";
  info_.release_lock_bytes = -1;
}

FunctionInfo::FunctionInfo(const MXNetFuncInfo& info, bool is_overload) {
  // The library may have been built with fewer members, or more.
  std::memcpy(&info_, &info, std::min(info.struct_size, sizeof(info_)));
  info_.struct_size = sizeof(info_);
  info_.name = Keep(info.name == nullptr ? "function" : info.name);
  info_.doc = Keep(info.doc == nullptr ? "" : info.doc);
  info_.returns = Keep(info.returns);
  info_.file = Keep(info.file);
  CopyParams(info);
  // Otherwise two functions that are overloads of each other would never end.
  if (is_overload && info_.num_overloads > 0) {
    MXNET_THROW("ValueError") << info_.name << ": an overload has overloads itself";
  }
  CopyOverloads();
  CopyOperator();
}

FunctionInfo::~FunctionInfo() {
  if (op_.free != nullptr) op_.free(op_.self);
}

void FunctionInfo::CopyOperator() {
  const auto* op = static_cast<const MXNetOperator*>(info_.op);
  if (op == nullptr) return;
  CheckSize(op->struct_size, kSmallestOperator);
  const bool is_placed = (op->properties & (kMXNetOpZeros | kMXNetOpAnywhere)) != 0;
  const bool is_done = (is_placed && op->num_outputs == 1) || op->view != nullptr;
  if (op->infer == nullptr || (op->run == nullptr && !is_done)) {
    MXNET_THROW("ValueError") << info_.name << ": an operator has to have infer, and run or view";
  }
  if (op->view != nullptr && (op->workspace != nullptr || op->type_rule != kMXNetTypesAsGiven)) {
    MXNET_THROW("ValueError") << info_.name
                              << ": an operator with a view takes its input as given, "
                              << "and has no workspace";
  }
  if (op->num_outputs < 0 && op->count_outputs == nullptr) {
    MXNET_THROW("ValueError") << info_.name << ": an operator of " << op->num_outputs
                              << " outputs has to have count_outputs";
  }
  std::memcpy(&op_, op, std::min(op->struct_size, sizeof(op_)));
  if ((op_.type_rule == kMXNetTypesOwn) != (op_.promote != nullptr)) {
    MXNET_THROW("ValueError") << info_.name << ": an operator has promote with kMXNetTypesOwn, and "
                              << "only with it";
  }
  info_.op = &op_;
}

void FunctionInfo::CopyOverloads() {
  if (info_.num_overloads > 0 && info_.overloads == nullptr) {
    MXNET_THROW("ValueError") << info_.name << ": " << info_.num_overloads
                              << " overloads are described and the array of them is NULL";
  }
  for (size_t i = 0; i < info_.num_overloads; ++i) {
    const MXNetFuncInfo* overload = info_.overloads[i];
    if (overload == nullptr) MXNET_THROW("ValueError") << info_.name << ": an overload is NULL";
    CheckSize(overload->struct_size, kSmallestInfo);
    overloads_.push_back(std::make_unique<FunctionInfo>(*overload, true));
    overload_views_.push_back(&overloads_.back()->view());
  }
  info_.overloads = overload_views_.data();
}

const char* FunctionInfo::Keep(const char* text) {
  if (text == nullptr) return nullptr;
  strings_.emplace_back(text);
  return strings_.back().c_str();
}

void FunctionInfo::CopyParams(const MXNetFuncInfo& info) {
  CheckParams(info_.name, info.params, info.num_params);
  params_.assign(info.params, info.params + info.num_params);
  for (MXNetParamInfo& param : params_) {
    if (param.name == nullptr) MXNET_THROW("ValueError") << info_.name << ": unnamed parameter";
    if (!IsPlainOrText(param.default_value.type_code)) {
      MXNET_THROW("TypeError") << info_.name << ": the default of '" << param.name << "' is a "
                               << TypeNameOf(param.default_value.value,
                                             param.default_value.type_code)
                               << "; only plain values and text are possible";
    }
    param.name = Keep(param.name);
    param.type = Keep(param.type);
    param.doc = Keep(param.doc);
    if (param.default_value.type_code == kMXNetStr) {
      MXNetByteArray& text = param.default_value.value.v_str;
      strings_.emplace_back(text.data, text.size);
      text.data = strings_.back().c_str();
    }
    if ((param.flags & kMXNetParamVariadic) != 0) {
      variadic_ = true;
    } else if ((param.flags & kMXNetParamFrontEnd) == 0) {
      if (param.role == kMXNetRoleContext) {
        context_param_ = static_cast<int>(body_params_.size());
      }
      body_params_.push_back(&param);
    }
  }
  info_.params = params_.data();
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
  if (__builtin_expect(func == nullptr || ret_val == nullptr || ret_type_code == nullptr, 0)) {
    return RejectCall(func);
  }
  if (num_args != 0 &&
      __builtin_expect(num_args < 0 || arg_values == nullptr || type_codes == nullptr, 0)) {
    return RejectCall(func);
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

int MXNetFuncSetInfo(MXNetFunctionHandle func, const MXNetFuncInfo* info) {
  return Guard([&] {
    RequireNotNull(func, "MXNetFuncSetInfo", "func");
    RequireNotNull(info, "MXNetFuncSetInfo", "info");
    // The version first: in another one only its own position is known.
    mxnet::runtime::CheckSize(info->struct_size, offsetof(MXNetFuncInfo, name));
    if (info->abi_major != MXNET_RUNTIME_ABI_MAJOR) {
      MXNET_THROW("ImportError") << "the library was built against version " << info->abi_major
                                 << "." << info->abi_minor << " of the function ABI, this runtime "
                                 << "has version " << MXNET_RUNTIME_ABI_MAJOR << "."
                                 << MXNET_RUNTIME_ABI_MINOR;
    }
    mxnet::runtime::CheckSize(info->struct_size, mxnet::runtime::kSmallestInfo);
    auto* object = static_cast<FunctionObject*>(func);
    if (object->info != mxnet::runtime::Undescribed()) {
      MXNET_THROW("ValueError") << object->info->view().name << " is described already";
    }
    object->info = new mxnet::runtime::FunctionInfo(*info);
    object->direct_args = object->info->takes_anything()
                              ? FunctionObject::kAnyArgs
                              : static_cast<int>(object->info->body_params().size());
  });
}

int MXNetFuncGetInfo(MXNetFunctionHandle func, const MXNetFuncInfo** out) {
  return Guard([&] {
    RequireNotNull(func, "MXNetFuncGetInfo", "func");
    RequireNotNull(out, "MXNetFuncGetInfo", "out");
    *out = &static_cast<FunctionObject*>(func)->info->view();
  });
}
