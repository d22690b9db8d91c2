/*!
 * \file executor.h
 * \brief Operators prepared for tensors of one geometry.
 */
#ifndef OPENCL_EXECUTOR_H_
#define OPENCL_EXECUTOR_H_

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../common/operators/request.h"
#include "copy.h"
#include "dtype.h"

namespace opencl {

/*! \brief An operator as it was asked for, of a device. */
class Request : public mxacc::Request {
 public:
  Request(Device* device, const MXAccOperator& op) : mxacc::Request(op), device_(device) {}

  Device& device() const { return *device_; }
  /*! \brief kMXAccUnsupported where the device has no such type. */
  void CheckDevice(std::initializer_list<DType> dtypes) const;

 private:
  Device* device_;
};

/*! \brief What an operator does to the memory that it is given. Any thread may call. */
class Work {
 public:
  virtual ~Work() = default;
  /*! \brief places are of the inputs, then of the output; a buffer is NULL where there are no
   * elements. */
  virtual void Run(Commands* commands, const Place* places) = 0;
  /*! \brief Whether the output may be the memory of an input. */
  virtual bool in_place() const { return false; }
};

/*! \brief The makers, by file: the work of an operator, or NULL where it is none of theirs. */
std::unique_ptr<Work> MakeElementwise(const Request& request);
std::unique_ptr<Work> MakeMovement(const Request& request);
std::unique_ptr<Work> MakeReduction(const Request& request);
std::unique_ptr<Work> MakeProduct(const Request& request);
std::unique_ptr<Work> MakeSoftmax(const Request& request);

/*! \brief What accGetExecutor gives. */
class Executor {
 public:
  Executor(Device* device, const MXAccOperator& op);

  void Run(const MXTensor* inputs, int32_t num_in, const MXTensor* outputs, int32_t num_out,
           MXAccStream stream) const;
  bool in_place() const { return work_->in_place(); }

 private:
  Device* device_;
  std::vector<Span> spans_; /*!< of the inputs and the output */
  std::unique_ptr<Work> work_;
};

}  // namespace opencl

#endif  // OPENCL_EXECUTOR_H_
