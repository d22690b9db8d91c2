#include "work.h"

#include <algorithm>

namespace opencl {
void Request::CheckDevice(std::initializer_list<DType> dtypes) const {
  if (device_->traits.has_double) return;
  if (std::find(dtypes.begin(), dtypes.end(), DType::kFloat64) != dtypes.end()) {
    Unsupported(name() + " in float64, which " + device_->traits.name + " does not have");
  }
}

std::unique_ptr<Work> MakeWork(const Request& request) {
  for (const auto make : {MakeElementwise, MakeMovement, MakeReduction, MakeProduct, MakeSoftmax}) {
    if (std::unique_ptr<Work> work = make(request)) return work;
  }
  Unsupported("there is no kernel for " + request.name());
}

}  // namespace opencl
