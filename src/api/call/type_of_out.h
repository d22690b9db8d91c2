/*!
 * \file type_of_out.h
 * \brief kMXNetOpTypeOfOut: calls that compute in the type of their `out`.
 */
#ifndef MXNET_SRC_API_CALL_TYPE_OF_OUT_H_
#define MXNET_SRC_API_CALL_TYPE_OF_OUT_H_

#include <mxnet/runtime/packed_func.h>

#include <optional>
#include <vector>

#include "api/call/parts.h"
#include "op/semantics/promotion.h"

namespace mxnet {
namespace op {

/*! \brief The type of what a call gives as `out`: of an array, or of a spec that infer was given.
 */
inline std::optional<DLDataType> TypeOfGiven(const MXNetArgValue& out) {
  const DLTensor* tensor = nullptr;
  if (out.TryAs(&tensor) == Match::kOk) return tensor->dtype;
  Ref<TensorSpec> spec;
  if (out.TryAs(&spec) == Match::kOk) return spec->dtype();
  return std::nullopt;
}

/*!
 * \brief The type of `out`, where a call asks for none and that holds all that its result's does.
 *
 * `results` is what infer gives without.
 */
template <typename Inputs>
std::optional<DLDataType> WiderTypeOfOut(const MXNetOperator& op, const MXNetArgs& args,
                                         const CallParts<Inputs>& parts,
                                         const MXNetTensorSpec* results) {
  if ((op.properties & kMXNetOpTypeOfOut) == 0 || parts.out < 0 || parts.asks_for_type) return {};
  const DLDataType result = results[0].dtype;
  const std::optional<DLDataType> given = TypeOfGiven(args[parts.out]);
  const bool is_wider = given && *given != result && IndexOfDType(*given) >= 0 &&
                        PromoteTypes(result, *given) == *given;
  return is_wider ? given : std::nullopt;
}

/*! \brief The arguments of a call with a type as one of them. */
class ArgsWithType {
 public:
  ArgsWithType(const MXNetArgs& args, int index, DLDataType dtype)
      : values_(args.values, args.values + args.num_args),
        type_codes_(args.type_codes, args.type_codes + args.num_args),
        func_(args.func) {
    values_[static_cast<size_t>(index)].v_type = dtype;
    type_codes_[static_cast<size_t>(index)] = kMXNetType;
  }
  MXNetArgs args() const {
    return {values_.data(), type_codes_.data(), static_cast<int>(values_.size()), func_};
  }

 private:
  std::vector<MXNetValue> values_;
  std::vector<int> type_codes_;
  MXNetFunctionHandle func_;
};

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_CALL_TYPE_OF_OUT_H_
