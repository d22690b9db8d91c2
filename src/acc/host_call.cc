/*!
 * \file host_call.cc
 * \brief Copies arguments to the host, and results back.
 */
#include "acc/host_call.h"

#include <mxnet/runtime/packed_func.h>

#include <cstring>

#include "acc/copy.h"

namespace mxnet {
namespace acc {
namespace {

constexpr Context kHost{kDLCPU, 0};

/*! \brief The items of a sequence of values; NULL where it is none. */
const MXNetAnyArray* ItemsOf(const MXNetValue& value, int type_code) {
  switch (type_code) {
    case kMXNetTuple:
    case kMXNetList:
    case kMXNetDict:
      return &value.v_seq;
    case kMXNetObjectHandle: {
      const uint32_t type = static_cast<const MXNetObject*>(value.v_handle)->type_index;
      const bool is_run = type == kMXNetObjectTuple || type == kMXNetObjectArray;
      return is_run ? &static_cast<const MXNetSeqObject*>(value.v_handle)->items : nullptr;
    }
    default:
      return nullptr;
  }
}

const DLTensor& TensorOf(const MXNetValue& array) {
  return static_cast<const MXNetNDArrayObject*>(array.v_handle)->tensor;
}

void Look(const MXNetValue& value, int type_code, Places* places) {
  if (type_code == kMXNetNDArrayHandle) {
    places->has_array = true;
    const Context ctx = TensorOf(value).device;
    if (ctx.device_type == kDLCPU) {
      places->has_host_array |= TensorOf(value).ndim > 0;
    } else if (places->arrays.device_type == kDLCPU) {
      places->arrays = ctx;
    } else if (places->arrays != ctx) {
      places->others = ctx;
    }
  } else if (const MXNetAnyArray* items = ItemsOf(value, type_code)) {
    for (size_t i = 0; i < items->size; ++i) {
      Look(items->data[i].value, items->data[i].type_code, places);
    }
  }
}

/*! \brief The body's parameter that takes a context, by its type; -1 for none. */
int ContextIndex(const FunctionObject& func) {
  const auto& params = func.info->body_params();
  for (size_t i = params.size(); i-- > 0;) {
    const char* type = params[i]->type;
    if (type != nullptr && std::strncmp(type, "Context", 7) == 0) return static_cast<int>(i);
  }
  return -1;
}

bool IsGiven(int type_code) { return type_code != kMXNetNull && type_code != kMXNetMissing; }

}  // namespace

Context ContextArgument(const FunctionObject& func, const CallArguments& args, int index) {
  const MXNetArgValue arg(args.values[index], args.type_codes[index],
                          const_cast<FunctionObject*>(&func), index);
  return arg.As<Context>();
}

Places FindPlaces(const FunctionObject& func, const CallArguments& args) {
  Places places;
  places.context_index = ContextIndex(func);
  for (int i = 0; i < args.size; ++i) {
    if (i != places.context_index) {
      Look(args.values[i], args.type_codes[i], &places);
    } else if (IsGiven(args.type_codes[i])) {
      try {
        places.context = ContextArgument(func, args, i);
        places.given = true;
      } catch (const Error&) {
        places.is_wrong = true;
      }
    }
  }
  return places;
}

HostCall::HostCall(const FunctionObject& func, const CallArguments& args, const Places& places)
    : func_(func),
      values_(args.values, args.values + args.size),
      type_codes_(args.type_codes, args.type_codes + args.size) {
  const auto& params = func.info->body_params();
  for (size_t i = 0; i < values_.size(); ++i) {
    const bool written = i < params.size() && (params[i]->flags & kMXNetParamWritten) != 0;
    Convert(&values_[i], &type_codes_[i], written);
  }
  if (places.context_index < 0) return;
  const auto index = static_cast<size_t>(places.context_index);
  while (values_.size() <= index) {
    values_.emplace_back();
    type_codes_.push_back(kMXNetMissing);
  }
  values_[index].v_ctx = kHost;
  type_codes_[index] = kMXNetContext;
}

void HostCall::Convert(MXNetValue* value, int* type_code, bool written) {
  if (*type_code == kMXNetNDArrayHandle) {
    if (TensorOf(*value).device.device_type == kDLCPU) return;
    const NDArray array(ObjectRef::Borrow(static_cast<MXNetObject*>(value->v_handle)));
    copies_.push_back({array, InContext(array, kHost), written});
    value->v_handle = copies_.back().on_host.get();
  } else if (const MXNetAnyArray* items = ItemsOf(*value, *type_code)) {
    Places places;
    Look(*value, *type_code, &places);
    if (places.arrays.device_type == kDLCPU) return;
    const MXNetAny* first = items->data;
    const size_t size = items->size;
    if (*type_code == kMXNetObjectHandle) *type_code = kMXNetTuple;
    ConvertSequence(first, size, value, written);
  }
}

void HostCall::ConvertSequence(const MXNetAny* items, size_t size, MXNetValue* value,
                               bool written) {
  sequences_.emplace_back(items, items + size);
  std::vector<MXNetAny>& converted = sequences_.back();
  for (MXNetAny& item : converted) {
    int type_code = item.type_code;
    Convert(&item.value, &type_code, written);
    item.type_code = type_code;
  }
  value->v_seq.data = converted.data();
  value->v_seq.size = converted.size();
}

const HostCall::Copied* HostCall::CopyOf(const void* on_host) const {
  for (const Copied& copied : copies_) {
    if (copied.on_host.get() == on_host) return &copied;
  }
  return nullptr;
}

Any HostCall::Placed(const Any& value, Context target) const {
  if (value.type_code() == kMXNetNDArrayHandle) {
    const Copied* copied = CopyOf(value.raw().value.v_handle);
    // What was written to is returned as it was given, not as the copy.
    if (copied != nullptr && copied->written) return Any::Of(copied->original);
    return Any::Of(InContext(value.As<NDArray>(), target));
  }
  const MXNetAnyArray* items = ItemsOf(value.raw().value, value.type_code());
  if (items == nullptr) return value;
  std::vector<Any> placed;
  for (size_t i = 0; i < items->size; ++i) {
    placed.push_back(Placed(reinterpret_cast<const Any&>(items->data[i]), target));
  }
  const auto* object = static_cast<const MXNetObject*>(value.raw().value.v_handle);
  if (object->type_index == kMXNetObjectTuple) return Any::Of(Tuple(std::move(placed)));
  return Any::Of(Array<Any>(std::move(placed)));
}

void HostCall::Run(Context target, MXNetValue* ret, int* ret_type_code) {
  MXNetAny result{};
  int type_code = kMXNetNull;
  MXNET_CHECK_CALL(func_.Call(values_.data(), type_codes_.data(), static_cast<int>(values_.size()),
                              &result.value, &type_code));
  result.type_code = type_code;
  const Any made = Any::Steal(result);
  for (const Copied& copied : copies_) {
    if (copied.written) CopyArray(copied.original, copied.on_host);
  }
  Any placed = Placed(made, target);
  placed.MoveTo(ret, ret_type_code);
}

}  // namespace acc
}  // namespace mxnet
