#include "model.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "../sdk/graph/pieces.h"
#include "../sdk/status.h"
#include "../sdk/tensor.h"

namespace ovacc {
namespace {

using mxacc::Failure;

constexpr char kOptionsPiece[] = "options";
constexpr char kModelPiece[] = "model";
constexpr char kSharedPiece[] = "shared outputs";
constexpr char kWeightsPiece[] = "weights";

/*! \brief Failure where an input of int64 has a number of which OpenVINO would take the low half.
 */
void CheckFits(const MXAccDLTensor& tensor, size_t index) {
  if (tensor.dtype.code != kMXAccInt || tensor.dtype.bits != 64) return;
  if (!mxacc::IsRowMajor(tensor)) return;  // which Wrapped rejects
  const mxacc::Span span = mxacc::SpanOf(tensor);
  const char* data = static_cast<const char*>(tensor.data) + tensor.byte_offset;
  const int64_t* found = FindWide(reinterpret_cast<const int64_t*>(data),
                                  static_cast<size_t>(span.last - span.first) / sizeof(int64_t));
  if (found == nullptr) return;
  throw Failure(kMXAccUnsupported, "infer: input " + std::to_string(index) + " has " +
                                       std::to_string(*found) +
                                       ", and OpenVINO computes int64 in int32");
}

/*! \brief A file without a name, as OpenVINO exports to files only. */
class MemoryFile {
 public:
  MemoryFile() : file_(memfd_create("openvino", MFD_CLOEXEC)) {
    if (file_ < 0) throw Failure(kMXAccFailed, "memfd_create has no file");
  }
  ~MemoryFile() {
    if (data_ != MAP_FAILED) munmap(data_, size_);
    close(file_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }
  /*! \brief What was written to the path; Failure where nothing was. */
  std::pair<const void*, size_t> Map() {
    struct stat status{};
    if (fstat(file_, &status) == 0) size_ = static_cast<size_t>(status.st_size);
    if (size_ != 0) data_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file_, 0);
    if (data_ == MAP_FAILED) throw Failure(kMXAccFailed, "OpenVINO exported nothing");
    return {data_, size_};
  }

