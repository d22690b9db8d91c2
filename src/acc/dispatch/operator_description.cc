/*!
 * \file operator_description.cc
 * \brief Describes calls to accelerator libraries.
 */
#include "acc/dispatch/operator_description.h"

#include <cstring>

#include "acc/device/arrays.h"
#include "acc/device/stats.h"
#include "acc/dispatch/arguments.h"
#include "acc/plugin/plugin.h"
#include "runtime/ndarray/meta.h"

namespace mxnet {
namespace acc {
namespace {

constexpr Context kMeta{static_cast<DLDeviceType>(kMXNetMetaDevice), 0};

std::vector<int64_t> RowMajor(ShapeView shape) {
  std::vector<int64_t> strides(shape.size());
  SetRowMajorStrides(shape, strides.data());
  return strides;
}

DLTensor LikeTensor(const MXAccGeometry& geometry) {
  return DLTensor{
      nullptr,
      DLDevice{static_cast<DLDeviceType>(geometry.device.device_type), geometry.device.device_id},
      geometry.ndim,
      DLDataType{geometry.dtype.code, geometry.dtype.bits, geometry.dtype.lanes},
      geometry.shape,
      geometry.strides,
      0};
}

/*! \brief What the operator says of its result. */
MetaGeometry Inferred(const Call& call) {
  MetaGeometry result;
  result.shape.resize(MXNET_MAX_NDIM);
  MXNetTensorSpec spec{{}, {}, 0, kMXNetWeakNone, result.shape.data()};
  int count = 1;
  if (MXNetOperatorInfer(const_cast<FunctionObject*>(&call.func), call.args.values,
                         call.args.type_codes, call.args.size, &spec, &count) != 0) {
    if (std::strcmp(MXNetGetLastError()->kind, "OffHost") != 0) throw Error::FromLast();
    throw NotOffered("an argument has elements that decide on its result");
  }
  if (count != 1) throw NotOffered("it returns something else than one new array");
  result.dtype = spec.dtype;
  result.shape.resize(static_cast<size_t>(spec.ndim));
  for (int64_t extent : result.shape) {
    if (extent < 0) throw NotOffered("the shape of its result depends on elements");
  }
  return result;
}

/*! \brief What the body asks for where its arrays have no elements. */
MetaGeometry AskBody(const Call& call, int out_argument) {
  const Arguments::Replace replace = [](const MXNetValue& value, int type_code,
                                        const MXNetParamInfo*) {
    return type_code == kMXNetNDArrayHandle ? NewMetaArray(acc::TensorOf(value)) : NDArray();
  };
  Arguments args(call, replace);
  args.SetContext(kMeta);
  if (out_argument >= 0) args.Drop(static_cast<size_t>(out_argument));
  MXNetAny result{};
  int type_code = kMXNetNull;
  const int status =
      call.func.Call(args.values(), args.type_codes(), args.size(), &result.value, &type_code);
  if (status == 0) {
    result.type_code = type_code;
    Any::Steal(result);
    throw NotOffered("it returns something else than one new array");
  }
  if (std::strcmp(MXNetGetLastError()->kind, "Meta") == 0) return TakeMeta();
  if (std::strcmp(MXNetGetLastError()->kind, "OffHost") == 0) {
    throw NotOffered("the geometry of its result depends on elements");
  }
  throw Error::FromLast();
}

}  // namespace

OperatorDescription::OperatorDescription(const Call& call, Context ctx)
    : ctx_(ctx), name_(OperatorName(call.name())) {
  const auto& params = call.func.info->body_params();
  for (size_t i = 0; i < params.size(); ++i) {
    const int index = static_cast<int>(i);
    if (index == call.places.context_index) continue;
    const bool given = index < call.args.size && call.args.type_codes[i] != kMXNetMissing;
    const MXNetValue& value = given ? call.args.values[i] : params[i]->default_value.value;
    const int type_code = given ? call.args.type_codes[i] : params[i]->default_value.type_code;
    if ((params[i]->flags & kMXNetParamWritten) != 0) {
      AddOut(index, value, type_code);
    } else {
      AddParameter(*params[i], index, value, type_code);
    }
  }
  FindResult(call);
  FillView();
}

MXTensor OperatorDescription::Copied(const DLTensor& tensor) {
  MXTensor copy = GeometryOf(tensor);
  numbers_.emplace_back(tensor.shape, tensor.shape + tensor.ndim);
  copy.tensor.shape = numbers_.back().data();
  numbers_.emplace_back(tensor.strides, tensor.strides + tensor.ndim);
  copy.tensor.strides = numbers_.back().data();
  copy.tensor.device = MXAccDevice{ctx_.device_type, ctx_.device_id};
  return copy;
}

void OperatorDescription::AddInput(const char* name, const DLTensor& tensor, InputPlace place) {
  inputs_.push_back(Copied(tensor));
  inputs_.back().name = name;
  inputs_.back().role = kMXAccInput;
  places_.push_back(place);
}

void OperatorDescription::AddParameter(const MXNetParamInfo& param, int index,
                                       const MXNetValue& value, int type_code) {
  texts_.emplace_back(param.name);
  const char* name = texts_.back().c_str();
  const InputPlace place{index, InputPlace::kNoItem};
  if (type_code == kMXNetNDArrayHandle) return AddInput(name, acc::TensorOf(value), place);
  if (const DLTensor* number = TypedNumber(value, type_code)) return AddInput(name, *number, place);
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
  const bool tells = call.func.info->op() != nullptr;
  MetaGeometry result = tells ? Inferred(call) : AskBody(call, out_argument_);
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
