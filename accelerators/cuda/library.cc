#include "library.h"

#include "../common/one_library.h"

namespace cudaacc {

Library::Library(const MXAccHost* host) : host_(host) {
  try {
    const int count = cudaacc::CountDevices();
    for (int i = 0; i < count; ++i) devices_.emplace_back(i);
  } catch (const Failure& failure) {
    devices_.clear();
    missing_ = failure.what();
  }
}

int32_t Library::CountDevices() const {
  if (devices_.empty()) throw Failure(kMXAccNoDevice, missing_);
  return static_cast<int32_t>(devices_.size());
}

Device& Library::device(int32_t dev_id) {
  mxacc::CheckDevice(dev_id, devices_.size());
  return devices_[static_cast<size_t>(dev_id)];
}

Library& TheLibrary() { return OneLibrary<Library>::Get(); }

void MakeLibrary(const MXAccHost* host) {
  OneLibrary<Library>::Make([&] { return new Library(host); });
}

void DropLibrary() { OneLibrary<Library>::Drop(); }

}  // namespace cudaacc
