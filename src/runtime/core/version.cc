/*!
 * \file version.cc
 * \brief The version of this runtime.
 */
#include "runtime/core/c_api_guard.h"

#ifndef MXNET_RELEASE
#error "MXNET_RELEASE is set by the build from the project's version"
#endif

int MXNetGetVersion(int* out_abi_major, int* out_abi_minor, const char** out_release) {
  using mxnet::runtime::RequireNotNull;
  return mxnet::runtime::Guard([&] {
    RequireNotNull(out_abi_major, "MXNetGetVersion", "out_abi_major");
    RequireNotNull(out_abi_minor, "MXNetGetVersion", "out_abi_minor");
    RequireNotNull(out_release, "MXNetGetVersion", "out_release");
    *out_abi_major = MXNET_RUNTIME_ABI_MAJOR;
    *out_abi_minor = MXNET_RUNTIME_ABI_MINOR;
    *out_release = MXNET_RELEASE;
  });
}