 private:
  int file_;
  size_t size_{0};
  void* data_{MAP_FAILED};
};

}  // namespace

bool Port::is_static() const {
  return has_rank &&
         std::all_of(shape.begin(), shape.end(), [](int64_t extent) { return extent >= 0; });
}

std::string WeightsText(const MXTensor* weights, int32_t count) {
  std::string text;
  for (int32_t i = 0; i < count; ++i) {
    const MXTensor& weight = weights[i];
    text += mxacc::SpecText(weight.tensor);
    const bool has_hash = weight.info != nullptr && weight.info->content_hash != nullptr;
    text += (has_hash ? " " + std::string(weight.info->content_hash) : "") + "\n";
  }
  return text;
}

Model::Model(const MXAccRuntime* runtime, std::shared_ptr<const Core> core, Origin origin,
             Handle<ov_compiled_model_t> compiled)
    : runtime_(runtime),
      core_(std::move(core)),
      api_(core_->api()),
      origin_(std::move(origin)),
      compiled_(std::move(compiled)),
      inputs_(Ports(api_.ov_compiled_model_inputs_size, api_.ov_compiled_model_input_by_index)),
      outputs_(Ports(api_.ov_compiled_model_outputs_size, api_.ov_compiled_model_output_by_index)) {
  const std::vector<uint8_t>& shared = origin_.shared;
  if (shared.size() != outputs_.size()) {
    throw Failure(kMXAccFailed, "OpenVINO has another number of outputs than the graph");
  }
  for (size_t i = 0; i < shared.size(); ++i) outputs_[i].is_shared = shared[i] != 0;
  for (std::vector<Port>* ports : {&inputs_, &outputs_}) {
    for (Port& port : *ports) {
      MXTensor tensor{};
      tensor.struct_size = sizeof(tensor);
      tensor.tensor.device = MXAccDevice{kMXAccHost, 0};
      tensor.tensor.ndim = port.has_rank ? static_cast<int32_t>(port.shape.size()) : -1;
      tensor.tensor.dtype = MXAccDataType{port.element->code, port.element->bits, 1};
      tensor.tensor.shape = port.shape.data();
      tensor.role = ports == &inputs_ ? kMXAccInput : kMXAccOutput;
      told_.push_back(tensor);
    }
  }
}

std::vector<Port> Model::Ports(GetCount get_count, GetPort get_port) const {
  size_t count = 0;
  api_.Check(get_count(compiled_.get(), &count), "ov_compiled_model_inputs_size");
  std::vector<Port> ports;
  for (size_t i = 0; i < count; ++i) {
    ov_output_const_port_t* port = nullptr;
    api_.Check(get_port(compiled_.get(), i, &port), "ov_compiled_model_input_by_index");
    const Handle<ov_output_const_port_t> freed(port, api_.ov_output_const_port_free);
    ports.push_back(ReadPort(port));
  }
  return ports;
}

Port Model::ReadPort(const ov_output_const_port_t* told) const {
  ov_element_type_e type{};
  api_.Check(api_.ov_port_get_element_type(told, &type), "ov_port_get_element_type");
  Port port;
  port.element = FindElement(type);
  if (port.element == nullptr) {
    throw Failure(kMXAccUnsupported, "OpenVINO gives an input or output a type that MXNet has not");
  }
  ov_partial_shape_t shape{};
  api_.Check(api_.ov_port_get_partial_shape(told, &shape), "ov_port_get_partial_shape");
  const Handle<ov_partial_shape_t> freed(&shape, api_.ov_partial_shape_free);
  port.has_rank = shape.rank.min == shape.rank.max;
  for (int64_t i = 0; port.has_rank && i < shape.rank.min; ++i) {
    const ov_dimension_t& extent = shape.dims[i];
    port.shape.push_back(extent.min == extent.max ? extent.min : -1);
  }
  return port;
}

void Model::Tell(MXAccModel* out) const {
  out->num_in = static_cast<int32_t>(inputs_.size());
  out->num_out = static_cast<int32_t>(outputs_.size());
  out->inputs = told_.data();
  out->outputs = told_.data() + inputs_.size();
  out->flags = kMXAccModelConcurrent | kMXAccModelKeepsWeights;
}

Model::Request Model::TakeRequest() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!unused_.empty()) {
      Request request = std::move(unused_.back());
      unused_.pop_back();
      return request;
    }
  }
  ov_infer_request_t* request = nullptr;
  api_.Check(api_.ov_compiled_model_create_infer_request(compiled_.get(), &request),
             "ov_compiled_model_create_infer_request");
  return {request, api_.ov_infer_request_free};
}

Handle<ov_tensor_t> Model::Wrapped(const Port& port, const MXAccDLTensor& tensor) const {
  static char no_elements[64];
  const auto size = static_cast<uint64_t>(port.element->bits);
  if (tensor.dtype.code != port.element->code || tensor.dtype.bits != size) {
    throw Failure(kMXAccBadArgument, "infer: a tensor is of another type than the model has");
  }
  if (!mxacc::IsRowMajor(tensor)) {
    throw Failure(kMXAccBadArgument,
                  "infer: expected a row-major tensor, got one with other strides");
  }
  const bool is_empty = std::count(tensor.shape, tensor.shape + tensor.ndim, 0) != 0;
  void* data = is_empty ? no_elements : static_cast<char*>(tensor.data) + tensor.byte_offset;
  ov_tensor_t* wrapped = nullptr;
  api_.Check(api_.ov_tensor_create_from_host_ptr(
                 port.element->openvino, ov_shape_t{tensor.ndim, tensor.shape}, data, &wrapped),
             "ov_tensor_create_from_host_ptr");
  return {wrapped, api_.ov_tensor_free};
}

void Model::Infer(const MXTensor* inputs, int32_t num_in, MXTensor* outputs, int32_t num_out,
                  void* call) {
  if (static_cast<size_t>(num_in) != inputs_.size() ||
      static_cast<size_t>(num_out) != outputs_.size()) {
    throw Failure(kMXAccBadArgument, "infer: other numbers of tensors than the model has");
  }
  for (size_t i = 0; i < inputs_.size(); ++i) CheckFits(inputs[i].tensor, i);
  // One that fails is not used again: it may still have some of these tensors.
  Request request = TakeRequest();
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Handle<ov_tensor_t> tensor = Wrapped(inputs_[i], inputs[i].tensor);
    api_.Check(api_.ov_infer_request_set_input_tensor_by_index(request.get(), i, tensor.get()),
               "ov_infer_request_set_input_tensor");
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].is_shared || !outputs_[i].is_static()) continue;
    const Handle<ov_tensor_t> tensor = Wrapped(outputs_[i], outputs[i].tensor);
    api_.Check(api_.ov_infer_request_set_output_tensor_by_index(request.get(), i, tensor.get()),
               "ov_infer_request_set_output_tensor");
  }
  api_.Check(api_.ov_infer_request_infer(request.get()), "ov_infer_request_infer");
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].is_shared || !outputs_[i].is_static()) {
      CopyOutput(request.get(), i, &outputs[i], call);
    }
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  unused_.push_back(std::move(request));
}

