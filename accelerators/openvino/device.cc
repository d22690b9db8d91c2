#include "device.h"

#include <signal.h>

#include <utility>

#include "../sdk/status.h"

namespace ovacc {
namespace {

/*!
 * \brief Meanwhile the signal stack of the thread may change; it is the one from before then.
 *
 * What drives the CPU takes another signal stack for the thread that makes it, and unmaps that when
 * it is freed, maybe by another thread: the next signal would end the process.
 */
class SignalStackKept {
 public:
  SignalStackKept() { sigaltstack(nullptr, &before_); }
  ~SignalStackKept() {
    if (sigaltstack(&before_, nullptr) == 0) return;
    // With the registers that are in use now it is too small for a signal.
    before_.ss_flags = SS_DISABLE;
    sigaltstack(&before_, nullptr);
  }
  SignalStackKept(const SignalStackKept&) = delete;
  SignalStackKept& operator=(const SignalStackKept&) = delete;

 private:
  stack_t before_{};
};

/*! \brief As OpenVINO takes them; what they are of has to stay. */
std::vector<ov_property_t> PropertiesOf(
    const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::vector<ov_property_t> properties;
  for (const auto& [key, value] : pairs) properties.push_back({key.c_str(), value.c_str()});
  return properties;
}

}  // namespace

Core::Core() : core_(NewCore()) {}

Handle<ov_core_t> Core::NewCore() const {
  ov_core_t* core = nullptr;
  api_.Check(api_.ov_core_create(&core), "ov_core_create", kMXAccNoDevice);
  return {core, api_.ov_core_free};
}

std::string Core::Property(const std::string& device, const char* name) const {
  const SignalStackKept kept;
  char* value = nullptr;
  if (api_.ov_core_get_property(core_.get(), device.c_str(), name, &value) != OK) return "";
  const Handle<const char> freed(value, api_.ov_free);
  return value == nullptr ? "" : value;
}

std::vector<std::string> Core::Devices() const {
  const SignalStackKept kept;
  ov_available_devices_t found{};
  api_.Check(api_.ov_core_get_available_devices(core_.get(), &found),
             "ov_core_get_available_devices", kMXAccNoDevice);
  std::vector<std::string> names(found.devices, found.devices + found.size);
  api_.ov_available_devices_free(&found);
  return names;
}

Handle<ov_model_t> Core::Read(const std::string& onnx) const {
  ov_model_t* model = nullptr;
  api_.Check(api_.ov_core_read_model_from_memory_buffer(core_.get(), onnx.data(), onnx.size(),
                                                        nullptr, &model),
             "ov_core_read_model", kMXAccUnsupported);
  return {model, api_.ov_model_free};
}

ov_core_t* Core::CoreOf(const std::string& device, const Options& options) const {
  const std::string key = device + " " + options.text();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (key == first_) return core_.get();
  const auto found = others_.find(key);
  if (found != others_.end()) return found->second.get();
  Handle<ov_core_t> made(nullptr, api_.ov_core_free);
  if (!first_.empty()) made = NewCore();
  ov_core_t* core = first_.empty() ? core_.get() : made.get();
  const auto pairs = options.properties();
  const std::vector<ov_property_t> properties = PropertiesOf(pairs);
  api_.Check(
      api_.ov_core_set_properties(core, device.c_str(), properties.size(), properties.data()),
      "ov_core_set_properties");
  if (first_.empty()) {
    first_ = key;
  } else {
    others_.emplace(key, std::move(made));
  }
  return core;
}

Handle<ov_compiled_model_t> Core::Compile(const std::string& onnx, const std::string& device,
                                          const Options& options) const {
  const SignalStackKept kept;
  const Handle<ov_model_t> model = Read(onnx);
  ov_compiled_model_t* compiled = nullptr;
  api_.Check(api_.ov_core_compile_model_props(CoreOf(device, options), model.get(), device.c_str(),
                                              0, nullptr, &compiled),
             "ov_core_compile_model", kMXAccUnsupported);
  return {compiled, api_.ov_compiled_model_free};
}

Handle<ov_compiled_model_t> Core::Import(const char* data, size_t size, const std::string& device,
                                         const Options& options) const {
  const SignalStackKept kept;
  ov_compiled_model_t* compiled = nullptr;
  api_.Check(
      api_.ov_core_import_model(CoreOf(device, options), data, size, device.c_str(), &compiled),
      "ov_core_import_model");
  return {compiled, api_.ov_compiled_model_free};
}

Device::Device(std::shared_ptr<const Core> core, const std::string& name)
    : core_(std::move(core)),
      name_(name),
      full_name_(core_->Property(name, "FULL_DEVICE_NAME")),
      key_("openvino " + core_->api().version + ", " + name + ", " + full_name_ + ", " +
           core_->Property(name, "OPTIMIZATION_CAPABILITIES")) {}

std::string Device::key() const { return key_ + ", " + options().text(); }

Options Device::options() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return options_;
}

void Device::set_options(const Options& options) {
  const std::lock_guard<std::mutex> lock(mutex_);
  options_ = options;
}

const char* Device::Keep(const std::string& text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return texts_.insert(text).first->c_str();
}

}  // namespace ovacc
