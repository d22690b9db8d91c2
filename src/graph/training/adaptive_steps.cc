/*!
 * \file adaptive_steps.cc
 * \brief Steps of optimizers that scale each element by what its gradients were: a formula each.
 */
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/stl.h>

#include <array>
#include <cmath>
#include <memory>

#include "graph/training/checks.h"
#include "graph/training/lines.h"

namespace mxnet {
namespace graph {
namespace training {
namespace {

using op::Kernel;
using op::KernelInput;
using op::KernelOutput;
using runtime::kFloat32;
using runtime::kFloat64;
using runtime::Ref;

/* A formula says how many numbers of settings there are, how many states, and what an element and
 * its states become; `n` are the settings, in the order of the operator's description. */

/*! \brief With the mean of gradients (kCentered), and with a velocity. */
template <bool kCentered, bool kVelocity>
struct RmsProp {
  static constexpr int kNumbers = 9;
  static constexpr int kStates = 1 + kCentered + kVelocity;
  static MXNET_ALWAYS_INLINE float At(const float* n, float w, float g, float* state) {
    w *= n[8];
    g += n[4] * w;
    state[0] = n[1] * state[0] + n[2] * g * g;
    float spread = state[0];
    if (kCentered) {
      float* const mean = state + 1;
      *mean += n[2] * (g - *mean);
      spread -= *mean * *mean;
    }
    float step = n[7] * g / (std::sqrt(spread + n[6]) + n[3]);
    if (kVelocity) {
      float* const velocity = state + kStates - 1;
      step += n[5] * *velocity;
      *velocity = step;
    }
    return w - n[0] * step;
  }
};

struct Adagrad {
  static constexpr int kNumbers = 5;
  static constexpr int kStates = 1;
  static MXNET_ALWAYS_INLINE float At(const float* n, float w, float g, float* state) {
    w *= n[4];
    g += n[2] * w;
    state[0] += g * g;
    return w - n[0] * g / (std::sqrt(state[0] + n[3]) + n[1]);
  }
};

struct Adadelta {
  static constexpr int kNumbers = 6;
  static constexpr int kStates = 2;
  static MXNET_ALWAYS_INLINE float At(const float* n, float w, float g, float* state) {
    w *= n[5];
    g += n[4] * w;
    state[0] = n[1] * state[0] + n[2] * g * g;
    const float step = std::sqrt(state[1] + n[3]) / std::sqrt(state[0] + n[3]) * g;
    state[1] = n[1] * state[1] + n[2] * step * step;
    return w - n[0] * step;
  }
};

struct Adamax {
  static constexpr int kNumbers = 7;
  static constexpr int kStates = 2;
  static MXNET_ALWAYS_INLINE float At(const float* n, float w, float g, float* state) {
    w *= n[6];
    g += n[4] * w;
    state[0] += n[1] * (g - state[0]);
    const float kept = n[2] * state[1];
    const float now = std::fabs(g) + n[3];
    // NaN stays, as torch has it.
    state[1] = now <= kept ? kept : (kept != kept ? kept : now);
    return w - n[0] * state[0] / (state[1] + n[5]);
  }
};

struct NAdam {
  static constexpr int kNumbers = 9;
  static constexpr int kStates = 2;
  static MXNET_ALWAYS_INLINE float At(const float* n, float w, float g, float* state) {
    w *= n[6];
    g += n[7] * w;
    state[0] += n[2] * (g - state[0]);
    state[1] = n[3] * state[1] + n[4] * g * g;
    const float spread = std::sqrt(state[1] / n[8]) + n[5];
    return w - n[0] * g / spread - n[1] * state[0] / spread;
  }
};

struct RAdam {
  static constexpr int kNumbers = 8;
  static constexpr int kStates = 2;
  static MXNET_ALWAYS_INLINE float At(const float* n, float w, float g, float* state) {
    w *= n[5];
    g += n[6] * w;
    state[0] += n[1] * (g - state[0]);
    state[1] = n[2] * state[1] + n[3] * g * g;
    // Without a spread yet, the factor is 0.
    const float scale = n[7] == 0 ? 1.0f : n[7] / (std::sqrt(state[1]) + n[4]);
    return w - n[0] * state[0] * scale;
  }
};

template <typename Formula>
struct TakeStep {
  using Numbers = std::array<float, Formula::kNumbers>;
  using Read = std::array<const float*, Formula::kStates>;
  using Written = std::array<float*, Formula::kStates>;

