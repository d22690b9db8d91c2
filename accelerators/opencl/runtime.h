/*!
 * \file runtime.h
 * \brief OpenCL's C interface: errors as Failure, handles that release themselves.
 */
#ifndef OPENCL_RUNTIME_H_
#define OPENCL_RUNTIME_H_

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <string>
#include <utility>
#include <vector>

#include "sdk.h"

namespace opencl {

/*! \brief "CL_OUT_OF_RESOURCES (-5)". */
std::string ErrorText(cl_int code);

/*! \brief Failure where code is no success; call is the function that gave it. */
void Check(cl_int code, const char* call);

/*! \brief Owns one reference to an object of OpenCL's. */
template <typename T, cl_int (*kRelease)(T)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T handle) : handle_(handle) {}
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Handle() {
    if (handle_ != nullptr) kRelease(handle_);
  }

  T get() const { return handle_; }

 private:
  T handle_{nullptr};
};

using Context = Handle<cl_context, clReleaseContext>;
using Queue = Handle<cl_command_queue, clReleaseCommandQueue>;
using Buffer = Handle<cl_mem, clReleaseMemObject>;
using Program = Handle<cl_program, clReleaseProgram>;
using Kernel = Handle<cl_kernel, clReleaseKernel>;
using Mark = Handle<cl_event, clReleaseEvent>;

Queue MakeQueue(cl_context context, cl_device_id device);
Buffer MakeBuffer(cl_context context, size_t size);

/*! \brief Sets all arguments of a kernel, each by its bytes. */
template <typename... Args>
void SetArguments(cl_kernel kernel, const Args&... args) {
  cl_uint index = 0;
  (Check(clSetKernelArg(kernel, index++, sizeof(args), &args), "clSetKernelArg"), ...);
}

}  // namespace opencl

#endif  // OPENCL_RUNTIME_H_
