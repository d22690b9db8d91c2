/*!
 * \file call.cc
 * \brief Looks through the arguments of a call.
 */
#include "acc/dispatch/call.h"

#include <mxnet/runtime/packed_func.h>

namespace mxnet {
namespace acc {
namespace {

inline void LookAt(const MXNetValue& value, CallDevices* devices) {
  devices->has_array = true;
  const DLTensor& tensor = TensorOf(value);
  if (tensor.device.device_type == kDLCPU) {
    devices->has_host_array |= tensor.ndim > 0;
  } else if (devices->array == nullptr) {
    devices->arrays = tensor.device;
    devices->array = static_cast<const MXNetNDArrayObject*>(value.v_handle);
  } else if (devices->arrays != tensor.device) {
    devices->others = tensor.device;
  }
}

inline void LookForBorrowed(const MXNetValue& value, int type_code, CallDevices* devices) {
  const DLTensor* tensor = BorrowedTensor(value, type_code);
  devices->has_borrowed |= tensor != nullptr && tensor->ndim > 0;
}

[[gnu::noinline]] void LookInto(const MXNetAnyArray& items, CallDevices* devices) {
  for (size_t i = 0; i < items.size; ++i) {
    const MXNetAny& item = items.data[i];
    if (item.type_code == kMXNetNDArrayHandle) {
      LookAt(item.value, devices);
    } else if (const MXNetAnyArray* nested = ItemsOf(item.value, item.type_code)) {
      LookInto(*nested, devices);
    } else {
      LookForBorrowed(item.value, item.type_code, devices);
    }
  }
}

}  // namespace

Call::Call(const FunctionObject& function, const CallArguments& arguments)
    : func(function), args(arguments) {
  devices.context_index = func.info->context_param();
  for (int i = 0; i < args.size; ++i) {
    const int type_code = args.type_codes[i];
    if (type_code == kMXNetNDArrayHandle && i != devices.context_index) {
      LookAt(args.values[i], &devices);
    } else if (type_code == kMXNetNull || type_code == kMXNetMissing) {
      continue;
    } else if (i == devices.context_index) {
      LookAtContext(i);
    } else if (const MXNetAnyArray* items = ItemsOf(args.values[i], type_code)) {
      LookInto(*items, &devices);
    } else {
      LookForBorrowed(args.values[i], type_code, &devices);
    }
  }
}

void Call::LookAtContext(int index) {
  if (args.type_codes[index] == kMXNetContext) {
    devices.context = args.values[index].v_ctx;
    devices.given = true;
    return;
  }
  try {
    devices.context = ContextArgument();
    devices.given = true;
  } catch (const Error&) {
    devices.is_wrong = true;
  }
}

Context Call::ContextArgument() const {
  const int index = devices.context_index;
  const MXNetArgValue arg(args.values[index], args.type_codes[index],
                          const_cast<FunctionObject*>(&func), index);
  return arg.As<Context>();
}

namespace {

bool IsElsewhere(const MXNetValue& value, int type_code) {
  return type_code == kMXNetNDArrayHandle && TensorOf(value).device.device_type != kDLCPU;
}

bool HasElsewhere(const MXNetValue& value, int type_code) {
  if (IsElsewhere(value, type_code)) return true;
  const MXNetAnyArray* items = ItemsOf(value, type_code);
  for (size_t i = 0; items != nullptr && i < items->size; ++i) {
    if (HasElsewhere(items->data[i].value, items->data[i].type_code)) return true;
  }
  return false;
}

}  // namespace

bool HasSequenceElsewhere(const FunctionObject& func, const CallArguments& args) {
  const auto& params = func.info->body_params();
  for (size_t i = 0; i < params.size() && i < static_cast<size_t>(args.size); ++i) {
    if (params[i]->role != kMXNetRoleArray || args.type_codes[i] == kMXNetNDArrayHandle) continue;
    if (HasElsewhere(args.values[i], args.type_codes[i])) return true;
  }
  return false;
}

bool HasAttributeElsewhere(const FunctionObject& func, const CallArguments& args) {
  const auto& params = func.info->body_params();
  for (size_t i = 0; i < params.size() && i < static_cast<size_t>(args.size); ++i) {
    const int role = params[i]->role;
    const bool is_tensor =
        role == kMXNetRoleArray || role == kMXNetRoleArrays || role == kMXNetRoleOut;
    if (!is_tensor && HasElsewhere(args.values[i], args.type_codes[i])) return true;
  }
  return false;
}

bool IsOffered(const FunctionObject& func) {
  const MXNetOperator* op = func.info->op();
  constexpr uint64_t kOfItself = kMXNetOpDataDependent | kMXNetOpOwnBody;
  return op != nullptr && (op->properties & kOfItself) == 0;
}

}  // namespace acc
}  // namespace mxnet
