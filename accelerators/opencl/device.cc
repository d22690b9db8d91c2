#include "device.h"

#include <algorithm>
#include <cstdio>

namespace opencl {
namespace {

constexpr size_t kGroupSize = 64;

template <typename T>
T Get(cl_device_id device, cl_device_info what) {
  T value{};
  Check(clGetDeviceInfo(device, what, sizeof(value), &value, nullptr), "clGetDeviceInfo");
  return value;
}

/*! \brief A text that a query fills in: get(size, value, &needed). */
template <typename GetInfo>
std::string TextOf(GetInfo&& get) {
  size_t size = 0;
  if (get(0, nullptr, &size) != CL_SUCCESS || size == 0) return "";
  std::string text(size, '\0');
  if (get(size, text.data(), nullptr) != CL_SUCCESS) return "";
  return text.c_str();
}

std::string Text(cl_device_id device, cl_device_info what) {
  return TextOf([&](size_t size, void* value, size_t* needed) {
    return clGetDeviceInfo(device, what, size, value, needed);
  });
}

std::string PlatformName(cl_device_id device) {
  const auto platform = Get<cl_platform_id>(device, CL_DEVICE_PLATFORM);
  return TextOf([&](size_t size, void* value, size_t* needed) {
    return clGetPlatformInfo(platform, CL_PLATFORM_NAME, size, value, needed);
  });
}

/*! \brief Why a device cannot be used, or nothing. */
std::string ReasonOf(cl_device_id device) {
  const std::string version = Text(device, CL_DEVICE_OPENCL_C_VERSION);
  int major = 0;
  int minor = 0;
  std::sscanf(version.c_str(), "OpenCL C %d.%d", &major, &minor);
  if (Get<cl_bool>(device, CL_DEVICE_AVAILABLE) == CL_FALSE) return "the device is not available";
  if (Get<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE) == CL_FALSE) {
    return "its driver has no compiler";
  }
  if (Get<cl_bool>(device, CL_DEVICE_ENDIAN_LITTLE) == CL_FALSE) return "it is big-endian";
  if (major * 10 + minor < 12) return "OpenCL C 1.2 is needed, it has '" + version + "'";
  return "";
}

}  // namespace

DeviceTraits::DeviceTraits(cl_device_id device)
    : name(Text(device, CL_DEVICE_NAME)),
      vendor(Text(device, CL_DEVICE_VENDOR)),
      driver(Text(device, CL_DRIVER_VERSION) + ", " + Text(device, CL_DEVICE_VERSION)),
      platform(PlatformName(device)),
      reason(ReasonOf(device)),
      type(Get<cl_device_type>(device, CL_DEVICE_TYPE)),
      memory(Get<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE)),
      group_size(std::min(kGroupSize, Get<size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE))),
      has_double(Get<cl_device_fp_config>(device, CL_DEVICE_DOUBLE_FP_CONFIG) != 0),
      divides_exactly((Get<cl_device_fp_config>(device, CL_DEVICE_SINGLE_FP_CONFIG) &
                       CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0) {}

Device::Device(cl_device_id device, const DeviceTraits& device_traits)
    : traits(device_traits), id(device) {
  if (!traits.reason.empty()) return;
  cl_int code = CL_SUCCESS;
  context_ = Context(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code));
  Check(code, "clCreateContext");
  queue_ = MakeQueue(context(), device);
  std::string options = "-cl-std=CL1.2";
  if (traits.divides_exactly) options += " -cl-fp32-correctly-rounded-divide-sqrt";
  programs_.emplace(context(), device, options);
}

}  // namespace opencl
