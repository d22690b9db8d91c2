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
  const std::thread::id me = std::this_thread::get_id();
  std::thread::id inside;
  if (device_.inside.compare_exchange_strong(inside, me)) {
    counted_ = true;
  } else if (inside != me) {
    // The same thread comes again where MXNet allocates what infer has asked for.
    device_.memory.Violate(std::string(name) + ": another thread is inside");
  }
}

}  // namespace refacc
