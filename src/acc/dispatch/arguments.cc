/*!
 * \file arguments.cc
 * \brief Replaces arrays among arguments.
 */
#include "acc/dispatch/arguments.h"

#include <utility>

namespace mxnet {
namespace acc {

Arguments::Arguments(const Call& call, const Replace& replace)
    : context_index_(call.devices.context_index),
      replace_(replace),
      values_(call.args.values, call.args.values + call.args.size),
      type_codes_(call.args.type_codes, call.args.type_codes + call.args.size) {
  const auto& params = call.func.info->body_params();
  for (size_t i = 0; i < values_.size(); ++i) {
    Convert(&values_[i], &type_codes_[i], i < params.size() ? params[i] : nullptr);
  }
}

void Arguments::SetContext(Context ctx) {
  if (context_index_ < 0) return;
  const auto index = static_cast<size_t>(context_index_);
  while (values_.size() <= index) {
    values_.emplace_back();
    type_codes_.push_back(kMXNetMissing);
  }
  values_[index].v_ctx = ctx;
  type_codes_[index] = kMXNetContext;
}

bool Arguments::Convert(MXNetValue* value, int* type_code, const MXNetParamInfo* param) {
  NDArray array = replace_(*value, *type_code, param);
  if (array.get() != nullptr) {
    value->v_handle = arrays_.emplace_back(std::move(array)).get();
    *type_code = kMXNetNDArrayHandle;
    return true;
  }
  const MXNetAnyArray* items = ItemsOf(*value, *type_code);
  if (items == nullptr || !ConvertItems(*items, value, param)) return false;
  if (*type_code == kMXNetObjectHandle) *type_code = kMXNetTuple;
  return true;
}

bool Arguments::ConvertItems(const MXNetAnyArray& items, MXNetValue* value,
                             const MXNetParamInfo* param) {
  sequences_.emplace_back(items.data, items.data + items.size);
  std::vector<MXNetAny>& converted = sequences_.back();
  bool any = false;
  for (MXNetAny& item : converted) {
    int type_code = item.type_code;
    any |= Convert(&item.value, &type_code, param);
    item.type_code = type_code;
  }
  if (!any) {
    sequences_.pop_back();
    return false;
  }
  value->v_seq.data = converted.data();
  value->v_seq.size = converted.size();
  return true;
}

}  // namespace acc
}  // namespace mxnet
