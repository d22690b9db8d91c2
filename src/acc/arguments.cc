/*!
 * \file arguments.cc
 * \brief Replaces arrays among arguments.
 */
#include "acc/arguments.h"

namespace mxnet {
namespace acc {

Arguments::Arguments(const Call& call, Context ctx, const Replace& replace, bool all)
    : replace_(replace),
      all_(all),
      values_(call.args.values, call.args.values + call.args.size),
      type_codes_(call.args.type_codes, call.args.type_codes + call.args.size) {
  const auto& params = call.func.info->body_params();
  for (size_t i = 0; i < values_.size(); ++i) {
    const bool written = i < params.size() && (params[i]->flags & kMXNetParamWritten) != 0;
    Convert(&values_[i], &type_codes_[i], written);
  }
  if (call.places.context_index < 0) return;
  const auto index = static_cast<size_t>(call.places.context_index);
  while (values_.size() <= index) {
    values_.emplace_back();
    type_codes_.push_back(kMXNetMissing);
  }
  values_[index].v_ctx = ctx;
  type_codes_[index] = kMXNetContext;
}

bool Arguments::IsReplaced(const MXNetValue& value, int type_code) const {
  if (type_code == kMXNetNDArrayHandle) {
    return all_ || TensorOf(value).device.device_type != kDLCPU;
  }
  const MXNetAnyArray* items = ItemsOf(value, type_code);
  for (size_t i = 0; items != nullptr && i < items->size; ++i) {
    if (IsReplaced(items->data[i].value, items->data[i].type_code)) return true;
  }
  return false;
}

void Arguments::Convert(MXNetValue* value, int* type_code, bool written) {
  if (!IsReplaced(*value, *type_code)) return;
  if (*type_code == kMXNetNDArrayHandle) {
    const NDArray array(ObjectRef::Borrow(static_cast<MXNetObject*>(value->v_handle)));
    arrays_.push_back(replace_(array, written));
    value->v_handle = arrays_.back().get();
    return;
  }
  const MXNetAnyArray items = *ItemsOf(*value, *type_code);
  if (*type_code == kMXNetObjectHandle) *type_code = kMXNetTuple;
  ConvertItems(items, value, written);
}

void Arguments::ConvertItems(const MXNetAnyArray& items, MXNetValue* value, bool written) {
  sequences_.emplace_back(items.data, items.data + items.size);
  std::vector<MXNetAny>& converted = sequences_.back();
  for (MXNetAny& item : converted) {
    int type_code = item.type_code;
    Convert(&item.value, &type_code, written);
    item.type_code = type_code;
  }
  value->v_seq.data = converted.data();
  value->v_seq.size = converted.size();
}

}  // namespace acc
}  // namespace mxnet
