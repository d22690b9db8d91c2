/*!
 * \file runtime.h
 * \brief What the library needs of CUDA's runtime; a failure of it is a Failure here.
 *
 * runtime.cu implements it. The tests have another one, for the CPU.
 */
#ifndef CUDAACC_RUNTIME_H_
#define CUDAACC_RUNTIME_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "sdk.h"

struct CUstream_st;
struct CUevent_st;

namespace cudaacc {

using StreamHandle = CUstream_st*;
using EventHandle = CUevent_st*;

/*! \brief What a device says of itself; does not change. */
struct DeviceTraits {
  std::string name;
  std::string driver;
  std::string reason; /*!< why it cannot be used; empty where it can */
  int major;          /*!< of the compute capability */
  int minor;
  uint64_t memory;
  bool has_pools; /*!< gives memory in the order of a stream */
};

/*! \brief More than 0; Failure with the driver's reason where there is none. */
int CountDevices();
DeviceTraits TraitsOf(int device);
/*! \brief Whether libraries of NVIDIA's work on the devices. */
bool AreGpus();

/*! \brief Makes a device the thread's current one while this object exists. */
class OnDeviceOf {
 public:
  explicit OnDeviceOf(int device);
  ~OnDeviceOf();
  OnDeviceOf(const OnDeviceOf&) = delete;
  OnDeviceOf& operator=(const OnDeviceOf&) = delete;

 private:
  int before_; /*!< -1 where it was the same */
};

/* ---- of the thread's device ---- */

/*! \brief Bytes that are free. */
uint64_t FreeMemory();
/*! \brief Aligned to kAlignment. */
void* Allocate(size_t size);
constexpr size_t kAlignment = 256;

/*! \brief Memory for work in the stream: it can be used by what the stream is given until
 * ReleaseInOrder. */
void* AllocateInOrder(size_t size, StreamHandle stream, bool has_pools);
void ReleaseInOrder(void* data, StreamHandle stream, bool has_pools);

StreamHandle CreateStreamHandle();
EventHandle CreateEventHandle();

/* ---- of any device ---- */

void Release(void* data);
void DestroyStreamHandle(StreamHandle stream);
/*! \brief Waits for all work that the stream has been given. */
void Synchronize(StreamHandle stream);

void DestroyEventHandle(EventHandle event);
void Record(EventHandle event, StreamHandle stream);
void WaitFor(EventHandle event);
void WaitFor(EventHandle event, StreamHandle stream);

/*! \brief Between the host and a device, or within it. Memory of the host may be written to until
 * the stream has passed the copy. */
void CopyBytes(void* to, const void* from, size_t size, StreamHandle stream);
/*! \brief Of a device. */
void ZeroBytes(void* data, size_t size, StreamHandle stream);

#ifdef __CUDACC__
/*! \brief Failure where a kernel was not launched. */
void CheckLaunch(cudaError_t code);
#else
/*! \brief Gives work to a stream of the CPU; only in the build for tests without CUDA. */
void RunOnHost(StreamHandle stream, std::function<void()> work);
#endif

}  // namespace cudaacc

#endif  // CUDAACC_RUNTIME_H_
