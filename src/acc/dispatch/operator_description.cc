/*!
 * \file operator_description.cc
 * \brief Describes calls to accelerator libraries.
 */
#include "acc/dispatch/operator_description.h"

#include "acc/device/arrays.h"
#include "acc/device/stats.h"
#include "acc/dispatch/arguments.h"
#include "acc/plugin/plugin.h"
#include "runtime/core/operator.h"

namespace mxnet {
namespace acc {
namespace {

/*! \brief The type and shape of what a call gives. */
struct ResultSpec {
  DLDataType dtype;
  std::vector<int64_t> shape;
};

std::vector<int64_t> RowMajor(ShapeView shape) {
  std::vector<int64_t> strides(shape.size());
  SetRowMajorStrides(shape, strides.data());
  return strides;
}

DLTensor LikeTensor(const MXAccDLTensor& dl_tensor) {
  return DLTensor{
      nullptr,
      DLDevice{static_cast<DLDeviceType>(dl_tensor.device.device_type), dl_tensor.device.device_id},
      dl_tensor.ndim,
      DLDataType{dl_tensor.dtype.code, dl_tensor.dtype.bits, dl_tensor.dtype.lanes},
      dl_tensor.shape,
      dl_tensor.strides,
      0};
}

/*! \brief The spec of the result, from the operator's infer; out is the argument that is written
 * to, or -1. */
ResultSpec Inferred(const Call& call, int out) {
  ResultSpec result;
  result.shape.resize(MXNET_MAX_NDIM);
  MXNetTensorSpec spec{{}, {}, 0, kMXNetWeakNone, result.shape.data()};
  int count = 1;
  // With `out`, infer would give the type of `out` instead of the one that the result has before it
  // is converted to that.
  std::vector<int> type_codes(call.args.type_codes, call.args.type_codes + call.args.size);
  if (out >= 0) type_codes[static_cast<size_t>(out)] = kMXNetNull;
  // infer would copy such attributes to the host, for a call that libraries are not asked for. Of
  // such sequences the call makes arrays on the host.
  if (HasAttributeElsewhere(call.func, call.args) || HasSequenceElsewhere(call.func, call.args)) {
    throw NotOffered("an argument has elements that decide on its result");
  }
  const int status = MXNetOperatorInfer(const_cast<FunctionObject*>(&call.func), call.args.values,
                                        type_codes.data(), call.args.size, &spec, &count);
  if (status != 0) {
    if (status == kElementsElsewhere) {
      throw NotOffered("an argument has elements that decide on its result");
    }
    const Error error = Error::FromLast();
    if (error.kind() == "NotImplementedError") throw NotOffered(error.what());
    throw error;
  }
  if (count != 1) throw NotOffered("it returns something else than one new array");
  result.dtype = spec.dtype;
  result.shape.resize(static_cast<size_t>(spec.ndim));
  for (int64_t extent : result.shape) {
    if (extent < 0) throw NotOffered("the shape of its result depends on elements");
  }
  return result;
}

}  // namespace

OperatorDescription::OperatorDescription(const Call& call, Context ctx)
    : ctx_(ctx), name_(OperatorName(call.name())) {
  const auto& params = call.func.info->body_params();
  for (size_t i = 0; i < params.size(); ++i) {
    const int index = static_cast<int>(i);
    if (index == call.devices.context_index) continue;
    const bool given = index < call.args.size && call.args.type_codes[i] != kMXNetMissing;
    const MXNetValue& value = given ? call.args.values[i] : params[i]->default_value.value;
    const int type_code = given ? call.args.type_codes[i] : params[i]->default_value.type_code;
    if ((params[i]->flags & kMXNetParamMutated) != 0) {
      AddOut(index, value, type_code);
    } else {
      AddParameter(*params[i], index, value, type_code);
    }
  }
  FindResult(call);
  FillView();
}

MXTensor OperatorDescription::Copied(const DLTensor& tensor) {
  MXTensor copy = WithoutElements(tensor);
  numbers_.emplace_back(tensor.shape, tensor.shape + tensor.ndim);
  copy.tensor.shape = numbers_.back().data();
  numbers_.emplace_back(tensor.strides, tensor.strides + tensor.ndim);
  copy.tensor.strides = numbers_.back().data();
  copy.tensor.device = MXAccDevice{ctx_.device_type, ctx_.device_id};
  return copy;
}

void OperatorDescription::AddInput(const char* name, const DLTensor& tensor,
                                   InputPosition position) {
  inputs_.push_back(Copied(tensor));
  inputs_.back().name = name;
  inputs_.back().role = kMXAccInput;
  positions_.push_back(position);
}

void OperatorDescription::AddParameter(const MXNetParamInfo& param, int index,
                                       const MXNetValue& value, int type_code) {
  texts_.emplace_back(param.name);
  const char* name = texts_.back().c_str();
  const InputPosition position{index, InputPosition::kNoItem};
  if (type_code == kMXNetNDArrayHandle) return AddInput(name, acc::TensorOf(value), position);
  if (const DLTensor* number = TypedNumber(value, type_code))
    return AddInput(name, *number, position);
  const MXNetAnyArray* items = ItemsOf(value, type_code);
  size_t arrays = 0;
  for (size_t i = 0; items != nullptr && i < items->size; ++i) {
    if (items->data[i].type_code != kMXNetNDArrayHandle) continue;
    ++arrays;
    texts_.push_back(name + ("[" + std::to_string(i) + "]"));
    AddInput(texts_.back().c_str(), acc::TensorOf(items->data[i].value),
             {index, static_cast<int>(i)});
  }
  if (arrays > 0) {
    if (arrays == items->size) return;
    throw NotOffered("'" + std::string(name) + "' has arrays beside other items");
  }
  if (param.role == kMXNetRoleDType && type_code == kMXNetStr) {
    // "float32" is a type as numpy.float32 is; the library gets either in one form.
    MXNetValue type;
    const std::string_view text(value.v_str.data, value.v_str.size);
    if (ParseDataType(text, &type.v_type)) return AddAttribute(name, type, kMXNetType);
  }
  AddAttribute(name, value, type_code);
}

void OperatorDescription::AddAttribute(const char* name, const MXNetValue& value, int type_code) {
  if (!attribute_storage_.Make(name, value, type_code, &attributes_.emplace_back())) {
    throw NotOffered("'" + std::string(name) + "' has no value that an attribute can have");
  }
}

void OperatorDescription::AddOut(int index, const MXNetValue& value, int type_code) {
  if (type_code == kMXNetNull) return;
  const bool is_array = type_code == kMXNetNDArrayHandle;
  const auto* array = static_cast<const MXNetNDArrayObject*>(value.v_handle);
  if (!is_array || (array->flags & kMXNetNDArrayReadOnly) != 0 || array->tensor.device != ctx_) {
    throw NotOffered("its out cannot be written to there");
  }
  out_ = &array->tensor;
  out_argument_ = index;
}

void OperatorDescription::FindResult(const Call& call) {
  ResultSpec result = Inferred(call, out_argument_);
  std::vector<int64_t> strides = RowMajor(ShapeView(result.shape.data(), result.shape.size()));
  const DLTensor made{nullptr,
                      DLDevice{static_cast<DLDeviceType>(ctx_.device_type), ctx_.device_id},
                      static_cast<int32_t>(result.shape.size()),
                      result.dtype,
                      result.shape.data(),
                      strides.data(),
                      0};
  if (out_ != nullptr && (out_->dtype != made.dtype || TensorShape(*out_) != TensorShape(made))) {
    throw NotOffered("its out is of another type or shape than the result");
  }
  output_ = Copied(out_ != nullptr ? *out_ : made);
  output_.role = kMXAccOutput;
}

void OperatorDescription::FillView() {
  op_.struct_size = sizeof(op_);
  op_.name = name_.c_str();
  op_.operator_set = kOperatorSet;
  op_.dev_id = ctx_.device_id;
  op_.inputs = inputs_.data();
  op_.outputs = &output_;
  op_.num_in = static_cast<int32_t>(inputs_.size());
  op_.num_out = 1;
  op_.attrs = attributes_.data();
  op_.num_attrs = static_cast<int32_t>(attributes_.size());
}

bool OperatorDescription::has_strided_inputs() const {
  for (const MXTensor& input : inputs_) {
    if (!IsContiguous(LikeTensor(input.tensor))) return true;
  }
  return false;
}

void OperatorDescription::PackInputs() {
  for (MXTensor& input : inputs_) {
    const auto ndim = static_cast<size_t>(input.tensor.ndim);
    numbers_.push_back(RowMajor(ShapeView(input.tensor.shape, ndim)));
    input.tensor.strides = numbers_.back().data();
  }
}

}  // namespace acc
}  // namespace mxnet
