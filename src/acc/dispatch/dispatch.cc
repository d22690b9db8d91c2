/*!
 * \file dispatch.cc
 * \brief Where an operator is carried out.
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
#include "acc/dispatch/host_call.h"
#include "acc/dispatch/moved_call.h"
#include "runtime/core/c_api_guard.h"

namespace mxnet {
namespace acc {

std::atomic<FallbackMode> fallback_mode{FallbackMode::kAuto};

namespace {

/*! \brief The context that the calling thread makes arrays in. */
Context CurrentContext() {
  const ContextStack* stack = context_stack.load(std::memory_order_acquire);
  return stack == nullptr ? kHost : Context(stack->current());
}

/*! \brief The kind of the last error says that a view's body needs elements after all. */
bool WasOffHost() { return std::strcmp(MXNetGetLastError()->kind, "OffHost") == 0; }

/*! \brief What the last error says, without the name of the operator before it. */
std::string LastReason(const FunctionObject& func) {
  const MXNetByteArray text = MXNetGetLastError()->message;
  const std::string message(text.data, text.size);
  const std::string name = std::string(func.info->view().name) + ": ";
  return message.compare(0, name.size(), name) == 0 ? message.substr(name.size()) : message;
}

/*!
 * \brief Refuses arrays that are in different places, which would have to be copied silently.
 *
 * Keys and what is assigned may be on the CPU, and so may what is copied to a context.
 */
void CheckTogether(const Call& call) {
  const Places& places = call.places;
  const bool elsewhere = places.others.device_type != kDLCPU;
  if (!elsewhere && (!places.has_host_array || places.arrays.device_type == kDLCPU)) return;
  bool copies = places.context_index >= 0 || call.has(kMXNetFuncView);
  for (const MXNetParamInfo* param : call.func.info->body_params()) {
    const bool is_required = (param->flags & kMXNetParamOptional) == 0;
    copies |= (param->flags & kMXNetParamWritten) != 0 && is_required;
  }
  // What looks at geometry only, and needs elements after all, has them all brought to the CPU.
  if (copies && (!elsewhere || !call.reason.empty())) return;
  MXNET_THROW("ValueError") << call.name() << ": arrays on " << ContextName(places.arrays)
                            << " and on " << (elsewhere ? ContextName(places.others) : "the CPU")
                            << "; bring them together with as_in_ctx";
}

/*! \brief Where a call's arrays are, or where it is to make them. */
Context ContextOf(const Call& call) {
  const Places& places = call.places;
  if (places.arrays.device_type != kDLCPU) return places.arrays;
  if (places.given) return places.context;
  if (places.is_wrong) return kHost;  // where the body says what is wrong with it
  const bool follows = call.has(kMXNetFuncFollowsInput) && places.has_array;
  return places.context_index >= 0 && !follows ? CurrentContext() : kHost;
}

MXNET_REGISTER_API("mx.acc.warn")
    .describe(
        "Tells the user that an operator runs on the CPU, once for each. The front end replaces "
        "it; without one the text goes to stderr.")
    .add_argument("accelerator", "str", "The accelerator that does not carry it out.")
    .add_argument("operator", "str", "The operator.")
    .add_argument("reason", "str", "Why it does not.")
    .add_argument("so_far", "str", "The operators that ran on the CPU so far.")
    .returns("None")
    .set_body_typed([](const std::string& accelerator, const std::string& name,
                       const std::string& reason, const std::string&) {
      std::fprintf(stderr, "mx: %s: %s runs on the CPU: %s\n", accelerator.c_str(), name.c_str(),
                   reason.c_str());
    });

/*! \brief Tells the user, once for each operator, where it runs. */
void Warn(const std::string& accelerator, Stats* stats, const OperatorStats& first,
          const std::string& reason) {
  const PackedFunc warn = PackedFunc::GetGlobal("mx.acc.warn");
  warn(accelerator, first.name(), reason, stats->NamesOnCpu());
}

/*! \brief On the CPU, with copies. Throws. */
void CallOnHost(const Call& call, Context ctx, Accelerator* accelerator, const std::string& reason,
                MXNetValue* ret, int* ret_type_code) {
  // What is to be a copy elsewhere is no operator that is lacking.
  if (call.places.given && call.places.context != ctx) {
    return HostCall(call).Run(call.places.context, ret, ret_type_code);
  }
  if (fallback_mode.load(std::memory_order_relaxed) == FallbackMode::kError) {
    MXNET_THROW("NotImplementedError")
        << call.name() << ": " << accelerator->name() << " does not carry it out: " << reason;
  }
  Stats* stats = &accelerator->stats();
  OperatorStats* operator_stats = stats->Of(call.name());
  if (operator_stats->CountFallback(reason)) {
    Warn(accelerator->name(), stats, *operator_stats, reason);
  }
  HostCall on_host(call);
  on_host.Run(ctx, ret, ret_type_code);
  operator_stats->AddCost(on_host.cost());
}

/*! \brief Why no library is asked about a call with such an argument. */
std::string NoAttribute(const Call& call, int argument) {
  const auto& params = call.func.info->body_params();
  const auto index = static_cast<size_t>(argument);
  const std::string name = index < params.size() ? params[index]->name : std::to_string(argument);
  return "its argument '" + name + "' is no array there and no attribute";
}

