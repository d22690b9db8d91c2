/*!
 * \file cuda.cc
 * \brief The entry of the library, and what it says to the skeleton.
 */
#include <cstring>

#include "../sdk/skeleton/memory.h"
#include "../sdk/skeleton/profile.h"
#include "../sdk/skeleton/step_models.h"
#include "../sdk/skeleton/streams.h"
#include "work.h"

namespace cudaacc {
namespace {

constexpr char kTF32[] = "tf32";

/*! \brief Asking a device for its free memory makes a context, which takes some: one that is not in
 * use is not asked. */
uint64_t FreeMemoryOf(const Device& device) {
  if (!device.is_in_use()) return device.traits.memory;
  const OnDeviceOf current(device.id);
  return FreeMemory();
}

/*! \brief "13.1.0" of 130100, of which a major version is 10000. */
std::string VersionText(int version, int of_major) {
  return std::to_string(version / of_major) + "." + std::to_string(version % of_major / 100) + "." +
         std::to_string(version % 100);
}

std::string BlasText(Device& device) {
  int version = 0;
  if (!device.WithBlas([&](Blas& blas) { version = blas.version(); })) {
    return "none: " + BlasLibrary::Get().reason();
  }
  return VersionText(version, version < 100000 ? 1000 : 10000);  // before 12, and since
}

std::string DnnText() {
  const DnnLibrary& library = DnnLibrary::Get();
  if (!library.reason().empty()) return "none: " + library.reason();
  const auto version = static_cast<int>(library.get_version());
  return VersionText(version, version < 10000 ? 1000 : 10000);  // before 9, and since
}

/*! \brief What is special of this library; see the files of sdk/skeleton. */
struct Backend {
  static constexpr char kName[] = "cuda";
  static constexpr char kRelease[] = "1.0";
  static constexpr char kCopiesBetween[] = "copies between two devices";
  using Device = cudaacc::Device;
  using Stream = cudaacc::Stream;
  using Event = cudaacc::Event;
  using Commands = cudaacc::Commands;
  using Location = cudaacc::Location;

  using Executor = ExecutorOf<Backend>;

  template <typename Warn>
  static void FindDevices(std::deque<Device>* devices, Warn&&) {
    const int count = CountDevices();
    for (int i = 0; i < count; ++i) devices->emplace_back(i);
  }

  static void Describe(const Device& device, MXAccDeviceInfo* info) {
    info->flags = kMXAccStrides;
    info->alignment = kAlignment;
    info->kind = kMXAccGPUDevice;
    info->name = device.traits.name.c_str();
    info->vendor = "NVIDIA";
    info->driver = device.traits.driver.c_str();
    info->memory_total = device.traits.memory;
    info->memory_free = FreeMemoryOf(device);
  }

  template <typename Tell>
  static void Configure(Device* device, const char* const* in_keys, const char* const* in_vals,
                        int32_t num_in, Tell&& tell) {
    for (int32_t i = 0; i < num_in; ++i) {
      if (std::strcmp(in_keys[i], kTF32) != 0) {
        throw Failure(kMXAccBadArgument,
                      std::string("there is no '") + in_keys[i] + "' to set, only '" + kTF32 + "'");
      }
      if (std::strcmp(in_vals[i], "0") != 0 && std::strcmp(in_vals[i], "1") != 0) {
        throw Failure(kMXAccBadArgument,
                      std::string(kTF32) + " is 0 or 1, not '" + in_vals[i] + "'");
      }
    }
    for (int32_t i = 0; i < num_in; ++i) device->allows_tf32 = in_vals[i][0] == '1';
    tell("compute_capability",
         std::to_string(device->traits.major) + "." + std::to_string(device->traits.minor));
    tell("cublas", BlasText(*device));
    tell("gemms", std::to_string(device->gemms.load()));
    tell("cudnn", DnnText());
    tell("softmaxes", std::to_string(device->softmaxes.load()));
    tell(kTF32, device->allows_tf32 ? "1" : "0");
  }

  static void Forget() {}

  static std::string KindOf(const Device& device) {
    return device.traits.name + ", " + device.traits.driver;
  }

  static std::unique_ptr<Work> MakeWork(Device*, const MXAccOperator& op) {
    return FirstWork<Work>(
        Request(op), {MakeElementwise, MakeMovement, MakeReduction, MakeProduct, MakeSoftmax});
  }
};

}  // namespace
}  // namespace cudaacc

MXAccStatus mxacc_get_api(const MXAccRuntime*, MXAccApi* api) {
  using namespace mxacc;
  return GiveTable<cudaacc::Backend, MemoryMembers, CopyMembers, StreamMembers, OperatorMembers,
                   StepModelMembers, ProfileMembers>(api);
}
