/*!
 * \file copy_costs.cc
 * \brief Measures copies of two sizes in both directions.
 */
#include "acc/device/copy_costs.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>

#include "acc/device/arrays.h"
#include "acc/device/device.h"
#include "acc/device/transfers.h"

namespace mxnet {
namespace acc {
namespace {

constexpr int64_t kFew = 64;
constexpr int64_t kMany = 1 << 20;
/*! \brief The fastest of so many counts, as others were held up. */
constexpr int kTimes = 5;

/*! \brief Microseconds of a copy until it is done. */
double TimeOf(Device* device, const NDArray& target, const NDArray& source) {
  double fastest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTimes; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    CopyArray(target, source);
    device->Settle();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    fastest = std::min(fastest, took.count());
  }
  return fastest;
}

CopyCost CostOf(double few, double many) {
  return {few, std::max(0.0, many - few) / static_cast<double>(kMany - kFew)};
}

CopyCosts Measure(Device* device) {
  double to_device[2];
  double to_host[2];
  const int64_t sizes[] = {kFew, kMany};
  for (int i = 0; i < 2; ++i) {
    const ShapeView shape(&sizes[i], 1);
    const NDArray here = NDArray::Empty(shape, runtime::kUInt8, kHost);
    const NDArray there = NDArray::Empty(shape, runtime::kUInt8, device->context());
    std::memset(runtime::TensorData(here.tensor()), 0, static_cast<size_t>(sizes[i]));
    to_device[i] = TimeOf(device, there, here);
    to_host[i] = TimeOf(device, here, there);
  }
  return {CostOf(to_device[0], to_device[1]), CostOf(to_host[0], to_host[1])};
}

}  // namespace

CopyCosts MeasuredCopies::Get(Device* device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!costs_) costs_ = Measure(device);
  return *costs_;
}

void MeasuredCopies::Clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  costs_.reset();
}

}  // namespace acc
}  // namespace mxnet
