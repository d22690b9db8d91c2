#include "dnn.h"

#include <limits>
#include <string>

#include "scalars.h"

namespace cudaacc {
namespace {

using mxacc::DType;

cudnn::DataType DataTypeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return cudnn::kReal64;
    case DType::kFloat16:
      return cudnn::kReal16;
    case DType::kBFloat16:
      return cudnn::kBrain16;
    default:
      return cudnn::kReal32;
  }
}

}  // namespace

const DnnLibrary& DnnLibrary::Get() {
  // Never destroyed: at the end of the process threads may be inside.
  static const auto* const library = new DnnLibrary();
  return *library;
}

DnnLibrary::DnnLibrary() : OptionalLibrary("MXACC_CUDNN", {"libcudnn.so.9", "libcudnn.so.8"}) {
  Find("cudnnCreate", &create);
  Find("cudnnDestroy", &destroy);
  Find("cudnnSetStream", &set_stream);
  Find("cudnnGetVersion", &get_version);
  Find("cudnnGetErrorString", &get_error_string);
  Find("cudnnCreateTensorDescriptor", &create_tensor_descriptor);
  Find("cudnnDestroyTensorDescriptor", &destroy_tensor_descriptor);
  Find("cudnnSetTensor4dDescriptor", &set_tensor_4d_descriptor);
  Find("cudnnSoftmaxForward", &softmax_forward);
}

void DnnLibrary::Check(cudnn::Status status, const char* call) const {
  if (status == 0) return;
  throw Failure(
      cudnn::IsOutOfMemory(status) ? kMXAccOutOfMemory : kMXAccFailed,
      std::string(call) + ": " + get_error_string(status) + " (" + std::to_string(status) + ")");
}

bool DnnSoftmax::fits() const {
  // The number of elements of a tensor is an int in cuDNN, too.
  constexpr int64_t kMost = std::numeric_limits<int>::max();
  return mxacc::IsFloat(dtype) && outer * length * inner <= kMost;
}

Dnn::Dnn() : library_(DnnLibrary::Get()) {
  library_.Check(library_.create(&handle_), "cudnnCreate");
  const cudnn::Status status = library_.create_tensor_descriptor(&descriptor_);
  if (status != 0) library_.destroy(handle_);
  library_.Check(status, "cudnnCreateTensorDescriptor");
}

Dnn::~Dnn() {
  library_.destroy_tensor_descriptor(descriptor_);
  library_.destroy(handle_);
}

bool Dnn::Compute(StreamHandle stream, const DnnSoftmax& softmax) {
  library_.Check(library_.set_stream(handle_, stream), "cudnnSetStream");
  const auto size = [](int64_t value) { return static_cast<int>(value); };
  library_.Check(library_.set_tensor_4d_descriptor(descriptor_, cudnn::kRowMajor,
                                                   DataTypeOf(softmax.dtype), size(softmax.outer),
                                                   size(softmax.length), size(softmax.inner), 1),
                 "cudnnSetTensor4dDescriptor");
  const Scalars scalars = ScalarsFor(softmax.dtype);
  const cudnn::Status status = library_.softmax_forward(
      handle_, softmax.is_log ? cudnn::kLog : cudnn::kAccurate, cudnn::kChannel, scalars.one,
      descriptor_, softmax.input, scalars.zero, descriptor_, softmax.out);
  if (cudnn::IsNotSupported(status)) return false;
  library_.Check(status, "cudnnSoftmaxForward");
  return true;
}

}  // namespace cudaacc
