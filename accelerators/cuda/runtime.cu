#include <cuda_runtime_api.h>

#include "runtime.h"

namespace cudaacc {
namespace {

int32_t CodeOf(cudaError_t code) {
  switch (code) {
    case cudaErrorMemoryAllocation:
      return kMXAccOutOfMemory;
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorDevicesUnavailable:
    case cudaErrorInsufficientDriver:
    case cudaErrorSystemNotReady:
    case cudaErrorECCUncorrectable:
      return kMXAccNoDevice;
    default:
      return kMXAccFailed;
  }
}

void Check(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return;
  // Clears the error, which another library in this thread would take for its own.
  cudaGetLastError();
  throw Failure(CodeOf(code), std::string(call) + ": " + cudaGetErrorString(code) + " (" +
                                  cudaGetErrorName(code) + ")");
}

#define CHECK_CALL(function, ...) Check(function(__VA_ARGS__), #function)

/*! \brief "13.0" of 13000. */
std::string VersionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

int DriverVersion() {
  int version = 0;
  return cudaDriverGetVersion(&version) == cudaSuccess ? version : 0;
}

std::string RuntimeText() { return VersionText(CUDART_VERSION); }

int Attribute(cudaDeviceAttr attribute, int device) {
  int value = 0;
  CHECK_CALL(cudaDeviceGetAttribute, &value, attribute, device);
  return value;
}

}  // namespace

void CheckLaunch(cudaError_t code) { Check(code, "cudaLaunchKernel"); }

int CountDevices() {
  const int driver = DriverVersion();
  if (driver == 0) {
    throw Failure(kMXAccNoDevice, "there is no driver of CUDA: libcuda.so.1 is not found");
  }
  if (driver / 1000 < CUDART_VERSION / 1000) {
    throw Failure(kMXAccNoDevice, "the driver is for CUDA " + VersionText(driver) + ", one for " +
                                      RuntimeText() + " is needed");
  }
  int count = 0;
  CHECK_CALL(cudaGetDeviceCount, &count);
  if (count == 0) throw Failure(kMXAccNoDevice, "the driver of CUDA has no device");
  return count;
}

DeviceTraits TraitsOf(int device) {
  cudaDeviceProp properties;
  CHECK_CALL(cudaGetDeviceProperties, &properties, device);
  DeviceTraits traits;
  traits.name = properties.name;
  traits.driver = "CUDA " + VersionText(DriverVersion()) + ", runtime " + RuntimeText();
  traits.major = properties.major;
  traits.minor = properties.minor;
  traits.memory = properties.totalGlobalMem;
  traits.has_pools = Attribute(cudaDevAttrMemoryPoolsSupported, device) != 0;
  const int capability = properties.major * 10 + properties.minor;
  if (capability < CUDAACC_OLDEST) {
    traits.reason = "its compute capability is " + std::to_string(properties.major) + "." +
                    std::to_string(properties.minor) + ", the library is compiled for " +
                    std::to_string(CUDAACC_OLDEST / 10) + "." +
                    std::to_string(CUDAACC_OLDEST % 10) + " and later";
  } else if (Attribute(cudaDevAttrComputeMode, device) == cudaComputeModeProhibited) {
    traits.reason = "its compute mode is 'prohibited'";
  }
  return traits;
}

bool AreGpus() { return true; }

OnDeviceOf::OnDeviceOf(int device) {
  CHECK_CALL(cudaGetDevice, &before_);
  if (before_ == device) {
    before_ = -1;
  } else {
    CHECK_CALL(cudaSetDevice, device);
  }
}

OnDeviceOf::~OnDeviceOf() {
  if (before_ >= 0) cudaSetDevice(before_);
}

uint64_t FreeMemory() {
  size_t free = 0;
  size_t total = 0;
  CHECK_CALL(cudaMemGetInfo, &free, &total);
  return free;
}

void* Allocate(size_t size) {
  void* data = nullptr;
  CHECK_CALL(cudaMalloc, &data, size);
  return data;
}

void Release(void* data) { cudaFree(data); }

void* AllocateInOrder(size_t size, StreamHandle stream, bool has_pools) {
  if (!has_pools) return Allocate(size);
  void* data = nullptr;
  CHECK_CALL(cudaMallocAsync, &data, size, stream);
  return data;
}

void ReleaseInOrder(void* data, StreamHandle stream, bool has_pools) {
  // cudaFree, unlike the pool, waits for all work of the device.
  if (!has_pools) return Release(data);
  cudaFreeAsync(data, stream);
}

StreamHandle CreateStreamHandle() {
  cudaStream_t stream = nullptr;
  CHECK_CALL(cudaStreamCreateWithFlags, &stream, cudaStreamNonBlocking);
  return stream;
}

void DestroyStreamHandle(StreamHandle stream) { cudaStreamDestroy(stream); }

void Synchronize(StreamHandle stream) { CHECK_CALL(cudaStreamSynchronize, stream); }

EventHandle CreateEventHandle() {
  cudaEvent_t event = nullptr;
  CHECK_CALL(cudaEventCreateWithFlags, &event, cudaEventDisableTiming);
  return event;
}

void DestroyEventHandle(EventHandle event) { cudaEventDestroy(event); }

void Record(EventHandle event, StreamHandle stream) { CHECK_CALL(cudaEventRecord, event, stream); }

void WaitFor(EventHandle event) { CHECK_CALL(cudaEventSynchronize, event); }

void WaitFor(EventHandle event, StreamHandle stream) {
  CHECK_CALL(cudaStreamWaitEvent, stream, event, 0);
}

void CopyBytes(void* to, const void* from, size_t size, StreamHandle stream) {
  CHECK_CALL(cudaMemcpyAsync, to, from, size, cudaMemcpyDefault, stream);
}

void ZeroBytes(void* data, size_t size, StreamHandle stream) {
  CHECK_CALL(cudaMemsetAsync, data, 0, size, stream);
}

}  // namespace cudaacc
