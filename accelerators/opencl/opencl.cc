/*!
 * \file opencl.cc
 * \brief The entry of the library, and what it says to the skeleton.
 */
#include <algorithm>

#include "../sdk/skeleton/memory.h"
#include "../sdk/skeleton/profile.h"
#include "../sdk/skeleton/step_models.h"
#include "../sdk/skeleton/streams.h"
#include "gemm.h"
#include "work.h"

namespace opencl {
namespace {

/*! \brief What is special of this library; see the files of sdk/skeleton. */
struct Backend {
  static constexpr char kName[] = "opencl";
  static constexpr char kRelease[] = "1.0";
  static constexpr char kCopiesBetween[] = "copies between two devices, which share no context";
  using Device = opencl::Device;
  using Stream = opencl::Stream;
  using Event = opencl::Event;
  using Commands = opencl::Commands;
  using Location = opencl::Location;

  using Executor = ExecutorOf<Backend>;

  template <typename Warn>
  static void FindDevices(std::deque<Device>* devices, Warn&& warn) {
    opencl::FindDevices(devices, warn);
  }

  static void Describe(const Device& device, MXAccDeviceInfo* info) {
    const DeviceTraits& traits = device.traits;
    if ((traits.type & CL_DEVICE_TYPE_CPU) != 0) info->kind = kMXAccCPUDevice;
    if ((traits.type & CL_DEVICE_TYPE_GPU) != 0) info->kind = kMXAccGPUDevice;
    info->flags = kMXAccStrides;
    info->name = traits.name.c_str();
    info->vendor = traits.vendor.c_str();
    info->driver = traits.driver.c_str();
    info->memory_total = traits.memory;
    info->memory_free = traits.memory - std::min(traits.memory, device.memory.used());
  }

  /*! \brief There is nothing to set; it tells what the device is. */
  template <typename Tell>
  static void Configure(Device* device, const char* const* in_keys, const char* const*,
                        int32_t num_in, Tell&& tell) {
    if (num_in != 0) {
      throw Failure(kMXAccBadArgument,
                    std::string("there is nothing to set, '") + in_keys[0] + "' neither");
    }
    tell("platform", device->traits.platform);
    tell("float64", device->traits.has_double ? "1" : "0");
    tell("programs", std::to_string(device->programs().size()));
    tell("gemms", std::to_string(device->gemms.load()));
    tell("copies", std::to_string(device->copies.load()));
  }

  static void Forget() { ForgetGemms(); }

  /*! \brief Kernels are compiled from their source each time, which the driver may keep. */
  static std::string KindOf(const Device& device) {
    return device.traits.name + ", " + device.traits.driver;
  }

  static std::unique_ptr<Work> MakeWork(Device* device, const MXAccOperator& op) {
    return FirstWork<Work>(Request(device, op), {MakeElementwise, MakeMovement, MakeReduction,
                                                 MakeProduct, MakeSoftmax});
  }
};

}  // namespace
}  // namespace opencl

MXAccStatus mxacc_get_api(const MXAccRuntime*, MXAccApi* api) {
  using namespace mxacc;
  return GiveTable<opencl::Backend, MemoryMembers, CopyMembers, StreamMembers, OperatorMembers,
                   StepModelMembers, ProfileMembers>(api);
}
