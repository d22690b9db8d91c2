/*!
 * \file accelerator.cc
 * \brief An accelerator's start and end, and its own options.
 */
#include "acc/device/accelerator.h"

#include "acc/plugin/status.h"

namespace mxnet {
namespace acc {
namespace {

/*! \brief More devices than any machine has are a mistake of the library's. */
constexpr int kMaxDevices = 4096;

using Pairs = std::vector<std::pair<std::string, std::string>>;

void Emit(void* context, const char* key, const char* value, size_t value_size) {
  static_cast<Pairs*>(context)->emplace_back(
      key == nullptr ? "" : key, value == nullptr ? "" : std::string(value, value_size));
}

}  // namespace

Accelerator::Accelerator(std::unique_ptr<Plugin> plugin, std::string name, int device_type,
                         AnswerCacheFactory make_answers)
    : plugin_(std::move(plugin)), name_(std::move(name)), device_type_(device_type) {
  plugin_->Initialize();
  AddDevices(make_answers);
}

void Accelerator::AddDevices(AnswerCacheFactory make_answers) {
  int32_t count = -1;
  Check(api().getNumAcc(api().self, &count), "cannot load " + plugin_->path(), "getNumAcc");
  if (count == 0) {
    MXNET_THROW("RuntimeError") << "cannot load " << plugin_->path() << ": it finds no device";
  }
  if (count < 0 || count > kMaxDevices) {
    MXNET_THROW("ImportError") << "cannot load " << plugin_->path()
                               << ": getNumAcc says that there "
                               << "are " << count << " devices, expected 1 to " << kMaxDevices;
  }
  for (int id = 0; id < count; ++id) {
    devices_.push_back(std::make_unique<Device>(this, id, make_answers()));
  }
}

Accelerator::~Accelerator() {
  // While all devices still exist, as one may wait for another.
  Settle();
  attachments_.ReleaseAll();
}

void Accelerator::Settle() {
  for (const auto& device : devices_) device->Settle();
}

std::vector<FailureRef> Accelerator::TakeUntold() {
  Settle();
  return untold_.Take();
}

void Accelerator::Restart() {
  plugin_->adapter()->Restart();
  for (const auto& device : devices_) device->TrimPool();
}

void Accelerator::ThrowNoDevice(int id) const {
  MXNET_THROW("ValueError") << "there is no " << name_ << "(" << id << "): " << name_ << " has "
                            << (num_devices() == 1
                                    ? "one device, " + name_ + "(0)"
                                    : std::to_string(num_devices()) + " devices, up to " + name_ +
                                          "(" + std::to_string(num_devices() - 1) + ")");
}

uint64_t Accelerator::num_blocks() const {
  uint64_t blocks = 0;
  for (const auto& device : devices_) blocks += device->num_blocks();
  return blocks;
}

Pairs Accelerator::Configure(int device, const Pairs& options) {
  if (api().configure == nullptr) {
    MXNET_THROW("NotImplementedError") << name_ << " has no options to configure";
  }
  std::vector<const char*> keys;
  std::vector<const char*> values;
  for (const auto& [key, value] : options) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  Pairs emitted;
  Device* configured = this->device(device);
  {
    DeviceCall call(configured);
    const MXAccStatus status = api().configure(api().self, device, keys.data(), values.data(),
                                               static_cast<int32_t>(keys.size()), &Emit, &emitted);
    Check(status, name_, "configure");
  }
  // The library may answer otherwise about operators now.
  configured->answers()->Clear();
  if (!options.empty()) configured->copies()->Clear();
  const std::lock_guard<std::mutex> lock(configured_mutex_);
  for (const auto& [key, value] : options) configured_[{device, key}] = value;
  return emitted;
}

std::vector<std::tuple<int64_t, std::string, std::string>> Accelerator::Configured() const {
  const std::lock_guard<std::mutex> lock(configured_mutex_);
  std::vector<std::tuple<int64_t, std::string, std::string>> rows;
  for (const auto& [key, value] : configured_) rows.emplace_back(key.first, key.second, value);
  return rows;
}

}  // namespace acc
}  // namespace mxnet
