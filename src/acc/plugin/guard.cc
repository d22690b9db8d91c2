/*!
 * \file guard.cc
 * \brief What is made of exceptions that a library lets out.
 */
#include "acc/plugin/guard.h"

#include <cstdio>
#include <new>
#include <string>

#include "acc/plugin/adapter.h"
#include "acc/plugin/status.h"

namespace mxnet {
namespace acc {
namespace {

std::string TextOfException() {
  try {
    throw;
  } catch (const std::exception& error) {
    return std::string("it let a C++ exception out: ") + TextOf(error.what());
  } catch (...) {
    return "it let a C++ exception of unknown type out";
  }
}

/*! \brief A member of the table, called through self, which is the raw table. */
template <auto kMember>
struct Guarded;

template <typename... Args, MXAccStatus (*MXAccApi::*kMember)(void*, Args...)>
struct Guarded<kMember> {
  static MXAccStatus Function(void* self, Args... args) {
    const auto* raw = static_cast<const MXAccApi*>(self);
    try {
      return (raw->*kMember)(raw->self, args...);
    } catch (...) {
      return StatusOfException();
    }
  }
};

template <typename... Args, void (*MXAccApi::*kMember)(void*, Args...)>
struct Guarded<kMember> {
  static void Function(void* self, Args... args) {
    const auto* raw = static_cast<const MXAccApi*>(self);
    try {
      (raw->*kMember)(raw->self, args...);
    } catch (...) {
      WarnOfException("a function that cannot fail");
    }
  }
};

template <typename... Args, const void* (*MXAccApi::*kMember)(void*, Args...)>
struct Guarded<kMember> {
  static const void* Function(void* self, Args... args) {
    const auto* raw = static_cast<const MXAccApi*>(self);
    try {
      return (raw->*kMember)(raw->self, args...);
    } catch (...) {
      WarnOfException("getExtension");
      return nullptr;
    }
  }
};

}  // namespace

MXAccStatus StatusOfException() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return Failure(kMXAccOutOfMemory, "it let std::bad_alloc out");
  } catch (...) {
    return Failure(kMXAccFailed, TextOfException());
  }
}

void WarnOfException(const char* function) {
  std::fprintf(stderr, "mx: an accelerator library's %s: %s\n", function,
               TextOfException().c_str());
}

MXAccApi GuardedTable(const MXAccApi* raw) {
  MXAccApi api = *raw;
  api.self = const_cast<MXAccApi*>(raw);
#define MXNET_MEMBER(member) \
  if (raw->member != nullptr) api.member = &Guarded<&MXAccApi::member>::Function
  MXNET_MEMBER(getAccName);
  MXNET_MEMBER(getNumAcc);
  MXNET_MEMBER(initialize);
  MXNET_MEMBER(finalize);
  MXNET_MEMBER(getDeviceInfo);
  MXNET_MEMBER(mx_alloc);
  MXNET_MEMBER(mx_free);
  MXNET_MEMBER(mx_releaseAll);
  MXNET_MEMBER(copyToAcc);
  MXNET_MEMBER(copyFromAcc);
  MXNET_MEMBER(copyWithinAcc);
  MXNET_MEMBER(createStream);
  MXNET_MEMBER(destroyStream);
  MXNET_MEMBER(syncStream);
  MXNET_MEMBER(createEvent);
  MXNET_MEMBER(destroyEvent);
  MXNET_MEMBER(recordEvent);
  MXNET_MEMBER(waitEvent);
  MXNET_MEMBER(supportsImperative);
  MXNET_MEMBER(accGetExecutor);
  MXNET_MEMBER(supportedOps);
  MXNET_MEMBER(loadModel);
  MXNET_MEMBER(listOptions);
  MXNET_MEMBER(modelKey);
  MXNET_MEMBER(checkModel);
  MXNET_MEMBER(importModel);
  MXNET_MEMBER(configure);
  MXNET_MEMBER(mx_zero);
  MXNET_MEMBER(profile);
  MXNET_MEMBER(getExtension);
#undef MXNET_MEMBER
  return api;
}

}  // namespace acc
}  // namespace mxnet
