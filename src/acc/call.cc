/*!
 * \file call.cc
 * \brief Looks through the arguments of a call.
 */
#include "acc/call.h"

#include <mxnet/runtime/packed_func.h>

namespace mxnet {
namespace acc {
namespace {

void Look(const MXNetValue& value, int type_code, Places* places) {
  if (type_code == kMXNetNDArrayHandle) {
    places->has_array = true;
    const Context ctx = TensorOf(value).device;
    if (ctx.device_type == kDLCPU) {
      places->has_host_array |= TensorOf(value).ndim > 0;
    } else if (places->arrays.device_type == kDLCPU) {
      places->arrays = ctx;
      places->array = static_cast<const MXNetNDArrayObject*>(value.v_handle);
    } else if (places->arrays != ctx) {
      places->others = ctx;
    }
  } else if (const MXNetAnyArray* items = ItemsOf(value, type_code)) {
    for (size_t i = 0; i < items->size; ++i) {
      Look(items->data[i].value, items->data[i].type_code, places);
    }
  }
}

bool IsGiven(int type_code) { return type_code != kMXNetNull && type_code != kMXNetMissing; }

}  // namespace

Call::Call(const FunctionObject& function, const CallArguments& arguments)
    : func(function), args(arguments) {
  places.context_index = func.info->context_param();
  for (int i = 0; i < args.size; ++i) {
    if (i != places.context_index) {
      Look(args.values[i], args.type_codes[i], &places);
    } else if (IsGiven(args.type_codes[i])) {
      try {
        places.context = ContextArgument();
        places.given = true;
      } catch (const Error&) {
        places.is_wrong = true;
      }
    }
  }
}

Context Call::ContextArgument() const {
  const int index = places.context_index;
  const MXNetArgValue arg(args.values[index], args.type_codes[index],
                          const_cast<FunctionObject*>(&func), index);
  return arg.As<Context>();
}

}  // namespace acc
}  // namespace mxnet
