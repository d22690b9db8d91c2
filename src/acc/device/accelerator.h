/*!
 * \file accelerator.h
 * \brief An accelerator that is loaded: its library, its name, its devices.
 */
#ifndef MXNET_SRC_ACC_DEVICE_ACCELERATOR_H_
#define MXNET_SRC_ACC_DEVICE_ACCELERATOR_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "acc/device/attachments.h"
#include "acc/device/device.h"
#include "acc/device/stats.h"
#include "acc/plugin/plugin.h"
#include "acc/plugin/status.h"

namespace mxnet {
namespace acc {

/*! \brief An accelerator. Whoever uses it holds an InUse of its slot, see table.h. */
class Accelerator {
 public:
  /*! \brief Initializes the plugin and finds the devices; device_type is what contexts have. */
  Accelerator(std::unique_ptr<Plugin> plugin, std::string name, int device_type,
              AnswerCacheFactory make_answers);
  ~Accelerator();

  const MXAccApi& api() const { return plugin_->api(); }
  const Plugin& plugin() const { return *plugin_; }
  const std::string& name() const { return name_; }
  int device_type() const { return device_type_; }
  int num_devices() const { return static_cast<int>(devices_.size()); }
  /*! \brief ValueError where there is no such device. */
  Device* device(int id) {
    if (__builtin_expect(static_cast<size_t>(id) >= devices_.size(), 0)) ThrowNoDevice(id);
    return devices_[static_cast<size_t>(id)].get();
  }

  /*! \brief Pieces of memory in use, on all devices. */
  uint64_t num_blocks() const;

  /*! \brief Starts the process of an isolated library again if it has ended; its arrays are lost.
   */
  void Restart();

  /*! \brief Counts of the calls of operators. */
  Stats& stats() { return stats_; }

  /*! \brief Failures of work that no caller was told of yet. */
  UntoldFailures* untold() { return &untold_; }
  /*! \brief Waits for all devices. */
  void Settle();
  /*! \brief The same; returns the failures that no caller was told of, which count as told from now
   * on. */
  std::vector<FailureRef> TakeUntold();

  /*! \brief What the library has made besides, which goes before it is unloaded. */
  Attachments& attachments() { return attachments_; }

  /*! \brief Passes options to the library, and returns the pairs that it answers. */
  std::vector<std::pair<std::string, std::string>> Configure(
      int device, const std::vector<std::pair<std::string, std::string>>& options);
  /*! \brief The values that were passed last: device, keyword and value. */
  std::vector<std::tuple<int64_t, std::string, std::string>> Configured() const;

 private:
  void AddDevices(AnswerCacheFactory make_answers);
  [[noreturn, gnu::cold]] void ThrowNoDevice(int id) const;

  std::unique_ptr<Plugin> plugin_;
  std::string name_;
  int device_type_;
  Stats stats_;
  UntoldFailures untold_;
  Attachments attachments_;
  mutable std::mutex configured_mutex_;
  std::map<std::pair<int64_t, std::string>, std::string> configured_;
  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_DEVICE_ACCELERATOR_H_
