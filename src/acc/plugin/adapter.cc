/*!
 * \file adapter.cc
 * \brief The functions of a table that call an object.
 */
#include "acc/plugin/adapter.h"

#include <utility>

#include "acc/plugin/status.h"

namespace mxnet {
namespace acc {
namespace {

/*! \brief A method as a function whose self is the object. */
template <auto kMethod>
struct Call;

template <typename R, typename... Args, R (Adapter::*kMethod)(Args...)>
struct Call<kMethod> {
  static R Function(void* self, Args... args) {
    return (static_cast<Adapter*>(self)->*kMethod)(args...);
  }
};

}  // namespace

MXAccStatus Adapter::Unsupported() { return Failure(kMXAccUnsupported, "it cannot do that"); }

MXAccApi Adapter::WholeTable() {
  MXAccApi api{};
  api.struct_size = sizeof(api);
  api.abi_major = MXACC_ABI_MAJOR;
  api.abi_minor = MXACC_ABI_MINOR;
  api.self = this;
#define MXNET_MEMBER(member, method) api.member = &Call<&Adapter::method>::Function
  MXNET_MEMBER(getAccName, GetAccName);
  MXNET_MEMBER(getNumAcc, GetNumAcc);
  MXNET_MEMBER(initialize, Initialize);
  MXNET_MEMBER(finalize, Finalize);
  MXNET_MEMBER(getDeviceInfo, GetDeviceInfo);
  MXNET_MEMBER(mx_alloc, Alloc);
  MXNET_MEMBER(mx_free, Free);
  MXNET_MEMBER(mx_releaseAll, ReleaseAll);
  MXNET_MEMBER(copyToAcc, CopyToAcc);
  MXNET_MEMBER(copyFromAcc, CopyFromAcc);
  MXNET_MEMBER(copyWithinAcc, CopyWithinAcc);
  MXNET_MEMBER(supportsImperative, SupportsImperative);
  MXNET_MEMBER(accGetExecutor, GetExecutor);
  MXNET_MEMBER(supportedOps, SupportedOps);
  MXNET_MEMBER(loadModel, LoadModel);
  MXNET_MEMBER(listOptions, ListOptions);
  MXNET_MEMBER(modelKey, ModelKey);
  MXNET_MEMBER(checkModel, CheckModel);
  MXNET_MEMBER(importModel, ImportModel);
  MXNET_MEMBER(configure, Configure);
  MXNET_MEMBER(profile, Profile);
  MXNET_MEMBER(mx_zero, Zero);
#undef MXNET_MEMBER
  return api;
}

MXAccStatus Failure(int32_t code, std::string message, int64_t node) {
  static thread_local std::string text;
  static thread_local MXAccError error;
  text = std::move(message);
  error = MXAccError{sizeof(error), code, text.c_str(), 0, node};
  return &error;
}

}  // namespace acc
}  // namespace mxnet
