/*!
 * \file model_call.cc
 * \brief The functions of MXAccRuntime that models use.
 */
#include "acc/plugin/model_call.h"

#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "acc/plugin/adapter.h"

namespace mxnet {
namespace acc {
namespace {

using Owner = std::shared_ptr<const void>;

/*! \brief Data of weights, and what keeps it. Any thread may call. */
class Weights {
 public:
  void Offer(const void* data, Owner owner) {
    const std::lock_guard<std::mutex> lock(mutex_);
    offered_.emplace(data, std::move(owner));
  }
  void Withdraw(const void* data) {
    Owner dropped;
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = offered_.find(data);
    if (found == offered_.end()) return;
    dropped = std::move(found->second);
    offered_.erase(found);
  }
  bool Retain(const void* context, const void* data) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = offered_.find(data);
    if (found == offered_.end()) return false;
    Kept& kept = kept_[{context, data}];
    kept.owner = found->second;
    ++kept.count;
    return true;
  }
  void Release(const void* context, const void* data) {
    Owner dropped;
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = kept_.find({context, data});
    if (found == kept_.end() || --found->second.count != 0) return;
    dropped = std::move(found->second.owner);
    kept_.erase(found);
  }
  void ReleaseAll(const void* context) {
    std::vector<Owner> dropped;
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto at = kept_.lower_bound({context, nullptr});
         at != kept_.end() && at->first.first == context;) {
      dropped.push_back(std::move(at->second.owner));
      at = kept_.erase(at);
    }
  }

 private:
  struct Kept {
    Owner owner;
    uint64_t count{0};
  };

  std::mutex mutex_;
  std::unordered_multimap<const void*, Owner> offered_;
  std::map<std::pair<const void*, const void*>, Kept> kept_;
};

/*! \brief Never destroyed: libraries may call at the end of the process. */
Weights& AllWeights() {
  static auto* weights = new Weights();
  return *weights;
}

MXAccStatus AllocOutput(void*, void* call, int32_t index, MXAccDataType dtype, int32_t ndim,
                        const int64_t* shape, MXTensor* out) {
  if (call == nullptr || out == nullptr || (ndim != 0 && shape == nullptr)) {
    return Failure(kMXAccBadArgument, "alloc_output: call, shape or out is NULL");
  }
  return static_cast<ModelCall*>(call)->AllocOutput(index, dtype, ndim, shape, out);
}

int32_t ShouldStop(void*, void* call) {
  return call != nullptr && static_cast<ModelCall*>(call)->ShouldStop() ? 1 : 0;
}

MXAccStatus RetainWeight(void* context, const MXTensor* weight) {
  if (weight != nullptr && AllWeights().Retain(context, weight->tensor.data)) return nullptr;
  return Failure(kMXAccBadArgument,
                 "retain_weight: it is no weight of a loadModel that is under way");
}

void ReleaseWeight(void* context, const void* data) { AllWeights().Release(context, data); }

}  // namespace

MXAccStatus ModelCall::AllocOutput(int32_t, MXAccDataType, int32_t, const int64_t*, MXTensor*) {
  return Failure(kMXAccBadArgument, "alloc_output: infer may call it, and nothing else");
}

void SetModelFunctions(MXAccRuntime* runtime) {
  runtime->alloc_output = &AllocOutput;
  runtime->should_stop = &ShouldStop;
  runtime->retain_weight = &RetainWeight;
  runtime->release_weight = &ReleaseWeight;
}

OfferedWeights::OfferedWeights(const MXTensor* weights, std::vector<Owner> owners) {
  for (size_t i = 0; i < owners.size(); ++i) {
    data_.push_back(weights[i].tensor.data);
    AllWeights().Offer(data_.back(), std::move(owners[i]));
  }
}

OfferedWeights::~OfferedWeights() {
  for (const void* data : data_) AllWeights().Withdraw(data);
}

void ReleaseWeightsOf(const void* context) { AllWeights().ReleaseAll(context); }

}  // namespace acc
}  // namespace mxnet
