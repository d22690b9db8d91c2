/*!
 * \file function_info.cc
 * \brief Descriptions of functions, which are checked and copied.
 */
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "runtime/core/c_api_guard.h"
#include "runtime/core/function.h"
#include "runtime/core/operator.h"
#include "runtime/core/python_name.h"

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

const FunctionInfo* FunctionInfo::Undescribed() {
  static const FunctionInfo* info = new FunctionInfo();
  return info;
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
  if (op->version < 1) {
    MXNET_THROW("ValueError") << info_.name << ": the version of an operator is " << op->version
                              << ", expected at least 1";
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

}  // namespace runtime
}  // namespace mxnet

using mxnet::runtime::CheckSize;
using mxnet::runtime::FunctionInfo;
using mxnet::runtime::FunctionObject;
using mxnet::runtime::Guard;
using mxnet::runtime::kSmallestInfo;
using mxnet::runtime::RequireNotNull;

int MXNetFuncSetInfo(MXNetFunctionHandle func, const MXNetFuncInfo* info) {
  return Guard([&] {
    RequireNotNull(func, "MXNetFuncSetInfo", "func");
    RequireNotNull(info, "MXNetFuncSetInfo", "info");
    // The version first: in another one only its own position is known.
    CheckSize(info->struct_size, offsetof(MXNetFuncInfo, name));
    if (info->abi_major != MXNET_RUNTIME_ABI_MAJOR) {
      MXNET_THROW("ImportError") << "the library was built against version " << info->abi_major
                                 << "." << info->abi_minor << " of the function ABI, this runtime "
                                 << "has version " << MXNET_RUNTIME_ABI_MAJOR << "."
                                 << MXNET_RUNTIME_ABI_MINOR;
    }
    CheckSize(info->struct_size, kSmallestInfo);
    auto* object = static_cast<FunctionObject*>(func);
    if (object->info != FunctionInfo::Undescribed()) {
      MXNET_THROW("ValueError") << object->info->view().name << " is described already";
    }
    object->info = new FunctionInfo(*info);
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
