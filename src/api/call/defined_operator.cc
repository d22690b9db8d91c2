/*!
 * \file defined_operator.cc
 * \brief Operators whose body and infer are functions, as Python defines them.
 */
#include <mxnet/op/operator.h>
#include <mxnet/runtime/container/array.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "api/argument/arguments.h"
#include "api/call/tensor_spec.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief The values of a call that are no inputs, in the order of their parameters. */
using Attributes = std::vector<Any>;

bool IsInput(int32_t role) { return role == kMXNetRoleArray || role == kMXNetRoleArrays; }

/*! \brief Arguments of a function, kept as long as it is called. */
class Arguments {
 public:
  void Add(Any value) { owned_.push_back(std::move(value)); }
  Any CallWith(const PackedFunc& function) const {
    std::vector<MXNetValue> values;
    std::vector<int> type_codes;
    for (const Any& value : owned_) {
      values.push_back(value.value());
      type_codes.push_back(value.type_code());
    }
    const int count = static_cast<int>(owned_.size());
    return function.CallPacked(values.data(), type_codes.data(), count).any();
  }

 private:
  std::vector<Any> owned_;
};

/*! \brief The one that a result is, or those that it is a sequence of. */
template <typename T>
std::vector<T> OneOrMany(const Any& result, const char* what) {
  std::vector<T> many;
  const auto add = [&](const MXNetValue& value, int type_code) {
    T item;
    if (runtime::TypeTraits<T>::TryFrom(value, type_code, &item) != Match::kOk) {
      MXNET_THROW("TypeError") << what << " gave " << runtime::TypeNameOf(value, type_code);
    }
    many.push_back(std::move(item));
  };
  MXNetAnyArray items{nullptr, 0};
  if (!ItemsOf(result.value(), result.type_code(), &items)) {
    add(result.value(), result.type_code());
  }
  for (size_t i = 0; i < items.size; ++i) add(items.data[i].value, items.data[i].type_code);
  return many;
}

class DefinedOperator {
 public:
  DefinedOperator(PackedFunc body, PackedFunc infer, std::vector<int32_t> roles)
      : body_(std::move(body)),
        infer_(std::move(infer)),
        roles_(std::move(roles)),
        single_inputs_(std::count(roles_.begin(), roles_.end(), kMXNetRoleArray)) {}

  /*!
   * \brief A function of that name, else with the description of the body, whose parameters have
   * these roles; version is that of its meaning.
   */
  static PackedFunc Define(const std::string& name, const PackedFunc& body, const PackedFunc& infer,
                           std::vector<int32_t> roles, int32_t version);

 private:
  using Self = std::shared_ptr<DefinedOperator>;

  static DefinedOperator& Of(void* self) { return **static_cast<Self*>(self); }
  static void Delete(void* self) { delete static_cast<Self*>(self); }

  template <typename Body>
  static int Guarded(const Body& body) {
    const auto run = [&] {
      body();
      return 0;
    };
    return runtime::details::Guarded(run, [](const Error& error) { return error.SetLast(); });
  }

  /*! \brief The arguments of a call: each input as input(i) has it, and the attributes. */
  template <typename Input>
  Arguments Gather(int num_in, const void* attributes, const Input& input) const {
    Arguments args;
    int next_input = 0;
    auto attribute = static_cast<const Attributes*>(attributes)->begin();
    for (const int32_t role : roles_) {
      if (role == kMXNetRoleArray) {
        args.Add(input(next_input++));
      } else if (role == kMXNetRoleArrays) {
        // There is one such parameter, so that the inputs that are left are its items.
        std::vector<Any> items;
        for (auto i = num_in - single_inputs_; i > 0; --i) items.push_back(input(next_input++));
        args.Add(runtime::details::AnyOfObject(Tuple(std::move(items))));
      } else {
        args.Add(*attribute++);
      }
    }
    return args;
  }

  std::vector<Ref<TensorSpec>> AskInfer(const MXNetTensorSpec* in, int num_in,
                                        const void* attributes) const {
    const Arguments args = Gather(num_in, attributes, [&](int i) {
      return IsGiven(in[i]) ? Any::Of(Ref<TensorSpec>::Make(TensorSpec(in[i]))) : Any();
    });
    return OneOrMany<Ref<TensorSpec>>(args.CallWith(infer_),
                                      "infer has to give a TensorSpec, or a sequence of them, and");
  }

  static int Call(void* resource, const MXNetValue* values, const int* type_codes, int num_args,
                  MXNetValue* ret, int* ret_type_code) {
    const DefinedOperator& op = Of(resource);
    // With room for none, so that infer is asked once.
    int count = 0;
    if (MXNetOperatorInfer(op.function_, values, type_codes, num_args, nullptr, &count) != 0) {
      return -1;
    }
    return MXNetFuncCall(op.body_.get(), values, type_codes, num_args, ret, ret_type_code);
  }

  static int Read(void* self, const MXNetValue* values, const int* type_codes, int,
                  MXNetFunctionHandle, void* attributes) {
    return Guarded([&] {
      Attributes made;
      const auto& roles = Of(self).roles_;
      for (size_t i = 0; i < roles.size(); ++i) {
        if (!IsInput(roles[i])) made.push_back(runtime::details::Own(values[i], type_codes[i]));
      }
      new (attributes) Attributes(std::move(made));
    });
  }

  static void Destroy(void*, void* attributes) {
    static_cast<Attributes*>(attributes)->~Attributes();
  }

  static int CountOutputs(void* self, const MXNetTensorSpec* in, int num_in, const void* attributes,
                          int* num_out) {
    return Guarded(
        [&] { *num_out = static_cast<int>(Of(self).AskInfer(in, num_in, attributes).size()); });
  }

