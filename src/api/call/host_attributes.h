/*!
 * \file host_attributes.h
 * \brief Attributes whose elements are on a device, for what reads them on the host.
 */
#ifndef MXNET_SRC_API_CALL_HOST_ATTRIBUTES_H_
#define MXNET_SRC_API_CALL_HOST_ATTRIBUTES_H_

#include <mxnet/runtime/packed_func.h>

#include <vector>

#include "op/tensor/strided.h"

namespace mxnet {
namespace op {

/*!
 * \brief The arguments of an operator; attributes that are arrays of a device, or sequences with
 * such, are copied to the host, as a call has them. Inputs stay where they are.
 */
class HostAttributes {
 public:
  HostAttributes(MXNetFunctionHandle func, const MXNetValue* values, const int* type_codes,
                 int num_args);
  MXNetArgs args() const noexcept { return args_; }

 private:
  /*! \brief Has a value show copies instead of arrays of a device; false where it has none. */
  bool Replace(MXNetValue* value, int* type_code);

  MXNetArgs args_;
  std::vector<MXNetValue> values_;
  std::vector<int> type_codes_;
  std::vector<NDArray> copies_;
  std::vector<std::vector<MXNetAny>> sequences_;
};

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_CALL_HOST_ATTRIBUTES_H_
