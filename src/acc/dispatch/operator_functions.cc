/*!
 * \file operator_functions.cc
 * \brief Functions that call an operator on one accelerator.
 */
#include <mxnet/runtime/packed_func.h>

#include <memory>

#include "acc/dispatch/dispatch.h"
#include "runtime/core/c_api_guard.h"
#include "runtime/core/registration_log.h"

namespace mxnet {
namespace acc {
namespace {

/*! \brief The state of such a function. */
struct OperatorOfAccelerator {
  Slot* slot;
  ObjectRef func;
  std::string name;
};

/*! \brief The device that the arguments name, or the first. */
int DeviceOf(const Call& call, const Slot& slot, const std::string& name) {
  const CallDevices& devices = call.devices;
  const auto elsewhere = [&](Context ctx) {
    MXNET_THROW("ValueError") << name << ": expected arrays on " << slot.name << ", got one on "
                              << ContextName(ctx);
  };
  if (devices.arrays.device_type == slot.device_type) {
    if (devices.others.device_type != kDLCPU) elsewhere(devices.others);
    if (devices.has_host_array) elsewhere(kHost);
    return devices.arrays.device_id;
  }
  if (devices.arrays.device_type != kDLCPU) elsewhere(devices.arrays);
  if (devices.has_array) elsewhere(kHost);
  if (!devices.given) return 0;
  if (devices.context.device_type != slot.device_type) {
    MXNET_THROW("ValueError") << name << ": expected a context of " << slot.name << ", got "
                              << ContextName(devices.context);
  }
  return devices.context.device_id;
}

int CallOperator(void* resource, const MXNetValue* values, const int* type_codes, int num_args,
                 MXNetValue* ret, int* ret_type_code) {
  return Guard([&] {
    const auto* self = static_cast<const OperatorOfAccelerator*>(resource);
    const InUse accelerator(self->slot);
    const CallArguments args{values, type_codes, num_args};
    const Call call(*reinterpret_cast<const FunctionObject*>(self->func.get()), args);
    if (call.devices.is_wrong) call.ContextArgument();
    Device* device = accelerator->device(DeviceOf(call, *self->slot, self->name));
    std::string reason;
    if (!TryExecutor(call, device, &accelerator->stats(), ret, ret_type_code, &reason)) {
      MXNET_THROW("NotImplementedError")
          << self->name << ": " << self->slot->name << " does not execute it: " << reason;
    }
  });
}

void DeleteOperator(void* resource) { delete static_cast<OperatorOfAccelerator*>(resource); }

std::string Prefix(const std::string& accelerator) { return "acc." + accelerator + "."; }

void RegisterOperator(Slot* slot, const ObjectRef& func, const std::string& name) {
  auto self = std::make_unique<OperatorOfAccelerator>(OperatorOfAccelerator{slot, func, name});
  MXNetFunctionHandle handle = nullptr;
  MXNET_CHECK_CALL(
      MXNetFuncCreateFromCFunc(&CallOperator, self.release(), &DeleteOperator, &handle));
  const ObjectRef made = ObjectRef::Steal(handle);
  MXNetFuncInfo info = reinterpret_cast<const FunctionObject*>(func.get())->info->view();
  info.name = name.c_str();
  info.flags = 0;
  info.op = nullptr;
  MXNET_CHECK_CALL(MXNetFuncSetInfo(handle, &info));
  MXNET_CHECK_CALL(MXNetFuncRegisterGlobal(name.c_str(), handle, 1));
}

}  // namespace

void RegisterOperators(Slot* slot) {
  if (!InUse(slot)->plugin().imperative()) return;
  for (const NamedFunction& entry : RegisteredFunctions()) {
    const auto* func = reinterpret_cast<const FunctionObject*>(entry.second.get());
    if (!IsOffered(*func)) continue;
    RegisterOperator(slot, entry.second, Prefix(slot->name) + OperatorName(entry.first));
  }
}

void RemoveOperators(const std::string& accelerator) {
  const std::string prefix = Prefix(accelerator);
  for (const NamedFunction& entry : RegisteredFunctions()) {
    if (entry.first.rfind(prefix, 0) == 0) MXNetFuncRemoveGlobal(entry.first.c_str());
  }
}

}  // namespace acc
}  // namespace mxnet
