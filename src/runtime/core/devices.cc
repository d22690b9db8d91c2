/*!
 * \file devices.cc
 * \brief Devices and the current context, for the headers and the front ends.
 */
#include "runtime/core/devices.h"

#include <mxnet/runtime/registry.h>

#include <utility>

#include "runtime/core/handed_down.h"

namespace mxnet {
namespace runtime {

std::atomic<DeviceProvider*> device_provider{nullptr};
std::atomic<const DeviceTransfers*> device_transfers{nullptr};
std::atomic<const ContextStack*> context_stack{nullptr};

namespace {

int KindNumber(const std::string& name) {
  DeviceProvider* provider = device_provider.load(std::memory_order_acquire);
  return provider == nullptr ? 0 : provider->KindNumber(name);
}

/*!
 * \brief Looks for devices of a kind that is not known; throws why they could not be used. Lives as
 * long as the process, since front ends have ended before.
 */
HandedDown& DeviceFinder() {
  static auto* finder = new HandedDown();
  return *finder;
}

const ContextStack& Stack() {
  const ContextStack* stack = context_stack.load(std::memory_order_acquire);
  if (stack == nullptr) {
    MXNET_THROW("RuntimeError") << "nothing that keeps a current context is loaded; import mx "
                                << "before entering a context";
  }
  return *stack;
}

MXNET_REGISTER_API("runtime.device_kind_name")
    .describe("Address of the name of a kind of device, such as 'cpu'; 0 where there is none.")
    .arg("device_type", "The number of the kind.")
    .set_body_typed([](int device_type) {
      DeviceProvider* provider = device_provider.load(std::memory_order_acquire);
      const char* name = device_type == kDLCPU ? "cpu"
                         : provider == nullptr ? nullptr
                                               : provider->KindName(device_type);
      return static_cast<int64_t>(reinterpret_cast<intptr_t>(name));
    });

MXNET_REGISTER_API("runtime.device_kind_number")
    .describe("The number of the kind of device of that name; 0 where there is none.")
    .arg("name", "Such as 'cpu'.")
    .set_body_typed([](const std::string& name) {
      if (name == "cpu") return static_cast<int>(kDLCPU);
      const int known = KindNumber(name);
      if (known != 0) return known;
      if (const PackedFunc find = DeviceFinder().Get()) find(name);
      return KindNumber(name);
    });

MXNET_REGISTER_API("runtime.use_device_finder")
    .describe("Has kinds of devices that are not known be looked for by a function.")
    .arg("find", "Is called with the name, such as 'npu'; raises why the devices cannot be used.")
    .set_body_typed([](PackedFunc find) { DeviceFinder().Set(std::move(find)); });

MXNET_REGISTER_API("runtime.device_kinds")
    .describe("The names of the kinds of which there are devices now.")
    .returns("tuple[str, ...]")
    .set_body_typed([] {
      DeviceProvider* provider = device_provider.load(std::memory_order_acquire);
      std::vector<Any> names{details::ToAny(std::string("cpu"))};
      if (provider != nullptr) {
        for (const std::string& name : provider->KindNames()) names.push_back(details::ToAny(name));
      }
      return Tuple(std::move(names));
    });

MXNET_REGISTER_API("runtime.use_context_stack")
    .describe("Has the functions below use what keeps the current context.")
    .add_argument("stack", "int", "Address of a ContextStack of src/runtime/core/devices.h.")
    .returns("None")
    .set_body_typed([](uint64_t stack) {
      context_stack.store(reinterpret_cast<const ContextStack*>(static_cast<uintptr_t>(stack)),
                          std::memory_order_release);
    });

MXNET_REGISTER_API("runtime.push_context")
    .describe("Makes a context the current one of this thread, until it is popped.")
    .add_argument("ctx", "Context | str", "The context.")
    .returns("None")
    .set_body_typed([](Context ctx) { Stack().push(ctx); });

MXNET_REGISTER_API("runtime.pop_context")
    .describe("Restores the context that was current before the last push on this thread.")
    .returns("None")
    .set_body_typed([] {
      if (!Stack().pop()) {
        MXNET_THROW("RuntimeError") << "runtime.pop_context: no context was pushed on this thread";
      }
    });

MXNET_REGISTER_API("runtime.current_context")
    .describe("Returns the context that new arrays of this thread go to.")
    .returns("Context")
    .set_body_typed([] { return Context(Stack().current()); });

}  // namespace
}  // namespace runtime
}  // namespace mxnet

const mxnet::runtime::DeviceTransfers* MXNetDeviceGetTransfers() {
  return mxnet::runtime::device_transfers.load(std::memory_order_acquire);
}
