/*!
 * \file number.cc
 * \brief Storing Python numbers as elements.
 */
#include "op/tensor/number.h"

namespace mxnet {
namespace op {

void StoreNumber(const MXNetValue& value, int type_code, DLDataType dtype, void* out) {
  DispatchDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    *static_cast<T*>(out) = NumberAs<T>(value, type_code);
  });
}

}  // namespace op
}  // namespace mxnet
