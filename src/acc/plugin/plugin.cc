/*!
 * \file plugin.cc
 * \brief Loading an accelerator library, and checking what it says of itself.
 */
#include "acc/plugin/plugin.h"

#include <mxnet/runtime/error.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <utility>

#include "acc/plugin/functions_library.h"
#include "acc/plugin/guard.h"
#include "acc/plugin/model_call.h"
#include "acc/plugin/status.h"
#include "runtime/library/dynamic_library.h"
#include "runtime/library/library_file.h"

namespace mxnet {
namespace acc {
namespace {

void Log(void* context, int32_t level, const char* message) {
  if (level < kMXAccWarning) return;
  const auto* plugin = static_cast<const Plugin*>(context);
  std::fprintf(stderr, "mx: %s: %s\n", plugin->own_name().c_str(), TextOf(message).c_str());
}

/*! \brief A function pointer as an address. */
template <typename F>
const void* AddressOf(F function) {
  return reinterpret_cast<const void*>(function);
}

}  // namespace

bool IsAcceleratorName(const std::string& name) {
  if (name.empty() || name.size() >= MXACC_NAME_SIZE || name[0] < 'a' || name[0] > 'z') {
    return false;
  }
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

Plugin::Plugin(const std::string& path, std::unique_ptr<Adapter> adapter)
    : path_(path), adapter_(std::move(adapter)), isolated_(adapter_ != nullptr) {
  if (!isolated()) Open();
  try {
    FillTable();
    CheckTable();
    raw_ = api_;
    // A library in this process must not throw. The adapter to another process is ours, and throws
    // on purpose, for example when Ctrl-C ends a wait.
    if (!isolated()) api_ = GuardedTable(&raw_);
    own_name_ = ReadName();
  } catch (...) {
    if (library_ != nullptr) dynamic_library::Close(library_);
    throw;
  }
}

void Plugin::Open() {
  CheckLibraryFile(path_);
  library_ = dynamic_library::Open(path_);
  if (library_ == nullptr) {
    Reject(ExplainLoaderMessage(dynamic_library::LastMessage(), path_));
  }
}

Plugin::~Plugin() {
  Finalize();
  adapter_.reset();
  if (library_ != nullptr) dynamic_library::Close(library_);
}

void Plugin::Reject(const std::string& reason) const {
  MXNET_THROW("ImportError") << "cannot load " << path_ << ": " << reason;
}

void Plugin::FillTable() {
  runtime_.struct_size = sizeof(runtime_);
  runtime_.abi_major = MXACC_ABI_MAJOR;
  runtime_.abi_minor = MXACC_ABI_MINOR;
  runtime_.release = MXNET_RELEASE;
  runtime_.operator_set = kOperatorSet;
  runtime_.library_path = path_.c_str();
  runtime_.context = this;
  runtime_.log = &Log;
  SetModelFunctions(&runtime_);
  api_.struct_size = sizeof(api_);
  if (isolated()) {
    api_ = adapter_->Table();
    return;
  }
  auto entry = reinterpret_cast<MXAccGetApi>(dynamic_library::Symbol(library_, MXACC_ENTRY));
  if (entry != nullptr) {
    MXAccStatus status;
    try {
      status = entry(&runtime_, &api_);
    } catch (...) {
      status = StatusOfException();
    }
    Check(status, "cannot load " + path_, MXACC_ENTRY);
  } else if (FunctionsLibrary::Is(library_)) {
    adapter_ = std::make_unique<FunctionsLibrary>(library_);
    api_ = adapter_->Table();
  } else {
    Reject(std::string("it is no accelerator library: it has no function ") + MXACC_ENTRY +
           ", nor getAccName and getNumAcc");
  }
}

void Plugin::CheckTable() const {
  // A library may know fewer members, or have a longer table that ends where ours does.
  constexpr size_t kSmallest = offsetof(MXAccApi, initialize) + sizeof(api_.initialize);
  if (api_.struct_size < kSmallest || api_.struct_size > sizeof(api_)) {
    Reject("it gives the size of its table as " + std::to_string(api_.struct_size) +
           ", expected from " + std::to_string(kSmallest) + " to " + std::to_string(sizeof(api_)) +
           " bytes");
  }
  if (api_.abi_major != MXACC_ABI_MAJOR) {
    Reject("it was built against version " + std::to_string(api_.abi_major) + "." +
           std::to_string(api_.abi_minor) + " of mxnet_acc.h, this MXNet has version " +
           std::to_string(MXACC_ABI_MAJOR) + "." + std::to_string(MXACC_ABI_MINOR));
  }
  const bool says = api_.operator_set_min != 0 || api_.operator_set_max != 0;
  if (says && (kOperatorSet < api_.operator_set_min || kOperatorSet > api_.operator_set_max)) {
    Reject("it knows versions " + std::to_string(api_.operator_set_min) + " to " +
           std::to_string(api_.operator_set_max) + " of the operators, this MXNet has version " +
           std::to_string(kOperatorSet));
  }
  const struct {
    const char* name;
    const void* address;
    bool required;
  } members[] = {
#define MEMBER(name, required) {#name, AddressOf(api_.name), required}
      MEMBER(getAccName, true),
      MEMBER(getNumAcc, true),
      MEMBER(initialize, false),
      MEMBER(finalize, false),
      MEMBER(getDeviceInfo, false),
      MEMBER(mx_alloc, false),
      MEMBER(mx_free, api_.mx_alloc != nullptr),
      MEMBER(mx_releaseAll, false),
      MEMBER(copyToAcc, api_.mx_alloc != nullptr),
      MEMBER(copyFromAcc, api_.mx_alloc != nullptr),
      MEMBER(copyWithinAcc, false),
      MEMBER(createStream, false),
      MEMBER(destroyStream, api_.createStream != nullptr),
      MEMBER(syncStream, api_.createStream != nullptr),
      MEMBER(createEvent, api_.createStream != nullptr),
      MEMBER(destroyEvent, api_.createStream != nullptr),
      MEMBER(recordEvent, api_.createStream != nullptr),
      MEMBER(waitEvent, api_.createStream != nullptr),
      MEMBER(supportsImperative, false),
      MEMBER(accGetExecutor, false),
      MEMBER(supportedOps, false),
      MEMBER(loadModel, api_.supportedOps != nullptr),
      MEMBER(listOptions, false),
      MEMBER(modelKey, api_.importModel != nullptr),
      MEMBER(checkModel, api_.importModel != nullptr),
      MEMBER(importModel, false),
      MEMBER(configure, false),
      MEMBER(mx_zero, false),
      MEMBER(profile, false),
      MEMBER(getExtension, false),
#undef MEMBER
  };
  for (const auto& member : members) {
    if (member.address == nullptr && member.required) {
      Reject(std::string("its table lacks ") + member.name);
    }
    if (member.address != nullptr && dynamic_library::BaseOf(member.address) == nullptr) {
      Reject(std::string("its table has no function at the address of ") + member.name);
    }
  }
}

std::string Plugin::ReadName() const {
  char text[MXACC_NAME_SIZE + 1];
  std::memset(text, 0, sizeof(text));
  Check(api_.getAccName(api_.self, text, MXACC_NAME_SIZE), "cannot load " + path_, "getAccName");
  text[MXACC_NAME_SIZE] = '\0';
  const std::string name = text;
  if (!IsAcceleratorName(name)) {
    Reject("it names itself '" + TextOf(text) + "'; the name of an accelerator is [a-z][a-z0-9_]*" +
           " of at most " + std::to_string(MXACC_NAME_SIZE - 1) + " characters");
  }
  return name;
}

void Plugin::Initialize() {
  if (api_.initialize != nullptr)
    Check(api_.initialize(api_.self, &runtime_), "cannot load " + path_, "initialize");
  initialized_ = true;
  if (api_.supportsImperative == nullptr) return;
  int32_t yes = 0;
  Check(api_.supportsImperative(api_.self, &yes), "cannot load " + path_, "supportsImperative");
  imperative_ = yes != 0;
  if (imperative_ && (api_.mx_alloc == nullptr || api_.accGetExecutor == nullptr)) {
    Reject("supportsImperative says yes, but its table lacks mx_alloc or accGetExecutor");
  }
}

void Plugin::Finalize() {
  if (initialized_ && api_.finalize != nullptr) api_.finalize(api_.self);
  ReleaseWeightsOf(this);
  initialized_ = false;
}

}  // namespace acc
}  // namespace mxnet
