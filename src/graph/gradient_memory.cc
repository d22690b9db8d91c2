/*!
 * \file gradient_memory.cc
 * \brief Which saved value lies in which gradients.
 */
#include "graph/gradient_memory.h"

#include <mxnet/runtime/data_type.h>
#include <mxnet/runtime/error.h>
#include <mxnet/runtime/extents.h>

#include <algorithm>

#include "graph/large_outputs.h"
#include "graph/mapped_array.h"
#include "graph/memory_plan.h"

namespace mxnet {
namespace graph {
namespace {

/*! \brief What has fewer bytes is not worth a view. */
constexpr size_t kSmallest = size_t{1} << 16;

/*! \brief An array, and the step of the backward plan that it comes with or goes with. */
struct Timed {
  size_t index; /*!< among the outputs of its plan */
  size_t bytes;
  int step;
  size_t input; /*!< of the backward plan, for a saved value */
};

size_t RoundUp(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

size_t BytesOf(const PlanArray& array) {
  return runtime::CheckedBytes(ShapeView(array.shape.data(), array.shape.size()), array.dtype);
}

/*! \brief The first and the last steps that use each array of a source; {-1, -1} for none. */
std::vector<std::pair<int, int>> Uses(const PlanParts& parts, Source source, size_t count) {
  std::vector<std::pair<int, int>> uses(count, {-1, -1});
  for (size_t i = 0; i < parts.steps.size(); ++i) {
    for (const std::vector<int>* side : {&parts.steps[i].inputs, &parts.steps[i].outputs}) {
      for (int number : *side) {
        if (number < 0) continue;
        const PlanTensor& tensor = parts.tensors[static_cast<size_t>(number)];
        if (tensor.source != source) continue;
        auto& [first, last] = uses[static_cast<size_t>(tensor.index)];
        if (first < 0) first = static_cast<int>(i);
        last = static_cast<int>(i);
      }
    }
  }
  return uses;
}

}  // namespace

GradientMemory::GradientMemory(const PlanParts& forward, const PlanParts& backward,
                               const std::vector<std::pair<int64_t, int64_t>>& saved)
    : is_saved_(forward.outputs.size(), false),
      saved_(forward.outputs.size(), -1),
      gradients_(backward.outputs.size(), -1) {
  for (const auto& [output, input] : saved) {
    if (output < 0 || output >= static_cast<int64_t>(forward.outputs.size()) || input < 0 ||
        input >= static_cast<int64_t>(backward.inputs.size())) {
      MXNET_THROW("ValueError") << "saved: expected numbers of outputs and of inputs, got "
                                << output << " and " << input;
    }
    is_saved_[static_cast<size_t>(output)] = true;
  }
  // Slices are run side by side, so that no step is the last one.
  if (forward.slices != 1 || backward.slices != 1) return;
  const auto later = [](const Timed& a, const Timed& b) { return a.step > b.step; };
  std::vector<Timed> gradients;
  const auto written = Uses(backward, Source::kOutput, backward.outputs.size());
  for (size_t i = 0; i < backward.outputs.size(); ++i) {
    const size_t bytes = BytesOf(backward.outputs[i]);
    if (bytes >= kSmallest && written[i].first >= 0) {
      gradients.push_back({i, bytes, written[i].first, 0});
    }
  }
  std::stable_sort(gradients.begin(), gradients.end(), later);
  size_t end = 0;
  for (const Timed& one : gradients) {
    gradients_[one.index] = static_cast<int64_t>(end);
    end += RoundUp(one.bytes);
  }
  bytes_ = static_cast<int64_t>(end);
  std::vector<Timed> values;
  const auto read = Uses(backward, Source::kInput, backward.inputs.size());
  for (const auto& [output, input] : saved) {
    const auto given = static_cast<size_t>(input);
    const size_t bytes = BytesOf(forward.outputs[static_cast<size_t>(output)]);
    if (bytes < kSmallest || bytes != BytesOf(backward.inputs[given])) continue;
    values.push_back({static_cast<size_t>(output), bytes, read[given].second, given});
  }
  // Those that are needed longest have the least room: only gradients that come later.
  std::stable_sort(values.begin(), values.end(), later);
  size_t at = 0;
  for (const Timed& one : values) {
    size_t room = 0;
    for (const Timed& gradient : gradients) {
      if (gradient.step <= one.step) break;
      room += RoundUp(gradient.bytes);
    }
    if (at + RoundUp(one.bytes) > room) continue;
    saved_[one.index] = static_cast<int64_t>(at);
    given_.push_back(one.input);
    at += RoundUp(one.bytes);
    shared_bytes_ += one.bytes;
  }
}

bool GradientMemory::Holds(const NDArray& array) const noexcept {
  if (span_.get() == nullptr) return false;
  const char* const data = static_cast<const char*>(runtime::TensorData(array.tensor()));
  const char* const begin = span_.data_as<char>();
  return begin <= data && data < begin + bytes_;
}

NDArray GradientMemory::Span(int64_t holders) {
  if (span_.get() == nullptr) {
    span_ = MappedArray(ShapeView(&bytes_, 1), runtime::kUInt8);
    return span_;
  }
  const int64_t count = __atomic_load_n(&span_.get()->ref_count, __ATOMIC_ACQUIRE);
  return count == 1 + holders ? span_ : NDArray();
}

NDArray GradientMemory::ForForward() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return Span(0);
}

NDArray GradientMemory::ForBackward(const std::vector<NDArray>& inputs, bool gives_up) {
  const std::lock_guard<std::mutex> lock(mutex_);
  int64_t holders = 0;
  for (size_t input : given_) {
    if (gives_up && Holds(inputs[input])) ++holders;
  }
  return Span(holders);
}

}  // namespace graph
}  // namespace mxnet
