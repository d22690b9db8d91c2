/*!
 * \file call.cc
 * \brief Looks through the arguments of a call.
 */
#include "acc/dispatch/call.h"

#include <mxnet/runtime/packed_func.h>

namespace mxnet {
namespace acc {
namespace {

inline void LookAt(const MXNetValue& value, Places* places) {
  places->has_array = true;
  const DLTensor& tensor = TensorOf(value);
  if (tensor.device.device_type == kDLCPU) {
    places->has_host_array |= tensor.ndim > 0;
  } else if (places->array == nullptr) {
    places->arrays = tensor.device;
    places->array = static_cast<const MXNetNDArrayObject*>(value.v_handle);
  } else if (places->arrays != tensor.device) {
    places->others = tensor.device;
  }
}

inline void LookForLent(const MXNetValue& value, int type_code, Places* places) {
  const DLTensor* tensor = LentTensor(value, type_code);
  places->has_lent |= tensor != nullptr && tensor->ndim > 0;
}

[[gnu::noinline]] void LookInto(const MXNetAnyArray& items, Places* places) {
  for (size_t i = 0; i < items.size; ++i) {
    const MXNetAny& item = items.data[i];
    if (item.type_code == kMXNetNDArrayHandle) {
      LookAt(item.value, places);
    } else if (const MXNetAnyArray* nested = ItemsOf(item.value, item.type_code)) {
      LookInto(*nested, places);
    } else {
      LookForLent(item.value, item.type_code, places);
    }
  }
}

}  // namespace

Call::Call(const FunctionObject& function, const CallArguments& arguments)
    : func(function), args(arguments) {
  places.context_index = func.info->context_param();
  for (int i = 0; i < args.size; ++i) {
    const int type_code = args.type_codes[i];
    if (type_code == kMXNetNDArrayHandle && i != places.context_index) {
      LookAt(args.values[i], &places);
    } else if (type_code == kMXNetNull || type_code == kMXNetMissing) {
      continue;
    } else if (i == places.context_index) {
      LookAtContext(i);
    } else if (const MXNetAnyArray* items = ItemsOf(args.values[i], type_code)) {
      LookInto(*items, &places);
    } else {
      LookForLent(args.values[i], type_code, &places);
    }
  }
}

void Call::LookAtContext(int index) {
  if (args.type_codes[index] == kMXNetContext) {
    places.context = args.values[index].v_ctx;
    places.given = true;
    return;
  }
  try {
    places.context = ContextArgument();
    places.given = true;
  } catch (const Error&) {
    places.is_wrong = true;
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