  static MXNET_ALWAYS_INLINE void Run(const float* w, const float* g, float sign,
                                      const Numbers& numbers, const Read& states, int64_t begin,
                                      int64_t end, float* new_w, const Written& new_states) {
    const Numbers n = numbers;
    const Read old = states;
    const Written made = new_states;
#pragma GCC ivdep
    for (int64_t i = begin; i < end; ++i) {
      float state[Formula::kStates];
      for (int k = 0; k < Formula::kStates; ++k) state[k] = old[k][i];
      new_w[i] = Formula::At(n.data(), w[i], sign * g[i], state);
      for (int k = 0; k < Formula::kStates; ++k) made[k][i] = state[k];
    }
  }
};

template <typename Formula>
struct AdaptiveStep {
  int64_t size;
  bool maximize;

  void Run(const DLTensor* in, int, DLTensor* out, int, void*) const {
    using Take = TakeStep<Formula>;
    static const auto take = op::ForWideCpu<Take>();
    const auto* settings = In<double>(in[2]);
    typename Take::Numbers numbers;
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(settings[i]);
    typename Take::Read states;
    typename Take::Written made;
    for (size_t k = 0; k < states.size(); ++k) {
      states[k] = In<float>(in[3 + k]);
      made[k] = Out<float>(out[1 + k]);
    }
    ForLines(size, 1, [&](int64_t begin, int64_t end) {
      take(In<float>(in[0]), In<float>(in[1]), maximize ? -1.0f : 1.0f, numbers, states, begin, end,
           Out<float>(out[0]), made);
    });
  }
};

template <typename Formula>
Ref<Kernel> MakeStep(const Shape& shape, bool maximize) {
  CheckShape("shape", shape);
  std::vector<KernelInput> inputs{
      {kFloat32, shape}, {kFloat32, shape}, {kFloat64, {Formula::kNumbers}}};
  std::vector<KernelOutput> outputs{{kFloat32, shape}};
  outputs[0].in_place = 0;
  for (int k = 0; k < Formula::kStates; ++k) {
    inputs.push_back({kFloat32, shape});
    outputs.push_back({kFloat32, shape});
    outputs.back().in_place = 3 + k;
  }
  return op::MakeKernel(
      "training.adaptive_step", std::move(inputs), std::move(outputs),
      std::unique_ptr<AdaptiveStep<Formula>>(new AdaptiveStep<Formula>{SizeOf(shape), maximize}));
}

Ref<Kernel> MakeRmsPropStep(const Shape& shape, bool maximize, bool centered, bool has_velocity) {
  if (centered) {
    return has_velocity ? MakeStep<RmsProp<true, true>>(shape, maximize)
                        : MakeStep<RmsProp<true, false>>(shape, maximize);
  }
  return has_velocity ? MakeStep<RmsProp<false, true>>(shape, maximize)
                      : MakeStep<RmsProp<false, false>>(shape, maximize);
}

MXNET_REGISTER_API("mx.graph.training.rmsprop_step")
    .describe(
        "A kernel: a parameter, its gradient, settings, the square[, the mean][, the velocity] to "
        "all but settings and gradient after a step.")
    .arg("shape", "Of the parameter.")
    .arg("maximize")
    .arg("centered", "Whether there is the mean.")
    .arg("has_velocity")
    .name_errors()
    .set_body_typed(&MakeRmsPropStep);

#define MXNET_REGISTER_STEP(NAME, FORMULA)                                                         \
  MXNET_REGISTER_API("mx.graph.training." NAME)                                                    \
      .describe("A kernel: a parameter, its gradient, settings and states to these after a step.") \
      .arg("shape", "Of the parameter.")                                                           \
      .arg("maximize")                                                                             \
      .name_errors()                                                                               \
      .set_body_typed(&MakeStep<FORMULA>)

MXNET_REGISTER_STEP("adagrad_step", Adagrad);
MXNET_REGISTER_STEP("adadelta_step", Adadelta);
MXNET_REGISTER_STEP("adamax_step", Adamax);
MXNET_REGISTER_STEP("nadam_step", NAdam);
MXNET_REGISTER_STEP("radam_step", RAdam);

}  // namespace
}  // namespace training
}  // namespace graph
}  // namespace mxnet
