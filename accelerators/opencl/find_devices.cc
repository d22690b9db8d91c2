#include <dlfcn.h>

#include <algorithm>
#include <vector>

#include "device.h"

namespace opencl {
namespace {

/*! \brief Never unloaded: drivers have threads that run until the process ends. */
void KeepDriversLoaded() { dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE); }

std::vector<cl_platform_id> Platforms() {
  cl_uint count = 0;
  // The ICD loader reports "no platform" by an error code of its own.
  if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0) return {};
  std::vector<cl_platform_id> platforms(count);
  Check(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
  return platforms;
}

std::vector<cl_device_id> DevicesOf(cl_platform_id platform) {
  cl_uint count = 0;
  const cl_int code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
  if (code == CL_DEVICE_NOT_FOUND || count == 0) return {};
  Check(code, "clGetDeviceIDs");
  std::vector<cl_device_id> devices(count);
  Check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr),
        "clGetDeviceIDs");
  return devices;
}

int RankOf(const DeviceTraits& traits) {
  if (!traits.reason.empty()) return 3;
  if ((traits.type & CL_DEVICE_TYPE_GPU) != 0) return 0;
  return (traits.type & CL_DEVICE_TYPE_ACCELERATOR) != 0 ? 1 : 2;
}

}  // namespace

void FindDevices(std::deque<Device>* devices, const std::function<void(const std::string&)>& warn) {
  KeepDriversLoaded();
  const std::vector<cl_platform_id> platforms = Platforms();
  if (platforms.empty()) {
    throw Failure(kMXAccNoDevice,
                  "no OpenCL platform; install a driver, such as pocl-opencl-icd for the CPU");
  }
  std::string missing = "no OpenCL platform has a device";
  std::vector<std::pair<cl_device_id, DeviceTraits>> found;
  for (cl_platform_id platform : platforms) {
    try {
      for (cl_device_id device : DevicesOf(platform)) found.emplace_back(device, device);
    } catch (const Failure& failure) {
      missing = std::string("an OpenCL platform has no device: ") + failure.what();
      warn(missing);
    }
  }
  if (found.empty()) throw Failure(kMXAccNoDevice, missing);
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return RankOf(a.second) < RankOf(b.second);
  });
  for (const auto& [device, traits] : found) devices->emplace_back(device, traits);
}

}  // namespace opencl
