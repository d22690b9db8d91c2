/*!
 * \file operator_call.cc
 * \brief Reading the arguments of a call.
 */
#include "api/call/operator_call.h"

#include <mxnet/op/extent.h>
#include <mxnet/runtime/signals.h>

#include "api/argument/arguments.h"
#include "api/argument/nested.h"
#include "api/call/tensor_spec.h"
#include "op/tensor/views.h"

namespace mxnet {
namespace op {
namespace {

InputType TypeOf(const Operand& operand) {
  return {operand.dtype(), operand.kind(), operand.kind_of_numbers()};
}

/*! \brief Whether inputs are not converted to one type. */
bool KeepsTypes(int32_t rule) {
  return rule == kMXNetTypesAsGiven || rule == kMXNetTypesNumbersByDType ||
         rule == kMXNetTypesOwn || rule == kMXNetTypesStored;
}

/*! \brief MXNetTensorSpec.weak of an input. */
int32_t WeakOf(const InputType& type) {
  return static_cast<int32_t>(type.kind != WeakKind::kNone ? type.kind : type.numbers);
}

/*! \brief Lets an operator with a rule of its own tell what inputs are converted to. */
void PromoteByOwn(const TypeRule& rule, MXNetTensorSpec* specs, int count) {
  if (__builtin_expect(rule.rule != kMXNetTypesOwn, 1)) return;
  if (rule.op->promote(rule.op->self, specs, count, rule.attributes) != 0) throw Error::FromLast();
}

/*! \brief The type of an input where KeepsTypes; first is that of the first one. */
DLDataType TypeAlone(const InputType& type, const TypeRule& rule, DLDataType first, bool is_last) {
  const bool is_number = type.kind != WeakKind::kNone || type.numbers != WeakKind::kNone;
  if (!is_number || rule.rule == kMXNetTypesAsGiven) return type.dtype;
  if (rule.rule == kMXNetTypesStored && !is_last) return type.dtype;
  if (rule.asks) return rule.dtype;
  return rule.rule == kMXNetTypesStored ? first : type.dtype;
}

/*! \brief The type that inputs are converted to. */
DLDataType TypeOfAll(int32_t rule, CallInputs* inputs) {
  InputType few[4];
  std::vector<InputType> many;
  int count = 0;
  const int size = inputs->size();
  InputType* types = few;
  if (size > 4) {
    many.resize(static_cast<size_t>(size));
    types = many.data();
  }
  for (int i = 0; i < size; ++i) {
    if ((*inputs)[i] != nullptr) types[count++] = TypeOf(*(*inputs)[i]);
  }
  return TypeByRule(rule, types, count);
}

void CheckHasRows(int ndim) {
  if (ndim == 0) MXNET_THROW("TypeError") << "iteration over a 0-d array";
}

}  // namespace

OutputCount CountOutputs(const MXNetOperator& op, const MXNetTensorSpec* specs, int num_in,
                         const void* attributes) {
  int count = op.num_outputs;
  if (count >= 0) return {count, count == 1};
  Check(op.count_outputs(op.self, specs, num_in, attributes, &count));
  if (count == MXNET_ONE_OUTPUT) return {1, true};
  if (count < 0) {
    MXNET_THROW("RuntimeError") << "the operator says that it has " << count << " outputs";
  }
  return {count, false};
}

CallAttributes::CallAttributes(const MXNetOperator& op, const MXNetArgs& args) : op_(op) {
  if (op.attrs_size > sizeof(small_)) large_.reset(new char[op.attrs_size]);
  if (op.read == nullptr) return;
  const int status =
      op.read(op.self, args.values, args.type_codes, args.num_args, args.func, room());
  if (__builtin_expect(status != 0, 0)) throw Error::FromLast();
}

CallInputs::~CallInputs() {
  for (int i = 0; i < size_ && i < kFew; ++i) {
    if (few_[i] != nullptr) few_[i]->~Operand();
  }
}

void CallInputs::Add(const MXNetArgValue& arg, ArrayUse use) {
  if (size_ < kFew) {
    few_[size_] = new (room_[size_]) Operand(arg, use);
  } else {
    more_.push_back(std::make_unique<Operand>(arg, use));
    more_scalars_.push_back(std::make_unique<ElementBuffer>());
  }
  ++size_;
}

void CallInputs::AddRows(const MXNetArgValue& arg) {
  const NDArray array = ToArray(arg);
  CheckHasRows(array.ndim());
  const ShapeView shape(array->shape + 1, static_cast<size_t>(array.ndim() - 1));
  const ShapeView strides(array->strides + 1, shape.size());
  const int64_t step = array->strides[0] * ItemSize(array.dtype());
  for (int64_t i = 0; i < array->shape[0]; ++i) {
    if (i % kSignalInterval == 0) CheckSignals();
    rows_.push_back(array.View(array.data_as<char>() + i * step, shape, strides, array.dtype()));
    MXNetValue row;
    row.v_handle = rows_.back().get();
    Add(MXNetArgValue(row, kMXNetNDArrayHandle, nullptr, 0));
  }
}

void CallInputs::AddNone() {
  if (size_ < kFew) {
    few_[size_] = nullptr;
  } else {
    more_.emplace_back();
    more_scalars_.emplace_back();
  }
  ++size_;
}

void CallInputs::Specs(const TypeRule& rule, MXNetTensorSpec* out) {
  const bool as_given = KeepsTypes(rule.rule);
  const DLDataType common = as_given || size_ == 0 ? DLDataType{} : TypeOfAll(rule.rule, this);
  const DLDataType first = as_given && size_ > 0 && few_[0] != nullptr ? few_[0]->dtype() : common;
  for (int i = 0; i < size_; ++i) {
    const Operand* operand = (*this)[i];
    if (operand == nullptr) {
      out[i] = {{}, {}, -1, kMXNetWeakNone, nullptr};
      continue;
    }
    const ShapeView shape = operand->shape();
    const InputType type = TypeOf(*operand);
    out[i] = {as_given ? TypeAlone(type, rule, first, i + 1 == size_) : common, type.dtype,
              shape.ndim(), WeakOf(type), const_cast<int64_t*>(shape.data())};
  }
  PromoteByOwn(rule, out, size_);
}

void CallInputs::Tensors(MXNetTensorSpec* specs, const DLTensor& (Operand::*tensor)(DLDataType),
                         DLTensor* out) {
  for (int i = 0; i < size_; ++i) {
    Operand* operand = (*this)[i];
    if (operand == nullptr) {
      out[i] = DLTensor{};
      out[i].ndim = -1;
    } else if (operand->is_array()) {
      out[i] = (operand->*tensor)(specs[i].dtype);
      specs[i].shape = out[i].shape;  // of the converted input, with which the one before may go
    } else {
      ElementBuffer* room = i < kFew ? &scalars_[i] : more_scalars_[i - kFew].get();
      operand->StoreScalar(specs[i].dtype, room);
      out[i] = DLTensor{room, Context{kDLCPU, 0}, 0, specs[i].dtype, nullptr, nullptr, 0};
    }
  }
}

bool CallInputs::FindContext(Context* ctx) {
  for (int i = 0; i < size_; ++i) {
    const Operand* operand = (*this)[i];
    if (operand == nullptr || !operand->is_array()) continue;
    *ctx = operand->ctx();
    return true;
  }
  return false;
}

ShapeView SpecInputs::Read(const MXNetArgValue& arg, InputType* type, ArrayUse use) {
  const DLTensor* tensor = nullptr;
  *type = {{}, WeakKind::kNone, WeakKind::kNone};
  if (arg.TryAs<const DLTensor*>(&tensor) == Match::kOk) {
    CheckedIndexOfDType(tensor->dtype);
    type->dtype = tensor->dtype;
    return TensorShape(*tensor);
  }
  if (Ref<TensorSpec> spec; arg.TryAs(&spec) == Match::kOk) {
    type->dtype = spec->dtype();
    return {spec->extents().data(), spec->extents().size()};
  }
  MXNetAnyArray items{nullptr, 0};
  if (ItemsOf(arg.value(), arg.type_code(), &items)) {
    NestedSpec nested = SpecOfNested(arg, use);
    if (nested.is_elsewhere) {
      type->dtype = nested.dtype;
      return elsewhere_.emplace_back(nested).shape.view();
    }
  }
  given_.push_back({specs_.size(), std::make_unique<Operand>(arg, use)});
  *type = TypeOf(*given_.back().operand);
  return given_.back().operand->shape();
}

void SpecInputs::Append(const InputType& type, ShapeView shape) {
  types_.push_back(type);
  specs_.push_back(
      {type.dtype, type.dtype, shape.ndim(), WeakOf(type), const_cast<int64_t*>(shape.data())});
}

void SpecInputs::Add(const MXNetArgValue& arg, ArrayUse use) {
  InputType type;
  const ShapeView shape = Read(arg, &type, use);
  Append(type, shape);
}

void SpecInputs::AddRows(const MXNetArgValue& arg) {
  InputType type;
  const size_t given = given_.size();
  const ShapeView shape = Read(arg, &type);
  if (given_.size() > given) given_.back().input = Given::kSeveral;
  CheckHasRows(shape.ndim());
  if (IsSymbolic(shape[0])) {
    MXNET_THROW("ValueError") << arg.text() << " has " << ExtentText(shape[0])
                              << " items; how many arrays it is has to be known";
  }
  for (int64_t i = 0; i < shape[0]; ++i) {
    if (i % kSignalInterval == 0) CheckSignals();
    Append(type, ShapeView(shape.data() + 1, shape.size() - 1));
  }
}

void SpecInputs::AddNone() { specs_.push_back({{}, {}, -1, kMXNetWeakNone, nullptr}); }

const std::vector<MXNetTensorSpec>& SpecInputs::Specs(const TypeRule& rule) {
  if (types_.empty()) return specs_;
  const bool as_given = KeepsTypes(rule.rule);
  const auto count = static_cast<int>(types_.size());
  const DLDataType common = as_given ? DLDataType{} : TypeByRule(rule.rule, types_.data(), count);
  const InputType* type = types_.data();
  for (MXNetTensorSpec& spec : specs_) {
    if (spec.ndim < 0) continue;
    const bool is_last = &spec == &specs_.back();
    spec.dtype = as_given ? TypeAlone(*type++, rule, types_[0].dtype, is_last) : common;
  }
  PromoteByOwn(rule, specs_.data(), static_cast<int>(specs_.size()));
  return specs_;
}

void SpecInputs::CheckNumbers() {
  ElementBuffer element;
  for (const Given& given : given_) {
    if (given.input == Given::kSeveral) continue;
    const DLDataType dtype = specs_[given.input].dtype;
    if (given.operand->is_array()) {
      given.operand->TensorAs(dtype);
    } else {
      given.operand->StoreScalar(dtype, &element);
    }
  }
}

}  // namespace op
}  // namespace mxnet