  static int Infer(void* self, const MXNetTensorSpec* in, int num_in, const void* attributes,
                   MXNetTensorSpec* out, int num_out) {
    return Guarded([&] {
      const std::vector<Ref<TensorSpec>> specs = Of(self).AskInfer(in, num_in, attributes);
      if (static_cast<int>(specs.size()) != num_out) {
        MXNET_THROW("RuntimeError")
            << "infer has given " << num_out << " outputs, and now " << specs.size();
      }
      for (int i = 0; i < num_out; ++i) {
        const TensorSpec& spec = *specs[static_cast<size_t>(i)];
        SetSpec(spec.dtype(), ShapeView(spec.extents().data(), spec.extents().size()), &out[i]);
      }
    });
  }

  static int Run(void* self, const DLTensor* in, int num_in, const void* attributes, DLTensor* out,
                 int num_out, void*) {
    return Guarded([&] {
      const DefinedOperator& op = Of(self);
      const Arguments args = op.Gather(num_in, attributes, [&](int i) {
        return IsGiven(in[i]) ? Any::Of(Contiguous(in[i])) : Any();
      });
      const auto results =
          OneOrMany<NDArray>(args.CallWith(op.body_), "an operator has to give arrays, and");
      for (int i = 0; i < num_out; ++i) {
        const bool is_given = i < static_cast<int>(results.size());
        if (!is_given || results[static_cast<size_t>(i)].shape() != TensorShape(out[i])) {
          MXNET_THROW("RuntimeError") << "output " << i << " is not of the shape that infer gave";
        }
        CopyCast(results[static_cast<size_t>(i)].tensor(), out[i]);
      }
    });
  }

  PackedFunc body_;
  PackedFunc infer_;
  MXNetFunctionHandle function_{nullptr};
  std::vector<int32_t> roles_;
  std::ptrdiff_t single_inputs_;
};

/*! \brief TypeError where an operator cannot have a parameter of that role. */
void CheckParam(const std::string& name, const MXNetParamInfo& param, int32_t role,
                const char* sequence) {
  if ((param.flags & kMXNetParamVariadic) != 0) {
    MXNET_THROW("TypeError") << name << ": an operator has no *" << param.name;
  }
  if (role != kMXNetRoleArrays) return;
  if (sequence != nullptr) {
    MXNET_THROW("TypeError") << name << ": '" << sequence << "' and '" << param.name
                             << "' take several arrays each; an operator has one such parameter";
  }
  if ((param.flags & kMXNetParamOptional) != 0) {
    MXNET_THROW("TypeError") << name << ": '" << param.name
                             << "' takes several arrays, and so can have no default";
  }
}

PackedFunc DefinedOperator::Define(const std::string& name, const PackedFunc& body,
                                   const PackedFunc& infer, std::vector<int32_t> roles,
                                   int32_t version) {
  const MXNetFuncInfo* described = nullptr;
  MXNET_CHECK_CALL(MXNetFuncGetInfo(body.get(), &described));
  if (described->described == 0) {
    MXNET_THROW("TypeError") << name << ": an operator has to be a plain function, whose "
                             << "signature tells its parameters";
  }
  if (roles.size() != described->num_params) {
    MXNET_THROW("ValueError") << name << ": " << roles.size() << " roles of "
                              << described->num_params << " parameters";
  }
  MXNetFuncInfo info{};
  std::memcpy(&info, described, std::min(sizeof(info), described->struct_size));
  info.name = name.c_str();
  std::vector<MXNetParamInfo> params(info.params, info.params + info.num_params);
  const char* sequence = nullptr;
  for (size_t i = 0; i < params.size(); ++i) {
    CheckParam(name, params[i], roles[i], sequence);
    if (roles[i] == kMXNetRoleArrays) sequence = params[i].name;
    params[i].role = roles[i];
  }
  const auto self = std::make_shared<DefinedOperator>(body, infer, std::move(roles));
  MXNetOperator op{};
  op.struct_size = sizeof(op);
  op.version = version;
  op.num_outputs = -1;
  op.attrs_size = sizeof(Attributes);
  op.read = &Read;
  op.destroy = &Destroy;
  op.count_outputs = &CountOutputs;
  op.infer = &Infer;
  op.run = &Run;
  MXNetFunctionHandle handle = nullptr;
  MXNET_CHECK_CALL(MXNetFuncCreateFromCFunc(&Call, new Self(self), &Delete, &handle));
  PackedFunc function(ObjectRef::Steal(handle));
  self->function_ = handle;
  auto held = std::make_unique<Self>(self);
  op.self = held.get();
  op.free = &Delete;
  info.params = params.data();
  info.op = &op;
  MXNET_CHECK_CALL(MXNetFuncSetInfo(handle, &info));
  held.release();
  return function;
}

MXNET_REGISTER_API("mx.op.define")
    .describe("An operator whose body and infer are functions; mx.op.register says what they take.")
    .add_argument("name", "str", "What it is registered as.")
    .add_argument("body", "ffi.Function",
                  "What a call computes; its description is the operator's.")
    .add_argument("infer", "ffi.Function", "The specs of what it gives.")
    .add_argument("roles", "Sequence[int]", "The MXNetParamRole of each parameter of the body.")
    .add_argument("version", "int", "Of its meaning.")
    .returns("ffi.Function")
    .set_body_typed([](const std::string& name, const PackedFunc& body, const PackedFunc& infer,
                       std::vector<int32_t> roles, int32_t version) {
      return DefinedOperator::Define(name, body, infer, std::move(roles), version);
    });

}  // namespace
}  // namespace op
}  // namespace mxnet
