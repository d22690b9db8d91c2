#include "program.h"

namespace opencl {

Program Programs::Build(const std::string& source) const {
  const char* text = source.c_str();
  cl_int code = CL_SUCCESS;
  Program program(clCreateProgramWithSource(context_, 1, &text, nullptr, &code));
  Check(code, "clCreateProgramWithSource");
  code = clBuildProgram(program.get(), 1, &device_, options_.c_str(), nullptr, nullptr);
  if (code == CL_SUCCESS) return program;
  size_t size = 0;
  clGetProgramBuildInfo(program.get(), device_, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  std::string log(size, '\0');
  clGetProgramBuildInfo(program.get(), device_, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  throw Failure(kMXAccFailed, "clBuildProgram: " + ErrorText(code) + ": " + log.c_str());
}

Kernel Programs::Make(const std::string& source, const char* name) {
  std::shared_ptr<Entry> entry;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::shared_ptr<Entry>& found = entries_[source];
    if (found == nullptr) found = std::make_shared<Entry>();
    entry = found;
  }
  const std::lock_guard<std::mutex> lock(entry->mutex);
  if (entry->program.get() == nullptr) entry->program = Build(source);
  cl_int code = CL_SUCCESS;
  Kernel kernel(clCreateKernel(entry->program.get(), name, &code));
  Check(code, "clCreateKernel");
  return kernel;
}

size_t Programs::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return entries_.size();
}

}  // namespace opencl
