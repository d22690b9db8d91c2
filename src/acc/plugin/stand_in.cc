/*!
 * \file stand_in.cc
 * \brief Sets of functions, each of which calls one object.
 */
#include "acc/plugin/stand_in.h"

#include <array>
#include <atomic>
#include <utility>

#include "acc/plugin/status.h"

namespace mxnet {
namespace acc {
namespace {

constexpr int kPlaces = 32;

/*! \brief The objects behind the sets; written while no function of the set can be called. */
std::atomic<StandIn*> objects[kPlaces];

/*! \brief Method as a function of the set with that number. */
template <int kPlace, auto kMethod>
struct Call;

template <int kPlace, typename R, typename... Args, R (StandIn::*kMethod)(Args...)>
struct Call<kPlace, kMethod> {
  static R Function(Args... args) {
    return (objects[kPlace].load(std::memory_order_relaxed)->*kMethod)(args...);
  }
};

template <int kPlace>
MXAccApi TableOf() {
  MXAccApi api{};
  api.struct_size = sizeof(api);
  api.abi_major = MXACC_ABI_MAJOR;
  api.abi_minor = MXACC_ABI_MINOR;
#define MXNET_MEMBER(member, method) api.member = &Call<kPlace, &StandIn::method>::Function
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
  MXNET_MEMBER(unloadModel, UnloadModel);
  MXNET_MEMBER(infer, Infer);
  MXNET_MEMBER(configure, Configure);
  MXNET_MEMBER(mx_zero, Zero);
#undef MXNET_MEMBER
  return api;
}

template <int... kNumbers>
constexpr std::array<MXAccApi (*)(), kPlaces> AllTables(std::integer_sequence<int, kNumbers...>) {
  return {&TableOf<kNumbers>...};
}

}  // namespace

StandIn::StandIn() {
  for (place_ = 0; place_ < kPlaces; ++place_) {
    StandIn* free = nullptr;
    if (objects[place_].compare_exchange_strong(free, this)) return;
  }
  MXNET_THROW("ImportError") << "no more than " << kPlaces << " accelerators whose functions are "
                             << "found by name, or that are isolated, can be loaded at once";
}

StandIn::~StandIn() { objects[place_].store(nullptr); }

MXAccStatus StandIn::Unsupported() { return Failure(kMXAccUnsupported, "it cannot do that"); }

MXAccApi StandIn::WholeTable() const {
  static constexpr auto tables = AllTables(std::make_integer_sequence<int, kPlaces>());
  return tables[static_cast<size_t>(place_)]();
}

MXAccStatus Failure(int32_t code, std::string message) {
  static thread_local std::string text;
  static thread_local MXAccError error;
  text = std::move(message);
  error = MXAccError{sizeof(error), code, text.c_str(), 0};
  return &error;
}

}  // namespace acc
}  // namespace mxnet
