#include "operator.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "sdk.h"

namespace refacc {
namespace {

/*! \brief As many elements lie on the stack; more, on the heap. */
constexpr size_t kFew = 8;

template <typename T>
class Buffer {
 public:
  explicit Buffer(size_t size) : large_(size > kFew ? new T[size] : nullptr) {}
  T* data() { return large_ != nullptr ? large_.get() : small_; }

 private:
  T small_[kFew];
  std::unique_ptr<T[]> large_;
};

/*! \brief Without an address. */
DLTensor HostTensor(const MXAccDLTensor& dl_tensor) {
  return DLTensor{nullptr,
                  DLDevice{kDLCPU, 0},
                  dl_tensor.ndim,
                  DLDataType{dl_tensor.dtype.code, dl_tensor.dtype.bits, dl_tensor.dtype.lanes},
                  dl_tensor.shape,
                  dl_tensor.strides,
                  0};
}

/*! \brief An array that came back, whose strides are never NULL. */
MXAccDLTensor DLTensorOf(const DLTensor& tensor) {
  return MXAccDLTensor{
      tensor.data,       MXAccDevice{kMXAccHost, 0},
      tensor.ndim,       MXAccDataType{tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes},
      tensor.shape,      tensor.strides,
      tensor.byte_offset};
}

/*! \brief Rejects what is not dense. */
void CheckStorage(const TensorCopies& tensors) {
  for (int32_t i = 0; i < tensors.size(); ++i) {
    const MXTensor& tensor = tensors.data()[i];
    if (tensor.storage != kMXAccDense) Unsupported("sparse tensors");
    if (tensor.layout != nullptr) Unsupported(std::string("the layout ") + tensor.layout);
  }
}

/*! \brief Frees what a call returned. */
class Result {
 public:
  explicit Result(const Runtime& runtime) : runtime_(runtime) {}
  ~Result() {
    const bool object = any.type_code >= kMXNetObjectHandle && any.type_code <= kMXNetFuncHandle;
    if (object || any.type_code == kMXNetNDArrayHandle) runtime_.free_object(any.value.v_handle);
  }
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;

  MXNetAny any{};

 private:
  const Runtime& runtime_;
};

}  // namespace

Failure Rejection::InStream() const {
  int32_t code = kMXAccFailed;
  if (kind_ == "IndexError") code = kMXAccBadIndex;
  if (kind_ == "ValueError") code = kMXAccBadArgument;
  if (kind_ == "MemoryError") code = kMXAccOutOfMemory;
  if (kind_ == "NotImplementedError") code = kMXAccUnsupported;
  return Failure(code, message_);
}

Operator::Operator(const Runtime& runtime, const MXAccOperator& op)
    : runtime_(runtime),
      name_(op.name),
      num_in_(static_cast<size_t>(op.num_in)),
      num_out_(static_cast<size_t>(op.num_out)),
      inputs_(op.inputs, op.num_in),
      outputs_(op.outputs, op.num_out) {
  if (op.num_out == 0) Unsupported(name_ + " without outputs");
  CheckStorage(inputs_);
  CheckStorage(outputs_);
  FindFunction();
  ReadParameters();
  for (int32_t i = 0; i < op.num_in; ++i) AddInput(op.inputs[i]);
  for (int32_t i = 0; i < op.num_attrs; ++i) AddAttribute(op.attrs[i]);
  CheckComplete();
  PrepareCall();
}

void Operator::PrepareCall() {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    const bool given = arguments_[i].type_code != kMXNetMissing;
    // Filled in here once, as otherwise the runtime would fill in defaults at each call.
    const MXNetAny& argument = given ? arguments_[i] : params_[i]->default_value;
    call_values_.push_back(argument.value);
    call_types_.push_back(argument.type_code);
    first_items_.push_back(num_items_);
    num_items_ += lengths_[i];
  }
  num_args_ = arguments_.size();
  // Padded, so that Run copies a constant number of values.
  call_values_.resize(std::max(call_values_.size(), kFew));
  for (int32_t i = 0; i < inputs_.size(); ++i) {
    tensors_.push_back(HostTensor(inputs_.data()[i].tensor));
    layouts_.emplace_back(inputs_.data()[i].tensor);
  }
  for (int32_t i = 0; i < outputs_.size(); ++i) layouts_.emplace_back(outputs_.data()[i].tensor);
  if (num_in_ == 1 && (name_ == "sort" || name_ == "argsort")) {
    packed_ = std::make_unique<RowMajor>(inputs_.data()[0].tensor);
    tensors_[0].strides = packed_->tensor.strides;
  }
}

