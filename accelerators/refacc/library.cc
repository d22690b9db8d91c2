#include "library.h"

#include "../common/one_library.h"

namespace refacc {

Library::Library(const MXAccHost* host, const Settings& settings)
    : host_(host), versions_{settings}, settings_(&versions_.back()) {
  for (int32_t i = 0; i < settings.devices; ++i) devices_.emplace_back(i, settings);
}

void Library::Warn(const std::string& message) const { Log(*host_, kMXAccWarning, message); }

Device& Library::device(int32_t dev_id) {
  mxacc::CheckDevice(dev_id, devices_.size());
  return devices_[static_cast<size_t>(dev_id)];
}

Library& TheLibrary() { return OneLibrary<Library>::Get(); }

void MakeLibrary(const MXAccHost* host) {
  OneLibrary<Library>::Make([&] {
    const Settings settings = Settings::OfEnvironment();
    settings.faults.Reach("initialize");
    return new Library(host, settings);
  });
}

void DropLibrary() { OneLibrary<Library>::Drop(); }

DeviceCall::DeviceCall(const char* name, int32_t dev_id) : device_(TheLibrary().device(dev_id)) {
  const Settings& settings = TheLibrary().settings();
  settings.faults.Reach(name);
  if (!settings.one_thread) return;
  if (device_.calls_inside.fetch_add(1, std::memory_order_relaxed) != 0) {
    device_.calls_inside.fetch_sub(1, std::memory_order_relaxed);
    device_.memory.Violate(std::string(name) + ": another thread is inside");
  }
  counted_ = true;
}

}  // namespace refacc
