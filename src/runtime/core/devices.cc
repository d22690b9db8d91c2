/*!
 * \file devices.cc
 * \brief Names of devices, for the headers.
 */
#include "runtime/core/devices.h"

#include <mxnet/runtime/registry.h>

namespace mxnet {
namespace runtime {

std::atomic<DeviceProvider*> device_provider{nullptr};

namespace {

int KindNumber(const std::string& name) {
  DeviceProvider* provider = device_provider.load(std::memory_order_acquire);
  return provider == nullptr ? 0 : provider->KindNumber(name);
}

/*! \brief Has the front end look for an accelerator of the name; throws why one did not load. */
void Find(const std::string& name) {
  const PackedFunc find = PackedFunc::GetGlobal("mx.acc.find");
  if (find.get() != nullptr) find(name);
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
      Find(name);
      return KindNumber(name);
    });

}  // namespace
}  // namespace runtime
}  // namespace mxnet
