/*!
 * \file opencl.cc
 * \brief The entry of the library, and the members of the table that are about all of it.
 */
#include <algorithm>

#include "gemm.h"
#include "library.h"

namespace opencl {
namespace {

constexpr char kName[] = "opencl";
constexpr char kRelease[] = "1.0";

MXAccStatus GetAccName(char* name, size_t size) {
  return StatusOf([&] { WriteName(kName, name, size); });
}

MXAccStatus GetNumAcc(int32_t* count) {
  return StatusOf([&] { *count = static_cast<int32_t>(TheLibrary().CountDevices()); });
}

MXAccStatus Initialize(const MXAccHost* host) {
  return StatusOf([&] { MakeLibrary(host); });
}

void Finalize() {
  ForgetGemms();
  DropLibrary();
}

MXAccStatus GetDeviceInfo(int32_t dev_id, MXAccDeviceInfo* info) {
  return StatusOf([&] {
    const Device& device = TheLibrary().device(dev_id);
    const DeviceTraits& traits = device.traits;
    MXAccDeviceInfo told{};
    told.flags = kMXAccStrides;
    told.name = traits.name.c_str();
    told.vendor = traits.vendor.c_str();
    told.driver = traits.driver.c_str();
    told.memory_total = traits.memory;
    told.memory_free = traits.memory - std::min(traits.memory, device.memory.used());
    if (!traits.reason.empty()) {
      told.flags |= kMXAccUnusable;
      told.reason = traits.reason.c_str();
    }
    FillDeviceInfo(told, info);
  });
}

/*! \brief There is nothing to set; it tells what the device is. */
MXAccStatus Configure(int32_t dev_id, const char* const* in_keys, const char* const*,
                      int32_t num_in, MXAccEmit emit, void* context) {
  return OnDevice(dev_id, [&](Device& device) {
    if (num_in != 0) {
      throw Failure(kMXAccBadArgument,
                    std::string("there is nothing to set, '") + in_keys[0] + "' neither");
    }
    Emit(emit, context, "platform", device.traits.platform);
    Emit(emit, context, "float64", device.traits.has_double ? "1" : "0");
    Emit(emit, context, "programs", std::to_string(device.programs().size()));
    Emit(emit, context, "gemms", std::to_string(device.gemms.load()));
  });
}

}  // namespace
}  // namespace opencl

MXAccStatus mxacc_get_api(const MXAccHost*, MXAccApi* api) {
  return opencl::StatusOf([&] {
    MXAccApi table{};
    table.struct_size = sizeof(table);
    table.abi_major = MXACC_ABI_MAJOR;
    table.abi_minor = MXACC_ABI_MINOR;
    table.release = opencl::kRelease;
    table.getAccName = opencl::GetAccName;
    table.getNumAcc = opencl::GetNumAcc;
    table.initialize = opencl::Initialize;
    table.finalize = opencl::Finalize;
    table.getDeviceInfo = opencl::GetDeviceInfo;
    table.configure = opencl::Configure;
    opencl::SetMemoryFunctions(&table);
    opencl::SetStreamFunctions(&table);
    opencl::SetOperatorFunctions(&table);
    opencl::FillTable(table, api);
  });
}
