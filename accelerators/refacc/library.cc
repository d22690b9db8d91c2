#include "library.h"

namespace refacc {

Library::Library(const MXAccRuntime* runtime, const Settings& settings)
    : runtime_(runtime), versions_{settings}, settings_(&versions_.back()) {
  for (int32_t i = 0; i < settings.devices; ++i) {
    devices_.push_back(std::make_unique<Device>(i, settings));
  }
}

void Library::Warn(const std::string& message) const { Log(*runtime_, kMXAccWarning, message); }

void MakeLibrary(void* self, const MXAccRuntime* runtime) {
  Instance<Library>::Make(self, [&] {
    const Settings settings = Settings::OfEnvironment();
    settings.faults.Reach("initialize");
    return new Library(runtime, settings);
  });
}

void DeviceCall::Enter(const char* name) {
  if (device_.calls_inside.fetch_add(1, std::memory_order_relaxed) != 0) {
    device_.calls_inside.fetch_sub(1, std::memory_order_relaxed);
    device_.memory.Violate(std::string(name) + ": another thread is inside");
  }
  counted_ = true;
}

}  // namespace refacc