/*! \brief Carries a call out; where it is one that was moved, its operands are copied first. */
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
    if (!executor->refusal().empty()) {
      *reason = executor->refusal();
      return false;
    }
    if (moved != nullptr) {
      stats->Of(call.name())->AddCost(moved->Move());
      moved = nullptr;
    }
    switch (executor->Run(call, ret, ret_type_code, reason)) {
      case Executor::Outcome::kDone:
        return true;
      case Executor::Outcome::kRefused:
        return false;
      case Executor::Outcome::kEmpty:
        // There is nothing for the library to do, and the body says what is wrong.
        HostCall(call).Run(device->context(), ret, ret_type_code);
        stats->Of(call.name())->CountRun();
        return true;
      case Executor::Outcome::kRetired:
        break;
    }
  }
}

/*! \brief TryExecutor without what can be done without an executor. Throws. */
bool TryAnExecutor(const Call& call, Device* device, Stats* stats, MXNetValue* ret,
                   int* ret_type_code, std::string* reason) {
  if (!device->imperative()) {
    *reason = "its library carries out no single operators";
    return false;
  }
  if (!call.has(kMXNetFuncMeta)) {
    *reason = call.reason.empty() ? "the geometry of its result depends on elements" : call.reason;
    return false;
  }
  if (!call.places.has_lent) {
    return TryAnExecutor(call, nullptr, device, stats, ret, ret_type_code, reason);
  }
  std::optional<MovedCall> moved;
  try {
    moved.emplace(call, device);
  } catch (const Error& error) {
    // The operator may need little of what is lent, so that the CPU can do without a copy.
    if (error.kind() != "MemoryError") throw;
    *reason = error.what();
    return false;
  }
  return TryAnExecutor(moved->call(), &*moved, device, stats, ret, ret_type_code, reason);
}

/*! \brief Carries `copy` out by the library's copies, where it has no such operator. Throws. */
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

/*! \brief Carries an operator out on a device that stays loaded meanwhile. Throws. */
void CallOnDevice(const Call& call, Device* device, MXNetValue* ret, int* ret_type_code) {
  Accelerator* accelerator = device->accelerator();
  const Context ctx = device->context();
  std::string reason;
  const bool stays = !call.places.given || call.places.context == ctx;
  if (fallback_mode.load(std::memory_order_relaxed) == FallbackMode::kWhole) {
    reason = "the fallback mode is 'whole'";
  } else if (!stays) {
    reason = "its result is wanted elsewhere";
  } else if (TryExecutor(call, device, &accelerator->stats(), ret, ret_type_code, &reason)) {
    return;
  }
  CallOnHost(call, ctx, accelerator, reason, ret, ret_type_code);
}

/*! \brief The same where no array keeps the device loaded. */
[[gnu::noinline]] void CallInContext(const Call& call, Context ctx, MXNetValue* ret,
                                     int* ret_type_code) {
  const InUse accelerator(ctx);
  CallOnDevice(call, accelerator->device(ctx.device_id), ret, ret_type_code);
}

/*! \brief Carries an operator out that belongs to ctx. Throws. */
void CallOn(const Call& call, Context ctx, MXNetValue* ret, int* ret_type_code) {
  if (call.places.is_wrong) call.ContextArgument();
  CheckTogether(call);
  if (call.places.array != nullptr) {
    const auto* array = reinterpret_cast<const ArrayObject*>(call.places.array);
    Device* device = DeviceOf(array);
    if (device != nullptr) return CallOnDevice(call, device, ret, ret_type_code);
  }
  CallInContext(call, ctx, ret, ret_type_code);
}

/*! \brief TryCall for whatever call it is that needs elements. */
[[gnu::noinline]] bool TryAnyCall(const FunctionObject& func, const CallArguments& args,
                                  MXNetValue* ret, int* ret_type_code, int* status,
                                  const std::string& reason = std::string()) {
  Call call(func, args);
  call.reason = reason;
  const Context ctx = ContextOf(call);
  // An operator that calls another for the geometry of its result is not carried out anywhere.
  const int device_type = static_cast<int>(ctx.device_type);
  if (device_type == kDLCPU || device_type == kMXNetMetaDevice) return false;
  *status = Guard([&] { CallOn(call, ctx, ret, ret_type_code); });
  return true;
}

/*! \brief What most calls are, on a quick look. */
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

/*! \brief TryCall with the executor that the operator was last carried out by there. */
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

/*! \brief Whether a function that follows its first argument has none there that it can follow. */
inline bool FollowsNone(uint64_t flags, const CallArguments& args) {
  if ((flags & kMXNetFuncFollowsInput) == 0) return false;
  return args.size > 0 && args.type_codes[0] != kMXNetNDArrayHandle;
}

}  // namespace

bool TryCall(const FunctionObject& func, const CallArguments& args, MXNetValue* ret,
             int* ret_type_code, int* status) {
  const uint64_t flags = func.info->view().flags;
  if ((flags & kMXNetFuncView) != 0 && !FollowsNone(flags, args)) {
    // Wherever its arrays are; only where elements are needed does that matter.
    *status = func.Call(args.values, args.type_codes, args.size, ret, ret_type_code);
    if (__builtin_expect(*status == 0, 1) || !WasOffHost()) return true;
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
