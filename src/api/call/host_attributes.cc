#include "api/call/host_attributes.h"

#include <algorithm>
#include <utility>

#include "api/argument/arguments.h"
#include "api/call/transfer.h"
#include "runtime/core/function.h"

namespace mxnet {
namespace op {
namespace {

bool IsAttribute(int32_t role) {
  return role == kMXNetRoleAttribute || role == kMXNetRoleShape || role == kMXNetRoleAxes;
}

}  // namespace

HostAttributes::HostAttributes(MXNetFunctionHandle func, const MXNetValue* values,
                               const int* type_codes, int num_args)
    : args_{values, type_codes, num_args, func} {
  const auto& params = static_cast<const FunctionObject*>(func)->info->body_params();
  const int size = std::min(num_args, static_cast<int>(params.size()));
  for (int i = 0; i < size; ++i) {
    if (!IsAttribute(params[static_cast<size_t>(i)]->role)) continue;
    MXNetValue value = values[i];
    int type_code = type_codes[i];
    if (!Replace(&value, &type_code)) continue;
    if (values_.empty()) {
      values_.assign(values, values + num_args);
      type_codes_.assign(type_codes, type_codes + num_args);
      args_ = {values_.data(), type_codes_.data(), num_args, func};
    }
    values_[static_cast<size_t>(i)] = value;
    type_codes_[static_cast<size_t>(i)] = type_code;
  }
}

bool HostAttributes::Replace(MXNetValue* value, int* type_code) {
  if (*type_code == kMXNetNDArrayHandle) {
    const NDArray array(ObjectRef::Borrow(value->v_handle));
    if (IsHost(array.ctx())) return false;
    copies_.push_back(OnHost(array));
    value->v_handle = copies_.back().get();
    return true;
  }
  MXNetAnyArray items{nullptr, 0};
  if (!ItemsOf(*value, *type_code, &items)) return false;
  std::vector<MXNetAny> own(items.data, items.data + items.size);
  bool is_replaced = false;
  for (MXNetAny& item : own) is_replaced |= Replace(&item.value, &item.type_code);
  if (!is_replaced) return false;
  value->v_seq = {own.data(), own.size()};
  *type_code = kMXNetTuple;
  sequences_.push_back(std::move(own));
  return true;
}

}  // namespace op
}  // namespace mxnet
