/*!
 * \file dispatch.cc
 * \brief Where an operator is carried out.
 */
#include "acc/dispatch.h"

#include <mxnet/runtime/packed_func.h>

#include <cstring>
#include <string>

#include "acc/host_call.h"
#include "runtime/c_api_guard.h"

namespace mxnet {
namespace acc {
namespace {

constexpr Context kHost{kDLCPU, 0};

/*! \brief The context that the calling thread makes arrays in. */
Context CurrentContext() {
  static MXNetFunctionHandle current = [] {
    MXNetFunctionHandle func = nullptr;
    MXNetFuncGetGlobal("mx.context.current", &func);
    return func;
  }();
  MXNetValue result;
  int type_code = kMXNetNull;
  if (current == nullptr || MXNetFuncCall(current, nullptr, nullptr, 0, &result, &type_code) != 0) {
    return kHost;
  }
  return result.v_ctx;
}

/*! \brief The kind of the last error says that a view's body needs elements after all. */
bool WasOffHost() { return std::strcmp(MXNetGetLastError()->kind, "OffHost") == 0; }

/*!
 * \brief Refuses arrays that are in different places, which would have to be copied silently.
 *
 * Keys and what is assigned may be on the CPU, and so may what is copied to a context.
 */
void CheckTogether(const FunctionObject& func, const Places& places) {
  const MXNetFuncInfo& info = func.info->view();
  const bool elsewhere = places.others.device_type != kDLCPU;
  bool copies = places.context_index >= 0 || (info.flags & kMXNetFuncView) != 0;
  for (const MXNetParamInfo* param : func.info->body_params()) {
    const bool is_required = (param->flags & kMXNetParamOptional) == 0;
    copies |= (param->flags & kMXNetParamWritten) != 0 && is_required;
  }
  const bool on_host = places.has_host_array && places.arrays.device_type != kDLCPU && !copies;
  if (!elsewhere && !on_host) return;
  MXNET_THROW("ValueError") << info.name << ": arrays on " << ContextName(places.arrays)
                            << " and on " << (elsewhere ? ContextName(places.others) : "the CPU")
                            << "; bring them together with as_in_ctx";
}

Context ContextOf(const FunctionObject& func, const Places& places) {
  if (places.arrays.device_type != kDLCPU) return places.arrays;
  if (places.given) return places.context;
  if (places.is_wrong) return kHost;  // where the body says what is wrong with it
  const bool follows = (func.info->view().flags & kMXNetFuncFollowsInput) != 0;
  const bool makes_arrays = places.context_index >= 0 && !(follows && places.has_array);
  return makes_arrays ? CurrentContext() : kHost;
}

}  // namespace

Context FindContext(const FunctionObject& func, const CallArguments& args) {
  return ContextOf(func, FindPlaces(func, args));
}

int CallOnDevice(const FunctionObject& func, const CallArguments& args, MXNetValue* ret,
                 int* ret_type_code) {
  const Places places = FindPlaces(func, args);
  if ((func.info->view().flags & kMXNetFuncView) != 0) {
    if (func.Call(args.values, args.type_codes, args.size, ret, ret_type_code) == 0) return 0;
    if (!WasOffHost()) return -1;
  }
  return Guard([&] {
    if (places.is_wrong) ContextArgument(func, args, places.context_index);
    CheckTogether(func, places);
    const Context target = places.given ? places.context : ContextOf(func, places);
    HostCall call(func, args, places);
    call.Run(target, ret, ret_type_code);
  });
}

}  // namespace acc
}  // namespace mxnet
