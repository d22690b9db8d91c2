/*!
 * \file program.h
 * \brief Programs of one device, each compiled when it is first needed.
 */
#ifndef OPENCL_PROGRAM_H_
#define OPENCL_PROGRAM_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "runtime.h"

namespace opencl {

/*! \brief Any thread may call; a program is compiled by one of them, others are not held up. */
class Programs {
 public:
  Programs(cl_context context, cl_device_id device, std::string options)
      : context_(context), device_(device), options_(std::move(options)) {}

  /*!
   * \brief A kernel of the program with that source; one thread at a time may use it.
   *
   * Failure with what the compiler says where it does not compile.
   */
  Kernel Make(const std::string& source, const char* name);
  size_t size() const;

 private:
  struct Entry {
    std::mutex mutex;
    Program program;
  };
  Program Build(const std::string& source) const;

  cl_context context_;
  cl_device_id device_;
  const std::string options_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Entry>> entries_;
};

}  // namespace opencl

#endif  // OPENCL_PROGRAM_H_
