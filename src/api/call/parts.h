/*!
 * \file parts.h
 * \brief The arguments of a call of an operator by their roles.
 */
#ifndef MXNET_SRC_API_CALL_PARTS_H_
#define MXNET_SRC_API_CALL_PARTS_H_

#include <mxnet/op/operator.h>

#include "api/argument/arguments.h"
#include "api/call/operator_call.h"
#include "runtime/core/function.h"

namespace mxnet {
namespace op {

/*! \brief What inputs are read for, which says what is wrong with text. */
inline ArrayUse UseOf(const MXNetOperator& op) {
  return op.type_rule == kMXNetTypesStored ? ArrayUse::kElements : ArrayUse::kOperand;
}

/*! \brief The arguments of a call by their roles. */
template <typename Inputs>
struct CallParts {
  Inputs inputs;
  int out{-1};
  bool has_context{false};
  int context{-1};
  int dtype{-1};
  bool asks_for_type{false};
};

template <typename Inputs>
void AddSequence(const MXNetArgs& args, int index, Inputs* inputs) {
  const MXNetArgValue arg = args[index];
  if (arg.type_code() == kMXNetIntTuple || arg.type_code() == kMXNetIntList) {
    const MXNetIntArray& ints = arg.value().v_ints;
    for (size_t i = 0; i < ints.size; ++i) {
      MXNetValue item;
      item.v_int64 = ints.data[i];
      inputs->Add(MXNetArgValue(item, kMXNetInt, args.func, index));
    }
    return;
  }
  MXNetAnyArray items{nullptr, 0};
  if (!ItemsOf(arg.value(), arg.type_code(), &items)) return inputs->AddRows(arg);
  for (size_t i = 0; i < items.size; ++i) {
    inputs->Add(MXNetArgValue(items.data[i].value, items.data[i].type_code, args.func, index));
  }
}

template <typename Inputs>
void ReadParts(const MXNetOperator& op, const MXNetArgs& args, CallParts<Inputs>* parts) {
  const auto& params = static_cast<const runtime::FunctionObject*>(args.func)->info->body_params();
  const int size = static_cast<int>(params.size());
  for (int i = 0; i < size; ++i) {
    switch (params[static_cast<size_t>(i)]->role) {
      case kMXNetRoleArray: {
        const bool is_optional = (params[static_cast<size_t>(i)]->flags & kMXNetParamOptional) != 0;
        if (is_optional && args.type_codes[i] == kMXNetNull) {
          parts->inputs.AddNone();
        } else {
          parts->inputs.Add(args[i], UseOf(op));
        }
        break;
      }
      case kMXNetRoleArrays:
        AddSequence(args, i, &parts->inputs);
        break;
      case kMXNetRoleOut:
        if (args.type_codes[i] != kMXNetNull) parts->out = i;
        break;
      case kMXNetRoleContext:
        parts->has_context = true;
        if (args.type_codes[i] != kMXNetNull) parts->context = i;
        break;
      case kMXNetRoleDType:
        parts->dtype = i;
        parts->asks_for_type = args.type_codes[i] != kMXNetNull;
        break;
      default:
        break;
    }
  }
}

template <typename Inputs>
TypeRule RuleOf(const MXNetOperator& op, const MXNetArgs& args, const CallParts<Inputs>& parts,
                const CallAttributes& attributes) {
  const bool by_dtype =
      op.type_rule == kMXNetTypesNumbersByDType || op.type_rule == kMXNetTypesStored;
  const bool asks = by_dtype && parts.asks_for_type;
  return {op.type_rule, asks, asks ? DTypeOf(args[parts.dtype]) : DLDataType{}, &op,
          attributes.get()};
}

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_CALL_PARTS_H_
