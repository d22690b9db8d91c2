#include "work.h"

#include <algorithm>

namespace opencl {

void Request::CheckDevice(std::initializer_list<DType> dtypes) const {
  if (device_->traits.has_double) return;
  if (std::find(dtypes.begin(), dtypes.end(), DType::kFloat64) != dtypes.end()) {
    Unsupported(name() + " in float64, which " + device_->traits.name + " does not have");
  }
}

}  // namespace opencl