void Operator::FindFunction() {
  MXNetFunctionHandle function = nullptr;
  for (const char* prefix : {"_npi.", "_npx."}) {
    if (function != nullptr) break;
    if (runtime_.get_global((prefix + name_).c_str(), &function) != 0) {
      throw Failure(kMXAccFailed, LastErrorText(runtime_));
    }
  }
  if (function == nullptr) Unsupported("there is no operator " + name_);
  function_.reset(function, runtime_.free_function);
}

void Operator::ReadParameters() {
  const MXNetFuncInfo* info = nullptr;
  if (runtime_.get_info(function_.get(), &info) != 0) {
    throw Failure(kMXAccFailed, LastErrorText(runtime_));
  }
  if (info->described == 0) Unsupported(name_ + " has no one list of parameters");
  for (size_t i = 0; i < info->num_params; ++i) {
    if ((info->params[i].flags & kMXNetParamVariadic) != 0) Unsupported(name_ + " is variadic");
    if ((info->params[i].flags & kMXNetParamFrontEnd) != 0) continue;
    params_.push_back(&info->params[i]);
    MXNetAny& argument = arguments_.emplace_back();
    argument.type_code = kMXNetMissing;
    if (std::strcmp(info->params[i].name, "ctx") == 0) {
      // Otherwise it would be the current context, which may be this very accelerator.
      argument.type_code = kMXNetContext;
      argument.value.v_ctx = DLDevice{kDLCPU, 0};
    }
  }
  lengths_.resize(params_.size());
}

size_t Operator::IndexOf(const std::string& param) const {
  for (size_t i = 0; i < params_.size(); ++i) {
    if (param == params_[i]->name) return i;
  }
  Unsupported(name_ + " has no parameter '" + param + "'");
}

void Operator::AddInput(const MXTensor& input) {
  if (input.name == nullptr) {
    throw Failure(kMXAccBadArgument, "accGetExecutor: an input of " + name_ + " has no name");
  }
  const std::string name(input.name);
  const size_t bracket = name.find('[');
  const size_t argument = IndexOf(name.substr(0, bracket));
  if (bracket == std::string::npos) {
    positions_.push_back({argument, kNoItem});
    arguments_[argument].type_code = kMXNetReadOnlyArray;
    return;
  }
  const size_t item = std::strtoull(name.c_str() + bracket + 1, nullptr, 10);
  if (item != lengths_[argument]) {
    throw Failure(kMXAccBadArgument, "accGetExecutor: '" + name + "' comes where item " +
                                         std::to_string(lengths_[argument]) + " was expected");
  }
  positions_.push_back({argument, item});
  arguments_[argument].type_code = kMXNetList;
  ++lengths_[argument];
}

void Operator::AddAttribute(const MXAccAttribute& attribute) {
  const char* key = attribute.name;
  const size_t argument = IndexOf(key);
  if (arguments_[argument].type_code != kMXNetMissing) {
    throw Failure(kMXAccBadArgument, "accGetExecutor: " + name_ + " is given '" + key + "' twice");
  }
  arguments_[argument] = values_.Make(ReadAttribute(attribute));
}

void Operator::CheckComplete() const {
  for (size_t i = 0; i < params_.size(); ++i) {
    const bool optional = (params_[i]->flags & kMXNetParamOptional) != 0;
    if (!optional && arguments_[i].type_code == kMXNetMissing) {
      Unsupported(name_ + " without '" + params_[i]->name + "'");
    }
  }
}

void Operator::CheckCount(int32_t num_in, int32_t num_out) const {
  if (static_cast<size_t>(num_in) == num_in_ && static_cast<size_t>(num_out) == num_out_) return;
  throw Failure(kMXAccBadArgument, "run: " + name_ + " was asked for with " +
                                       std::to_string(num_in_) + " inputs and " +
                                       std::to_string(num_out_) + " outputs, got " +
                                       std::to_string(num_in) + " and " + std::to_string(num_out));
}

