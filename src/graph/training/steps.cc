/*!
 * \file steps.cc
 * \brief Steps of optimizers: all that a parameter needs, in one pass over it.
 */
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/stl.h>

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

/*! \brief The numbers of a step of SGD, as it needs them. */
struct SgdNumbers {
  float rate;
  float momentum;
  float decay;
  float share;
  float scale; /*!< what the gradient is multiplied by */
  float kept;  /*!< what the parameter is multiplied by */
  bool nesterov;
};

struct TakeSgdStep {
  static MXNET_ALWAYS_INLINE void Run(const float* w, const float* g, const float* velocity,
                                      const SgdNumbers& numbers, int64_t begin, int64_t end,
                                      float* new_w, float* new_velocity) {
    const SgdNumbers by = numbers;
    if (velocity == nullptr) {
#pragma GCC ivdep
      for (int64_t i = begin; i < end; ++i) {
        const float from = by.kept * w[i];
        const float direction = by.scale * g[i] + by.decay * from;
        const float taken = by.nesterov ? direction + by.momentum * direction : direction;
        new_w[i] = from - by.rate * taken;
        new_velocity[i] = direction;
      }
      return;
    }
#pragma GCC ivdep
    for (int64_t i = begin; i < end; ++i) {
      const float from = by.kept * w[i];
      const float direction = by.scale * g[i] + by.decay * from;
      const float made = by.momentum * velocity[i] + by.share * direction;
      const float taken = by.nesterov ? direction + by.momentum * made : made;
      new_w[i] = from - by.rate * taken;
      new_velocity[i] = made;
    }
  }
};

struct SgdStep {
  int64_t size;
  bool has_velocity;
  bool nesterov;
  bool maximize;

  void Run(const DLTensor* in, int, DLTensor* out, int, void*) const {
    static const auto take = op::ForWideCpu<TakeSgdStep>();
    const auto* settings = In<double>(in[2]);
    const float* velocity = has_velocity ? In<float>(in[3]) : nullptr;
    const auto scale = static_cast<float>(settings[4]);
    const SgdNumbers numbers{static_cast<float>(settings[0]),
                             static_cast<float>(settings[1]),
                             static_cast<float>(settings[2]),
                             static_cast<float>(settings[3]),
                             maximize ? -scale : scale,
                             static_cast<float>(settings[5]),
                             nesterov};
    ForLines(size, 1, [&](int64_t begin, int64_t end) {
      take(In<float>(in[0]), In<float>(in[1]), velocity, numbers, begin, end, Out<float>(out[0]),
           Out<float>(out[1]));
    });
  }
};

/*! \brief The numbers of a step of Adam, as it needs them. */
struct AdamNumbers {
  float sign;
  float kept;  /*!< what the parameter is multiplied by */
  float decay; /*!< what of the parameter is added to the gradient */
  float mean_share;
  float square_kept;
  float square_share;
  float spread;
  float epsilon;
  float rate;
};

/*! \brief With the largest square there was (kMost), as AMSGrad has it. */
template <bool kMost>
struct TakeAdamStep {
  static MXNET_ALWAYS_INLINE void Run(const float* w, const float* g, const float* mean,
                                      const float* square, const float* most, const AdamNumbers& by,
                                      int64_t begin, int64_t end, float* new_w, float* new_mean,
                                      float* new_square, float* new_most) {
#pragma GCC ivdep
    for (int64_t i = begin; i < end; ++i) {
      const float from = w[i] * by.kept;
      const float given = by.sign * g[i] + by.decay * from;
      const float first = mean[i] + by.mean_share * (given - mean[i]);
      const float second = by.square_kept * square[i] + by.square_share * given * given;
      new_mean[i] = first;
      new_square[i] = second;
      float by_square = second;
      if (kMost) {
        const float kept = most[i];
        // NaN stays, as torch has it.
        by_square = second <= kept ? kept : (kept != kept ? kept : second);
        new_most[i] = by_square;
      }
      new_w[i] = from - by.rate * first / (std::sqrt(by_square) / by.spread + by.epsilon);
    }
  }
};

template <bool kMost>
struct AdamStep {
  int64_t size;
  bool decoupled;
  bool maximize;

