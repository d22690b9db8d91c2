/*!
 * \file device.h
 * \brief A device of OpenVINO, and the core that they all have in common.
 */
#ifndef OVACC_DEVICE_H_
#define OVACC_DEVICE_H_

#include <mxnet_acc.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "api.h"
#include "options.h"

namespace ovacc {

/*! \brief OpenVINO with one of its cores, which finds and keeps what drives the devices. */
class Core {
 public:
  Core();

  const Api& api() const { return api_; }
  ov_core_t* get() const { return core_.get(); }
  /*! \brief What OpenVINO says of a device; "" where it does not say. */
  std::string Property(const std::string& device, const char* name) const;
  std::vector<std::string> Devices() const;

  Handle<ov_model_t> Read(const std::string& onnx) const;
  Handle<ov_compiled_model_t> Compile(const std::string& onnx, const std::string& device,
                                      const Options& options) const;
  /*! \brief A model of what another exported. */
  Handle<ov_compiled_model_t> Import(const char* data, size_t size, const std::string& device,
                                     const Options& options) const;

 private:
  Handle<ov_core_t> NewCore() const;
  /*! \brief A core with options of a device, which importing takes from nowhere else. For the first
   * options, mostly the only ones, it is the core that was there before: each takes milliseconds.
   */
  ov_core_t* CoreOf(const std::string& device, const Options& options) const;

  Api api_;
  Handle<ov_core_t> core_;
  mutable std::mutex mutex_; /*!< of what follows */
  mutable std::string first_;
  mutable std::map<std::string, Handle<ov_core_t>> others_; /*!< by devices and their options */
};

/*! \brief Any thread may call. */
class Device {
 public:
  Device(std::shared_ptr<const Core> core, const std::string& name);

  const std::shared_ptr<const Core>& core() const { return core_; }
  const std::string& name() const { return name_; }
  const std::string& full_name() const { return full_name_; }
  /*! \brief What compiled models depend on: OpenVINO, the device, and the options that are set. */
  std::string key() const;
  std::string reason() const { return ""; }
  /*! \brief Threads have no device of their own. */
  int Enter() const { return 0; }

  Options options() const;
  void set_options(const Options& options);
  /*! \brief A copy of a text that stays as long as the device. */
  const char* Keep(const std::string& text);

 private:
  std::shared_ptr<const Core> core_;
  std::string name_; /*!< "CPU", "GPU.0" */
  std::string full_name_;
  std::string key_;
  mutable std::mutex mutex_; /*!< of what follows */
  Options options_;
  std::set<std::string> texts_;
};

}  // namespace ovacc

#endif  // OVACC_DEVICE_H_
