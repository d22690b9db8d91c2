#include "memory_plan.h"

#include <algorithm>
#include <map>

namespace mxacc {
namespace {

constexpr uint64_t kAlignment = 64;

/*! \brief Memory of which parts are taken and released. */
class Room {
 public:
  /*! \brief The offset of the smallest gap that is large enough. */
  uint64_t Take(uint64_t bytes) {
    bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    uint64_t end = 0;
    uint64_t best = 0;
    uint64_t smallest = UINT64_MAX;
    for (const auto& [offset, size] : taken_) {
      const uint64_t gap = offset - end;
      if (gap >= bytes && gap < smallest) {
        best = end;
        smallest = gap;
      }
      end = offset + size;
    }
    if (smallest == UINT64_MAX) best = end;
    if (bytes != 0) taken_[best] = bytes;
    highest_ = std::max(highest_, best + bytes);
    return best;
  }
  void Release(uint64_t offset) { taken_.erase(offset); }
  uint64_t highest() const { return highest_; }

 private:
  std::map<uint64_t, uint64_t> taken_; /*!< bytes by offset */
  uint64_t highest_{0};
};

/*! \brief The steps that are the first and the last to use a buffer. */
struct Life {
  size_t first = SIZE_MAX;
  size_t last = 0;
};

std::vector<Life> LivesOf(const Steps& steps) {
  std::vector<Life> lives(steps.buffers().size());
  for (size_t i = 0; i < steps.steps().size(); ++i) {
    const Step& step = steps.steps()[i];
    const auto use = [&](const Value& value) {
      Life& life = lives[value.buffer];
      life.first = std::min(life.first, i);
      life.last = i;
    };
    for (const Argument& argument : step.inputs) use(argument.value);
    use(step.output);
  }
  return lives;
}

bool IsSameLayout(const Value& a, const Value& b) {
  return a.offset == b.offset && a.dtype.code == b.dtype.code && a.dtype.bits == b.dtype.bits &&
         a.shape == b.shape && a.strides == b.strides;
}

class Planner {
 public:
  Planner(const Steps& steps, const std::vector<StepMemory>& memories)
      : steps_(steps), memories_(memories), lives_(LivesOf(steps)) {
    plan_.buffers.resize(steps.buffers().size());
    has_memory_.resize(steps.buffers().size());
    plan_.workspaces.resize(memories.size());
  }

  MemoryPlan Make() {
    for (size_t i = 0; i < memories_.size(); ++i) {
      const Step& step = steps_.steps()[i];
      const size_t output = step.output.buffer;
      const bool is_new = IsInner(output) && !has_memory_[output];
      if (is_new) Locate(i, output);
      plan_.workspaces[i] = room_.Take(memories_[i].workspace_bytes);
      if (memories_[i].workspace_bytes != 0) room_.Release(plan_.workspaces[i]);
      for (const Argument& argument : step.inputs) End(argument.value.buffer, i);
      End(output, i);
    }
    plan_.bytes = room_.highest();
    return std::move(plan_);
  }

 private:
  bool IsInner(size_t buffer) const {
    return steps_.buffers()[buffer].kind == Buffer::Kind::kInner;
  }
  void Locate(size_t i, size_t output) {
    has_memory_[output] = true;
    const size_t input = SharedInput(i);
    if (input == kNone) {
      plan_.buffers[output] = room_.Take(steps_.buffers()[output].bytes);
    } else {
      plan_.buffers[output] = plan_.buffers[input];
      has_memory_[input] = false;  // it is the output that ends
    }
  }
  /*! \brief The buffer of an input, used last by that step, whose memory the output may be. */
  size_t SharedInput(size_t i) const {
    const Step& step = steps_.steps()[i];
    if (!memories_[i].in_place) return kNone;
    const auto fits = [&](const Argument& candidate) {
      const size_t buffer = candidate.value.buffer;
      const bool ends =
          IsInner(buffer) && has_memory_[buffer] && lives_[buffer].last == i &&
          steps_.buffers()[buffer].bytes != 0 &&
          steps_.buffers()[buffer].bytes == steps_.buffers()[step.output.buffer].bytes;
      return ends && std::all_of(step.inputs.begin(), step.inputs.end(), [&](const auto& other) {
               return other.value.buffer != buffer || IsSameLayout(other.value, step.output);
             });
    };
    const auto found = std::find_if(step.inputs.begin(), step.inputs.end(), fits);
    return found == step.inputs.end() ? kNone : found->value.buffer;
  }
  void End(size_t buffer, size_t i) {
    if (!has_memory_[buffer] || lives_[buffer].last != i) return;
    has_memory_[buffer] = false;
    if (steps_.buffers()[buffer].bytes != 0) room_.Release(plan_.buffers[buffer]);
  }

  static constexpr size_t kNone = SIZE_MAX;

  const Steps& steps_;
  const std::vector<StepMemory>& memories_;
  const std::vector<Life> lives_;
  std::vector<bool> has_memory_; /*!< the buffer has memory in the room */
  Room room_;
  MemoryPlan plan_;
};

}  // namespace

MemoryPlan PlanMemory(const Steps& steps, const std::vector<StepMemory>& memories) {
  return Planner(steps, memories).Make();
}

}  // namespace mxacc