  void Run(const DLTensor* in, int, DLTensor* out, int, void*) const {
    static const auto take = op::ForWideCpu<TakeAdamStep<kMost>>();
    const auto* settings = In<double>(in[2]);
    const double rate = settings[0];
    const double decay = settings[4];
    const AdamNumbers numbers{maximize ? -1.0f : 1.0f,
                              decoupled ? static_cast<float>(1 - rate * decay) : 1.0f,
                              decoupled ? 0.0f : static_cast<float>(decay),
                              static_cast<float>(1 - settings[1]),
                              static_cast<float>(settings[2]),
                              static_cast<float>(1 - settings[2]),
                              static_cast<float>(settings[6]),
                              static_cast<float>(settings[3]),
                              static_cast<float>(rate / settings[5])};
    const float* most = kMost ? In<float>(in[5]) : nullptr;
    float* new_most = kMost ? Out<float>(out[3]) : nullptr;
    ForLines(size, 1, [&](int64_t begin, int64_t end) {
      take(In<float>(in[0]), In<float>(in[1]), In<float>(in[3]), In<float>(in[4]), most, numbers,
           begin, end, Out<float>(out[0]), Out<float>(out[1]), Out<float>(out[2]), new_most);
    });
  }
};

/*! \brief An output that may lie where an input does. */
KernelOutput Renewed(const Shape& shape, int input) {
  KernelOutput output{kFloat32, shape};
  output.in_place = input;
  return output;
}

Ref<Kernel> MakeSgdStep(const Shape& shape, bool has_velocity, bool nesterov, bool maximize) {
  CheckShape("shape", shape);
  std::vector<KernelInput> inputs{{kFloat32, shape}, {kFloat32, shape}, {kFloat64, {6}}};
  if (has_velocity) inputs.push_back({kFloat32, shape});
  return op::MakeKernel(
      "training.sgd_step", std::move(inputs),
      {Renewed(shape, 0), Renewed(shape, has_velocity ? 3 : 1)},
      std::unique_ptr<SgdStep>(new SgdStep{SizeOf(shape), has_velocity, nesterov, maximize}));
}

template <bool kMost>
Ref<Kernel> MakeAdam(const Shape& shape, bool decoupled, bool maximize) {
  const KernelInput of_shape{kFloat32, shape};
  std::vector<KernelInput> inputs{of_shape, of_shape, {kFloat64, {7}}, of_shape, of_shape};
  std::vector<KernelOutput> outputs{Renewed(shape, 0), Renewed(shape, 3), Renewed(shape, 4)};
  if (kMost) {
    inputs.push_back(of_shape);
    outputs.push_back(Renewed(shape, 5));
  }
  return op::MakeKernel(
      "training.adam_step", std::move(inputs), std::move(outputs),
      std::unique_ptr<AdamStep<kMost>>(new AdamStep<kMost>{SizeOf(shape), decoupled, maximize}));
}

Ref<Kernel> MakeAdamStep(const Shape& shape, bool decoupled, bool maximize, bool has_most) {
  CheckShape("shape", shape);
  return has_most ? MakeAdam<true>(shape, decoupled, maximize)
                  : MakeAdam<false>(shape, decoupled, maximize);
}

MXNET_REGISTER_API("mx.graph.training.sgd_step")
    .describe("A kernel: a parameter, its gradient, settings[, its velocity] to both after a step.")
    .arg("shape", "Of the parameter.")
    .arg("has_velocity")
    .arg("nesterov")
    .arg("maximize")
    .name_errors()
    .set_body_typed(&MakeSgdStep);

MXNET_REGISTER_API("mx.graph.training.adam_step")
    .describe(
        "A kernel: a parameter, its gradient, settings, two moments[, the largest second one] to "
        "all but settings and gradient after a step.")
    .arg("shape", "Of the parameter.")
    .arg("decoupled", "Whether the weight decay is that of AdamW.")
    .arg("maximize")
    .arg("has_most", "Whether there is the largest second moment.")
    .name_errors()
    .set_body_typed(&MakeAdamStep);

}  // namespace
}  // namespace training
}  // namespace graph
}  // namespace mxnet
