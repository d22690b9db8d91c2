/*!
 * \file work.h
 * \brief What operators do on a device.
 */
#ifndef OPENCL_WORK_H_
#define OPENCL_WORK_H_

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../sdk/operators/request.h"
#include "../sdk/skeleton/executor.h"
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

using Work = WorkOn<Commands, Location>;

/*! \brief One maker for each family: the work of an operator, or NULL if it is not of the family.
 */
std::unique_ptr<Work> MakeElementwise(const Request& request);
std::unique_ptr<Work> MakeMovement(const Request& request);
std::unique_ptr<Work> MakeReduction(const Request& request);
std::unique_ptr<Work> MakeProduct(const Request& request);
std::unique_ptr<Work> MakeSoftmax(const Request& request);

}  // namespace opencl

#endif  // OPENCL_WORK_H_
