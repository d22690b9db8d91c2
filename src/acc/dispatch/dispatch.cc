/*!
 * \file dispatch.cc
 * \brief Where an operator is executed.
 */
#include "acc/dispatch/dispatch.h"

#include <mxnet/runtime/registry.h>

#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "acc/device/arrays.h"
#include "acc/device/table.h"
#include "acc/device/transfers.h"
#include "acc/dispatch/executor_cache.h"
#include "acc/dispatch/fallback_call.h"
#include "acc/dispatch/moved_call.h"
#include "runtime/core/c_api_guard.h"
#include "runtime/core/handed_down.h"
#include "runtime/core/operator.h"

namespace mxnet {
namespace acc {

std::atomic<FallbackMode> fallback_mode{FallbackMode::kAuto};

namespace {

/*! \brief The context that the calling thread makes arrays in. */
Context CurrentContext() {
  const ContextStack* stack = context_stack.load(std::memory_order_acquire);
  return stack == nullptr ? kHost : Context(stack->current());
}

/*! \brief What the last error says, without the name of the operator before it. */
std::string LastReason(const FunctionObject& func) {
  const MXNetByteArray text = MXNetGetLastError()->message;
  const std::string message(text.data, text.size);
  const std::string name = std::string(func.info->view().name) + ": ";
  return message.compare(0, name.size(), name) == 0 ? message.substr(name.size()) : message;
}

/*!
 * \brief Rejects arrays on different devices, which would have to be copied silently.
 *
 * Beside those of one device, arrays may be on the CPU where a function copies anyway: if it has a
 * context argument, or writes to an argument, whose keys and values may be on the CPU.
 */
void CheckTogether(const Call& call) {
  const CallDevices& devices = call.devices;
  const bool elsewhere = devices.others.device_type != kDLCPU;
  if (!elsewhere && (!devices.has_host_array || devices.arrays.device_type == kDLCPU)) return;
  bool copies = devices.context_index >= 0 || call.has(kMXNetFuncAnywhere);
  for (const MXNetParamInfo* param : call.func.info->body_params()) {
    const bool is_required = (param->flags & kMXNetParamOptional) == 0;
    copies |= (param->flags & kMXNetParamMutated) != 0 && is_required;
  }
  // With a reason the operator needs the elements, and falls back to the CPU with all its arrays.
  if (copies && (!elsewhere || !call.reason.empty())) return;
  MXNET_THROW("ValueError") << call.name() << ": arrays on " << ContextName(devices.arrays)
                            << " and on " << (elsewhere ? ContextName(devices.others) : "the CPU")
                            << "; bring them together with as_in_ctx";
}

/*! \brief Where a call's arrays are, or where it is to make them. */
Context ContextOf(const Call& call) {
  const CallDevices& devices = call.devices;
  if (devices.arrays.device_type != kDLCPU) return devices.arrays;
  if (devices.given) return devices.context;
  if (devices.is_wrong) return kHost;  // so that the body is called, and says what is wrong
  const bool follows = call.has(kMXNetFuncFollowsInput) && devices.has_array;
  return devices.context_index >= 0 && !follows ? CurrentContext() : kHost;
}

/*! \brief What the front end tells the user with; lives as long as the process. */
runtime::HandedDown& Warner() {
  static auto* warner = new runtime::HandedDown();
  return *warner;
}

MXNET_REGISTER_API("mx.acc.use_warner")
    .describe(
        "Has the user be told by a function that an operator runs on the CPU, once for each. "
        "Without one the text goes to stderr.")
    .arg("warn",
         "Is called with the accelerator that does not execute the operator, the operator, why it "
         "does not, and the operators that ran on the CPU so far.")
    .set_body_typed([](PackedFunc warn) { Warner().Set(std::move(warn)); });

/*! \brief Tells the user, once for each operator, where it runs. */
void Warn(const std::string& accelerator, Stats* stats, const OperatorStats& first,
          const std::string& reason) {
  if (const PackedFunc warn = Warner().Get()) {
    warn(accelerator, first.name(), reason, stats->NamesOnCpu());
  } else {
    std::fprintf(stderr, "mx: %s: %s runs on the CPU: %s\n", accelerator.c_str(),
                 first.name().c_str(), reason.c_str());
  }
}

/*! \brief On the CPU, with copies. Throws. */
void FallBackToCpu(const Call& call, Context ctx, Accelerator* accelerator,
                   const std::string& reason, MXNetValue* ret, int* ret_type_code) {
  // A result that is wanted in another context is always copied there: there is nothing to warn of.
  if (call.devices.given && call.devices.context != ctx) {
    return FallbackCall(call).Run(call.devices.context, ret, ret_type_code);
  }
  if (fallback_mode.load(std::memory_order_relaxed) == FallbackMode::kError) {
    MXNET_THROW("NotImplementedError")
        << call.name() << ": " << accelerator->name() << " does not execute it: " << reason;
  }
  Stats* stats = &accelerator->stats();
  OperatorStats* operator_stats = stats->Of(call.name());
  if (operator_stats->CountFallback(reason)) {
    Warn(accelerator->name(), stats, *operator_stats, reason);
  }
  FallbackCall on_cpu(call);
  on_cpu.Run(ctx, ret, ret_type_code);
  operator_stats->AddCost(on_cpu.cost());
}

/*! \brief The reason for a CPU fallback because of an argument that libraries cannot be given. */
std::string NoAttribute(const Call& call, int argument) {
  const auto& params = call.func.info->body_params();
  const auto index = static_cast<size_t>(argument);
  const std::string name = index < params.size() ? params[index]->name : std::to_string(argument);
  return "its argument '" + name + "' is no array there and no attribute";
}

/*! \brief Executes a call by an executor. `moved` is NULL, or copies the operands to the device
 * first. */
bool TryAnExecutor(const Call& call, const MovedCall* moved, Device* device, Stats* stats,
                   MXNetValue* ret, int* ret_type_code, std::string* reason) {
  const ExecutorsInUse executors;
  CallKey key;
  const int no_attribute = key.Read(call, device);
  if (no_attribute >= 0) {
    *reason = NoAttribute(call, no_attribute);
    return false;
  }
  while (true) {
    Executor* executor = executors->Find(call, key, device, stats);
    if (!executor->rejection().empty()) {
      *reason = executor->rejection();
      return false;
    }
    if (moved != nullptr) {
      stats->Of(call.name())->AddCost(moved->Move());
      moved = nullptr;
    }
    switch (executor->Run(call, ret, ret_type_code, reason)) {
      case Executor::Outcome::kDone:
        return true;
      case Executor::Outcome::kRejected:
        return false;
      case Executor::Outcome::kEmpty:
        // No elements: the library has nothing to do, and the body checks the arguments.
        FallbackCall(call).Run(device->context(), ret, ret_type_code);
        stats->Of(call.name())->CountRun();
        return true;
      case Executor::Outcome::kRetired:
        break;
    }
  }
}

/*! \brief TryExecutor, by an executor only. Throws. */
bool TryAnExecutor(const Call& call, Device* device, Stats* stats, MXNetValue* ret,
                   int* ret_type_code, std::string* reason) {
  if (!device->imperative()) {
    *reason = "its library executes no single operators";
    return false;
  }
  if (!IsOffered(call.func)) {
    *reason = call.reason.empty() ? "the shape of its result depends on elements" : call.reason;
    return false;
  }
  if (!call.devices.has_borrowed) {
    return TryAnExecutor(call, nullptr, device, stats, ret, ret_type_code, reason);
  }
  std::optional<MovedCall> moved;
  try {
    moved.emplace(call, device);
  } catch (const Error& error) {
    // The device has no room for a copy of the borrowed operands; the CPU reads them where they
    // are.
    if (error.kind() != "MemoryError") throw;
    *reason = error.what();
    return false;
  }
  return TryAnExecutor(moved->call(), &*moved, device, stats, ret, ret_type_code, reason);
}

/*! \brief Executes `copy` by the library's copies, where it has no such operator. Throws. */
bool TryCopyOperator(const Call& call, Device* device, Stats* stats, MXNetValue* ret,
                     int* ret_type_code) {
  if (device->api().copyWithinAcc == nullptr || OperatorName(call.name()) != "copy") return false;
  if (call.args.size != 1 || call.args.type_codes[0] != kMXNetNDArrayHandle) return false;
  const NDArray array(ObjectRef::Borrow(call.args.values[0].v_handle));
  NDArray copy;
  if (array.ctx() != device->context() || !TryCopyOnDevice(array, &copy)) return false;
  stats->Of(call.name())->CountRun();
  Any::Of(std::move(copy)).MoveTo(ret, ret_type_code);
  return true;
}

}  // namespace

bool TryExecutor(const Call& call, Device* device, Stats* stats, MXNetValue* ret,
                 int* ret_type_code, std::string* reason) {
  return TryAnExecutor(call, device, stats, ret, ret_type_code, reason) ||
         TryCopyOperator(call, device, stats, ret, ret_type_code);
}

namespace {

/*! \brief Executes an operator on a device that stays loaded meanwhile. Throws. */
void CallOnDevice(const Call& call, Device* device, MXNetValue* ret, int* ret_type_code) {
  Accelerator* accelerator = device->accelerator();
  const Context ctx = device->context();
  std::string reason;
  const bool stays = !call.devices.given || call.devices.context == ctx;
  if (fallback_mode.load(std::memory_order_relaxed) == FallbackMode::kWhole) {
    reason = "the fallback mode is 'whole'";
  } else if (!stays) {
    reason = "its result is wanted elsewhere";
  } else if (TryExecutor(call, device, &accelerator->stats(), ret, ret_type_code, &reason)) {
    return;
  }
  FallBackToCpu(call, ctx, accelerator, reason, ret, ret_type_code);
}

/*! \brief The same where no array keeps the device loaded. */
[[gnu::noinline]] void CallInContext(const Call& call, Context ctx, MXNetValue* ret,
                                     int* ret_type_code) {
  const InUse accelerator(ctx);
  CallOnDevice(call, accelerator->device(ctx.device_id), ret, ret_type_code);
}

/*! \brief Executes an operator that belongs to ctx. Throws. */
void CallOn(const Call& call, Context ctx, MXNetValue* ret, int* ret_type_code) {
  if (call.devices.is_wrong) call.ContextArgument();
  CheckTogether(call);
  if (call.devices.array != nullptr) {
    const auto* array = reinterpret_cast<const ArrayObject*>(call.devices.array);
    Device* device = DeviceOf(array);
    if (device != nullptr) return CallOnDevice(call, device, ret, ret_type_code);
  }
  CallInContext(call, ctx, ret, ret_type_code);
}

/*! \brief TryCall for any call that needs elements. */
[[gnu::noinline]] bool TryAnyCall(const FunctionObject& func, const CallArguments& args,
                                  MXNetValue* ret, int* ret_type_code, int* status,
                                  const std::string& reason = std::string()) {
  Call call(func, args);
  call.reason = reason;
  const Context ctx = ContextOf(call);
  // Nothing here is on a device: the CPU executes the call.
  if (ctx.device_type == kDLCPU) return false;
  *status = Guard([&] { CallOn(call, ctx, ret, ret_type_code); });
  return true;
}

/*! \brief The kind of a call, as far as a quick look tells. */
enum class Glance {
  kHost,   /*!< nothing but numbers, and arrays of the CPU */
  kDevice, /*!< with an array elsewhere */
  kUnclear
};

inline Glance GlanceAt(const CallArguments& args, const ArrayObject** array) {
  for (int i = 0; i < args.size; ++i) {
    switch (args.type_codes[i]) {
      case kMXNetNDArrayHandle:
        if (TensorOf(args.values[i]).device.device_type == kDLCPU) break;
        *array = static_cast<const ArrayObject*>(args.values[i].v_handle);
        return Glance::kDevice;
      case kMXNetNull:
      case kMXNetMissing:
      case kMXNetInt:
      case kMXNetFloat:
      case kMXNetBool:
      case kMXNetReadOnlyArray:
      case kMXNetArrayHandle:
        break;
      default:
        return Glance::kUnclear;
    }
  }
  return Glance::kHost;
}

/*! \brief TryCall with the executor that executed the operator last on the array's device. */
[[gnu::noinline]] bool TryRecent(const FunctionObject& func, const CallArguments& args,
                                 const ArrayObject* array, MXNetValue* ret, int* ret_type_code,
                                 int* status) {
  if (fallback_mode.load(std::memory_order_relaxed) == FallbackMode::kWhole) return false;
  Device* device = DeviceOf(array);
  if (device == nullptr) return false;
  const ExecutorsInUse executors;
  Executor* recent = executors->FindRecent(func, device);
  if (recent == nullptr) return false;
  bool is_done = false;
  *status = Guard([&] { is_done = recent->TryRunAtOnce(func, args, ret, ret_type_code); });
  return is_done || *status != 0;
}

/*! \brief Whether a function that puts its result where its first argument is has been given none
 * that is an array. */
inline bool FollowsNone(uint64_t flags, const CallArguments& args) {
  if ((flags & kMXNetFuncFollowsInput) == 0) return false;
  return args.size > 0 && args.type_codes[0] != kMXNetNDArrayHandle;
}

}  // namespace

bool TryCall(const FunctionObject& func, const CallArguments& args, MXNetValue* ret,
             int* ret_type_code, int* status) {
  const uint64_t flags = func.info->view().flags;
  if ((flags & kMXNetFuncAnywhere) != 0 && !FollowsNone(flags, args)) {
    // The body runs first, wherever its arrays are: the device matters only if it needs elements.
    *status = func.Call(args.values, args.type_codes, args.size, ret, ret_type_code);
    if (__builtin_expect(*status == 0, 1)) return true;
    const bool needs_elements = *status == kElementsElsewhere || HasAttributeElsewhere(func, args);
    if (!needs_elements) return true;
    const std::string reason = LastReason(func);
    return TryAnyCall(func, args, ret, ret_type_code, status, reason);
  }
  if (func.info->context_param() < 0) {
    const ArrayObject* array = nullptr;
    const Glance glance = GlanceAt(args, &array);
    if (glance == Glance::kHost) return false;
    if (glance == Glance::kDevice && TryRecent(func, args, array, ret, ret_type_code, status)) {
      return true;
    }
  }
  return TryAnyCall(func, args, ret, ret_type_code, status);
}

}  // namespace acc
}  // namespace mxnet
