/*!
 * \file devices.h
 * \brief The devices of a library, and the members of the table that are about all of them.
 *
 * A backend is a struct that says what is special of a library. For this file it has
 *
 *   kName, kRelease           texts
 *   Device                    with Enter(), whose result is kept while the device is the thread's,
 *                             and reason(): why it cannot be used, or nothing
 *   FindDevices(&devices)     adds them; Failure with the reason where there are none
 *   Describe(device, &info)   for getDeviceInfo, but for a reason
 *   Configure(device, in_keys, in_vals, num_in, emit, context)
 *   Forget()                  what is kept beside the devices, when no table is in use any more
 */
#ifndef MXACC_SDK_SKELETON_DEVICES_H_
#define MXACC_SDK_SKELETON_DEVICES_H_

#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "../instance.h"
#include "../library.h"
#include "../status.h"

namespace mxacc {

/*! \brief The devices of one table, from initialize to finalize. Any thread may call. */
template <typename Backend>
class Devices {
 public:
  using Device = typename Backend::Device;

  explicit Devices(const MXAccRuntime* runtime) : runtime_(runtime) {
    try {
      Backend::FindDevices(&devices_, [this](const std::string& message) { Warn(message); });
    } catch (const Failure& failure) {
      devices_.clear();
      missing_ = failure.what();
    }
  }
  /*! \brief Those of the table of that self; Failure before initialize and after finalize. */
  static Devices& Of(void* self) { return Instance<Devices>::Get(self); }

  const MXAccRuntime* runtime() const { return runtime_; }
  void Warn(const std::string& message) const { Log(*runtime_, kMXAccWarning, message); }
  /*! \brief A text that stays until finalize. */
  const char* Keep(const std::string& text) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return texts_.insert(text).first->c_str();
  }
  /*! \brief Failure with the reason where there is none. */
  size_t size() const {
    if (devices_.empty()) throw Failure(kMXAccNoDevice, missing_);
    return devices_.size();
  }
  /*! \brief Failure where there is none of that number. */
  Device& at(int32_t dev_id) {
    CheckDevice(dev_id, devices_.size());
    return devices_[static_cast<size_t>(dev_id)];
  }

 private:
  const MXAccRuntime* runtime_;
  std::deque<Device> devices_;
  std::string missing_; /*!< why there is no device */
  std::mutex mutex_;
  std::set<std::string> texts_;
};

/*! \brief The status of body(Device&). Failure where the device cannot be used. */
template <typename Backend, typename Body>
MXAccStatus OnDevice(void* self, int32_t dev_id, Body&& body) {
  return StatusOf([&] {
    auto& device = Devices<Backend>::Of(self).at(dev_id);
    if (!device.reason().empty()) throw Failure(kMXAccNoDevice, device.reason());
    [[maybe_unused]] const auto entered = device.Enter();
    std::forward<Body>(body)(device);
  });
}

/*! \brief The members of the table that are about the library and its devices. */
template <typename Backend>
struct DeviceMembers {
  using All = Devices<Backend>;
  using Device = typename Backend::Device;

  static MXAccStatus GetAccName(void*, char* name, size_t size) {
    return StatusOf([&] { WriteName(Backend::kName, name, size); });
  }
  static MXAccStatus GetNumAcc(void* self, int32_t* count) {
    return StatusOf([&] { *count = static_cast<int32_t>(All::Of(self).size()); });
  }
  static MXAccStatus Initialize(void* self, const MXAccRuntime* runtime) {
    return StatusOf([&] { Instance<All>::Make(self, [&] { return new All(runtime); }); });
  }
  static void Finalize(void* self) {
    if (Instance<All>::Drop(self)) Backend::Forget();
  }
  static MXAccStatus GetDeviceInfo(void* self, int32_t dev_id, MXAccDeviceInfo* info) {
    return StatusOf([&] {
      const Device& device = All::Of(self).at(dev_id);
      MXAccDeviceInfo told{};
      Backend::Describe(device, &told);
      if (!device.reason().empty()) {
        told.flags |= kMXAccUnusable;
        told.reason = device.reason().c_str();
      }
      FillDeviceInfo(told, info);
    });
  }
  static MXAccStatus Configure(void* self, int32_t dev_id, const char* const* in_keys,
                               const char* const* in_vals, int32_t num_in, MXAccEmit emit,
                               void* context) {
    return OnDevice<Backend>(self, dev_id, [&](Device& device) {
      Backend::Configure(
          &device, in_keys, in_vals, num_in,
          [&](const char* key, const std::string& value) { Emit(emit, context, key, value); });
    });
  }

  static MXAccApi Table() {
    MXAccApi table{};
    table.struct_size = sizeof(table);
    table.abi_major = MXACC_ABI_MAJOR;
    table.abi_minor = MXACC_ABI_MINOR;
    table.release = Backend::kRelease;
    table.self = Instance<All>::Unused();
    table.getAccName = GetAccName;
    table.getNumAcc = GetNumAcc;
    table.initialize = Initialize;
    table.finalize = Finalize;
    table.getDeviceInfo = GetDeviceInfo;
    table.configure = Configure;
    return table;
  }
};

/*! \brief For mxacc_get_api: a table of its own, with the members that the templates set. */
template <typename Backend, template <typename> class... Members>
MXAccStatus GiveTable(MXAccApi* api) {
  return StatusOf([&] {
    MXAccApi table = DeviceMembers<Backend>::Table();
    (Members<Backend>::Set(&table), ...);
    FillTable(table, api);
  });
}

}  // namespace mxacc

#endif  // MXACC_SDK_SKELETON_DEVICES_H_
