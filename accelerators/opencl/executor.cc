#include "executor.h"

#include <algorithm>

namespace opencl {
namespace {

std::unique_ptr<Work> MakeWork(const Request& request) {
  for (const auto make : {MakeElementwise, MakeMovement, MakeReduction, MakeProduct, MakeSoftmax}) {
    if (std::unique_ptr<Work> work = make(request)) return work;
  }
  Unsupported("there is no kernel for " + request.name());
}

}  // namespace

void Request::CheckDevice(std::initializer_list<DType> dtypes) const {
  if (device_->traits.has_double) return;
  if (std::find(dtypes.begin(), dtypes.end(), DType::kFloat64) != dtypes.end()) {
    Unsupported(name() + " in float64, which " + device_->traits.name + " does not have");
  }
}

Executor::Executor(Device* device, const MXAccOperator& op) : device_(device) {
  const Request request(device, op);
  for (int32_t i = 0; i < op.num_in; ++i) spans_.push_back(SpanOf(op.inputs[i].tensor));
  spans_.push_back(SpanOf(op.outputs[0].tensor));
  work_ = MakeWork(request);
}

void Executor::Run(const MXTensor* inputs, int32_t num_in, const MXTensor* outputs, int32_t num_out,
                   MXAccStream stream) const {
  if (num_out != 1 || static_cast<size_t>(num_in) + 1 != spans_.size()) {
    throw Failure(kMXAccBadArgument, "run: other tensors than the executor was asked for");
  }
  std::vector<Place> places;
  for (size_t i = 0; i < spans_.size(); ++i) {
    const MXAccGeometry& tensor = (i + 1 == spans_.size() ? outputs[0] : inputs[i]).tensor;
    const cl_mem buffer = device_->memory.Find(tensor, spans_[i]);
    places.push_back({buffer, static_cast<int64_t>(tensor.byte_offset) / ItemSize(tensor.dtype)});
  }
  Commands commands(device_, FromHandle(stream), outputs[0].work);
  work_->Run(&commands, places.data());
  commands.Finish();
}

}  // namespace opencl