void Operator::Run(const MXTensor* outputs, char* const* addresses, char* workspace) const {
  static char nothing[16];
  const size_t num_in = num_in_;
  const size_t num_args = num_args_;
  Buffer<DLTensor> tensor_buffer(num_in);
  Buffer<MXNetValue> value_buffer(num_args);
  Buffer<MXNetAny> item_buffer(num_items_);
  DLTensor* tensors = tensor_buffer.data();
  MXNetValue* values = value_buffer.data();
  MXNetAny* items = item_buffer.data();
  std::memcpy(values, call_values_.data(), sizeof(MXNetValue) * std::max(num_args, kFew));
  for (size_t i = 0; num_items_ != 0 && i < num_args; ++i) {
    if (lengths_[i] != 0) values[i].v_seq = MXNetAnyArray{&items[first_items_[i]], lengths_[i]};
  }
  for (size_t i = 0; i < num_in; ++i) {
    tensors[i] = tensors_[i];
    tensors[i].data = addresses[i] != nullptr ? addresses[i] : nothing;
    const Position& position = positions_[i];
    if (position.item == kNoItem) {
      values[position.argument].v_handle = &tensors[i];
    } else {
      MXNetAny& item = items[first_items_[position.argument] + position.item];
      item.type_code = kMXNetReadOnlyArray;
      item.value.v_handle = &tensors[i];
    }
  }
  if (workspace != nullptr) {
    CopyElements(packed_->tensor, workspace, inputs_.data()[0].tensor, addresses[0]);
    tensors[0].data = workspace;
  }
  Result result(runtime_);
  const int status =
      runtime_.call(function_.get(), values, call_types_.data(), static_cast<int>(num_args),
                    &result.any.value, &result.any.type_code);
  if (status != 0) {
    result.any.type_code = kMXNetNull;
    throw Rejection(name_, LastErrorKind(runtime_), LastErrorMessage(runtime_));
  }
  CopyResult(result.any, outputs, addresses + num_in);
}

void Operator::CopyResult(const MXNetAny& result, const MXTensor* outputs,
                          char* const* addresses) const {
  const size_t count = num_out_;
  if (result.type_code == kMXNetNDArrayHandle && count == 1) {
    return CopyArray(result, 0, outputs, addresses);
  }
  if (result.type_code == kMXNetObjectHandle) {
    const auto* header = static_cast<const MXNetObject*>(result.value.v_handle);
    const auto* items = static_cast<const MXNetSeqObject*>(result.value.v_handle);
    if (header->type_index == kMXNetObjectTuple && items->items.size == count) {
      for (size_t i = 0; i < count; ++i) CopyArray(items->items.data[i], i, outputs, addresses);
      return;
    }
  }
  throw Failure(kMXAccFailed,
                name_ + " returned something else than " + std::to_string(count) + " arrays");
}

void Operator::CopyArray(const MXNetAny& item, size_t index, const MXTensor* outputs,
                         char* const* addresses) const {
  const MXTensor& output = outputs[index];
  char* address = addresses[index];
  if (item.type_code != kMXNetNDArrayHandle) {
    throw Failure(kMXAccFailed, name_ + " returned something else than arrays");
  }
  const DLTensor& tensor = static_cast<const MXNetNDArrayObject*>(item.value.v_handle)->tensor;
  const char* from = static_cast<const char*>(tensor.data) + tensor.byte_offset;
  const Layout& layout = layouts_[num_in_ + index];
  if (layout.dense_bytes() != 0 && layout.IsThatOf(tensor)) {
    std::memcpy(address, from, layout.dense_bytes());
    return;
  }
  const MXAccDLTensor made = DLTensorOf(tensor);
  if (!SameSpec(made, output.tensor)) {
    throw Failure(kMXAccBadArgument, "run: the output of " + name_ + " was asked for as " +
                                         SpecText(output.tensor) + " and is " + SpecText(made));
  }
  if (address == nullptr) return;
  CopyElements(output.tensor, address, made, from);
}

}  // namespace refacc
