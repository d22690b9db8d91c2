/*!
 * \file cuda.cc
 * \brief The entry of the library, and the members of the table that are about all of it.
 */
#include <cstring>

#include "library.h"

namespace cudaacc {
namespace {

constexpr char kName[] = "cuda";
constexpr char kRelease[] = "1.0";
constexpr char kTF32[] = "tf32";

MXAccStatus GetAccName(char* name, size_t size) {
  return StatusOf([&] { WriteName(kName, name, size); });
}

MXAccStatus GetNumAcc(int32_t* count) {
  return StatusOf([&] { *count = TheLibrary().CountDevices(); });
}

MXAccStatus Initialize(const MXAccHost* host) {
  return StatusOf([&] { MakeLibrary(host); });
}

void Finalize() { DropLibrary(); }

/*! \brief A device that is not in use is not asked, as that alone would take some of its memory. */
uint64_t FreeMemoryOf(const Device& device) {
  if (!device.is_in_use()) return device.traits.memory;
  const OnDeviceOf current(device.id);
  return FreeMemory();
}

MXAccStatus GetDeviceInfo(int32_t dev_id, MXAccDeviceInfo* info) {
  return StatusOf([&] {
    const Device& device = TheLibrary().device(dev_id);
    const DeviceTraits& traits = device.traits;
    MXAccDeviceInfo told{};
    told.flags = kMXAccStrides;
    told.alignment = kAlignment;
    told.name = traits.name.c_str();
    told.vendor = "NVIDIA";
    told.driver = traits.driver.c_str();
    told.memory_total = traits.memory;
    told.memory_free = FreeMemoryOf(device);
    if (!traits.reason.empty()) {
      told.flags |= kMXAccUnusable;
      told.reason = traits.reason.c_str();
    }
    FillDeviceInfo(told, info);
  });
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

MXAccStatus Configure(int32_t dev_id, const char* const* in_keys, const char* const* in_vals,
                      int32_t num_in, MXAccEmit emit, void* context) {
  return OnDevice(dev_id, [&](Device& device) {
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
    for (int32_t i = 0; i < num_in; ++i) device.allows_tf32 = in_vals[i][0] == '1';
    Emit(emit, context, "compute_capability",
         std::to_string(device.traits.major) + "." + std::to_string(device.traits.minor));
    Emit(emit, context, "cublas", BlasText(device));
    Emit(emit, context, "gemms", std::to_string(device.gemms.load()));
    Emit(emit, context, "cudnn", DnnText());
    Emit(emit, context, "softmaxes", std::to_string(device.softmaxes.load()));
    Emit(emit, context, kTF32, device.allows_tf32 ? "1" : "0");
  });
}

}  // namespace
}  // namespace cudaacc

MXAccStatus mxacc_get_api(const MXAccHost*, MXAccApi* api) {
  return cudaacc::StatusOf([&] {
    MXAccApi table{};
    table.struct_size = sizeof(table);
    table.abi_major = MXACC_ABI_MAJOR;
    table.abi_minor = MXACC_ABI_MINOR;
    table.release = cudaacc::kRelease;
    table.getAccName = cudaacc::GetAccName;
    table.getNumAcc = cudaacc::GetNumAcc;
    table.initialize = cudaacc::Initialize;
    table.finalize = cudaacc::Finalize;
    table.getDeviceInfo = cudaacc::GetDeviceInfo;
    table.configure = cudaacc::Configure;
    cudaacc::SetMemoryFunctions(&table);
    cudaacc::SetStreamFunctions(&table);
    cudaacc::SetOperatorFunctions(&table);
    cudaacc::FillTable(table, api);
  });
}