void Model::CopyOutput(ov_infer_request_t* request, size_t index, MXTensor* output,
                       void* call) const {
  ov_tensor_t* got = nullptr;
  api_.Check(api_.ov_infer_request_get_output_tensor_by_index(request, index, &got),
             "ov_infer_request_get_output_tensor");
  const Handle<ov_tensor_t> tensor(got, api_.ov_tensor_free);
  const Port& port = outputs_[index];
  if (!port.is_static()) {
    ov_shape_t shape{};
    api_.Check(api_.ov_tensor_get_shape(got, &shape), "ov_tensor_get_shape");
    const std::unique_ptr<ov_shape_t, ov_status_e (*)(ov_shape_t*)> freed(&shape,
                                                                          api_.ov_shape_free);
    const MXAccDataType dtype{port.element->code, port.element->bits, 1};
    const MXAccStatus status =
        runtime_->alloc_output(runtime_->context, call, static_cast<int32_t>(index), dtype,
                               static_cast<int32_t>(shape.rank), shape.dims, output);
    if (status != nullptr) throw Failure(status->code, status->message);
  }
  size_t bytes = 0;
  api_.Check(api_.ov_tensor_get_byte_size(got, &bytes), "ov_tensor_get_byte_size");
  if (bytes == 0) return;
  const mxacc::Span room = mxacc::SpanOf(output->tensor);
  if (bytes != static_cast<size_t>(room.last - room.first) || !mxacc::IsRowMajor(output->tensor)) {
    throw Failure(kMXAccBadArgument, "infer: output " + std::to_string(index) + " is " +
                                         mxacc::SpecText(output->tensor) +
                                         ", and has to be row-major and of " +
                                         std::to_string(bytes) + " bytes");
  }
  void* data = nullptr;
  api_.Check(api_.ov_tensor_data(got, &data), "ov_tensor_data");
  std::memcpy(static_cast<char*>(output->tensor.data) + output->tensor.byte_offset, data, bytes);
}

void Model::Export(MXAccTakePiece take, void* context) const {
  const std::string options = origin_.options.text();
  MemoryFile file;
  api_.Check(api_.ov_compiled_model_export_model(compiled_.get(), file.path().c_str()),
             "ov_compiled_model_export_model", kMXAccUnsupported);
  const auto [data, size] = file.Map();
  mxacc::PieceWriter writer(origin_.key.c_str(), take, context);
  writer.Write(kOptionsPiece, options.data(), options.size());
  writer.Write(kSharedPiece, origin_.shared.data(), origin_.shared.size());
  writer.Write(kWeightsPiece, origin_.weights.data(), origin_.weights.size());
  writer.Write(kModelPiece, data, size);
  writer.Finish();
}

std::unique_ptr<Model> Model::Import(const MXAccRuntime* runtime, const Device* device,
                                     const char* key, const MXAccPiece* pieces, int32_t count,
                                     const MXTensor* weights, int32_t num_weights) {
  const mxacc::PieceReader reader(key, pieces, count);
  const std::string shared = reader.Text(kSharedPiece);
  Origin origin{key, Options(reader.Text(kOptionsPiece)),
                std::vector<uint8_t>(shared.begin(), shared.end()), reader.Text(kWeightsPiece)};
  if (num_weights != 0 && WeightsText(weights, num_weights) != origin.weights) {
    throw Failure(kMXAccBadArgument, "importModel: it was compiled with other weights");
  }
  // It stays there until unloadModel, and OpenVINO reads weights there.
  const MXAccPiece& piece = reader.At(kModelPiece);
  const char* data = static_cast<const char*>(piece.data);
  return std::make_unique<Model>(
      runtime, device->core(), origin,
      device->core()->Import(data, piece.size, device->name(), origin.options));
}

}  // namespace ovacc
