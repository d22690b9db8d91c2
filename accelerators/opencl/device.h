/*!
 * \file device.h
 * \brief A device of OpenCL's with what the library keeps for it.
 */
#ifndef OPENCL_DEVICE_H_
#define OPENCL_DEVICE_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "../sdk/profiler.h"
#include "../sdk/rate.h"
#include "memory.h"
#include "program.h"
#include "runtime.h"

namespace opencl {

/*! \brief What a device says of itself; does not change. */
struct DeviceTraits {
  explicit DeviceTraits(cl_device_id device);

  std::string name;
  std::string vendor;
  std::string driver; /*!< its version and OpenCL's */
  std::string platform;
  std::string reason; /*!< why it cannot be used; empty where it can */
  cl_device_type type;
  uint64_t memory;
  size_t group_size; /*!< of the kernels' groups of work items */
  bool has_double;
  bool divides_exactly; /*!< float division is rounded correctly, if asked for */
};

/*! \brief A context of its own for each device. Any thread may call. */
class Device {
 public:
  Device(cl_device_id id, const DeviceTraits& device_traits);

  const DeviceTraits traits;
  const cl_device_id id;
  const std::string& reason() const { return traits.reason; }
  /*! \brief Threads have no device of their own. */
  int Enter() const { return 0; }
  void* Alloc(size_t size, size_t) { return memory.Alloc(context(), size); }
  cl_context context() const { return context_.get(); }
  /*! \brief The queue of calls without a stream. */
  cl_command_queue queue() const { return queue_.get(); }
  Programs& programs() { return *programs_; }
  Memory memory;
  mxacc::Profiler profiler;
  mxacc::WriteRate write_rate;
  std::atomic<uint64_t> gemms{0};  /*!< products that CLBlast has done */
  std::atomic<uint64_t> copies{0}; /*!< between the host and the device */

 private:
  Context context_;
  Queue queue_;
  std::optional<Programs> programs_;
};

/*! \brief Adds the devices of all platforms, GPUs first; Failure with the reason where there are
 * none. warn is told of platforms that fail. */
void FindDevices(std::deque<Device>* devices, const std::function<void(const std::string&)>& warn);

}  // namespace opencl

#endif  // OPENCL_DEVICE_H_
