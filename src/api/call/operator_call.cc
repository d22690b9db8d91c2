/*!
 * \file operator_call.cc
 * \brief Reading the arguments of a call.
 */
#include "api/call/operator_call.h"

#include "api/call/tensor_spec.h"
#include "api/common/nested.h"

namespace mxnet {
namespace op {
namespace {

InputType TypeOf(const Operand& operand) {
  return {operand.dtype(), operand.kind(), operand.kind_of_numbers()};
}

/*! \brief Whether inputs are not converted to one type. */
bool KeepsTypes(int32_t rule) {
  return rule == kMXNetTypesAsGiven || rule == kMXNetTypesNumbersByDType;
}

/*! \brief The type of an input that is not converted for the sake of others. */
DLDataType TypeAlone(const InputType& type, const TypeRule& rule) {
  const bool is_number = type.kind != WeakKind::kNone || type.numbers != WeakKind::kNone;
  const bool as_asked = rule.rule == kMXNetTypesNumbersByDType && rule.asks && is_number;
  return as_asked ? rule.dtype : type.dtype;
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

}  // namespace

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

void CallInputs::Add(const MXNetArgValue& arg) {
  if (size_ < kFew) {
    few_[size_] = new (room_[size_]) Operand(arg);
  } else {
    more_.push_back(std::make_unique<Operand>(arg));
    more_scalars_.push_back(std::make_unique<ElementBuffer>());
  }
  ++size_;
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
  for (int i = 0; i < size_; ++i) {
    const Operand* operand = (*this)[i];
    if (operand == nullptr) {
      out[i] = {{}, {}, -1, kMXNetWeakNone, nullptr};
      continue;
    }
    const ShapeView shape = operand->shape();
    const DLDataType own = TypeAlone(TypeOf(*operand), rule);
    out[i] = {as_given ? own : common, operand->dtype(), shape.ndim(),
              static_cast<int32_t>(operand->kind()), const_cast<int64_t*>(shape.data())};
  }
}

void CallInputs::Tensors(const MXNetTensorSpec* specs, DLTensor* out) {
  for (int i = 0; i < size_; ++i) {
    Operand* operand = (*this)[i];
    if (operand == nullptr) {
      out[i] = DLTensor{};
      out[i].ndim = -1;
    } else if (operand->is_array()) {
      out[i] = operand->TensorAs(specs[i].dtype);
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

void SpecInputs::Add(const MXNetArgValue& arg) {
  const DLTensor* tensor = nullptr;
  ShapeView shape;
  InputType type{{}, KindOfNumber(arg.type_code()), WeakKind::kNone};
  if (arg.TryAs<const DLTensor*>(&tensor) == Match::kOk) {
    CheckedIndexOfDType(tensor->dtype);
    type.dtype = tensor->dtype;
    shape = TensorShape(*tensor);
  } else if (Ref<TensorSpec> spec; arg.TryAs(&spec) == Match::kOk) {
    type.dtype = spec->dtype();
    shape = ShapeView(spec->extents().data(), spec->extents().size());
  } else {
    sequences_.push_back(std::make_unique<Operand>(arg));
    type = TypeOf(*sequences_.back());
    shape = sequences_.back()->shape();
  }
  types_.push_back(type);
  specs_.push_back({type.dtype, type.dtype, shape.ndim(), static_cast<int32_t>(type.kind),
                    const_cast<int64_t*>(shape.data())});
}

void SpecInputs::AddNone() { specs_.push_back({{}, {}, -1, kMXNetWeakNone, nullptr}); }

const std::vector<MXNetTensorSpec>& SpecInputs::Specs(const TypeRule& rule) {
  if (types_.empty()) return specs_;
  const bool as_given = KeepsTypes(rule.rule);
  const auto count = static_cast<int>(types_.size());
  const DLDataType common = as_given ? DLDataType{} : TypeByRule(rule.rule, types_.data(), count);
  const InputType* type = types_.data();
  for (MXNetTensorSpec& spec : specs_) {
    if (spec.ndim >= 0) spec.dtype = as_given ? TypeAlone(*type++, rule) : common;
  }
  return specs_;
}

}  // namespace op
}  // namespace mxnet
