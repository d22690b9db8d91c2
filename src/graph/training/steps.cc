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

struct TakeSgdStep {
  static MXNET_ALWAYS_INLINE void Run(const float* w, const float* g, const float* velocity,
                                      float sign, float rate, float momentum, float decay,
                                      bool nesterov, int64_t begin, int64_t end, float* new_w,
                                      float* new_velocity) {
    if (velocity == nullptr) {
#pragma GCC ivdep
      for (int64_t i = begin; i < end; ++i) {
        const float direction = sign * g[i] + decay * w[i];
        const float taken = nesterov ? direction + momentum * direction : direction;
        new_w[i] = w[i] - rate * taken;
        new_velocity[i] = direction;
      }
      return;
    }
#pragma GCC ivdep
    for (int64_t i = begin; i < end; ++i) {
      const float direction = sign * g[i] + decay * w[i];
      const float made = momentum * velocity[i] + direction;
      const float taken = nesterov ? direction + momentum * made : made;
      new_w[i] = w[i] - rate * taken;
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
    ForLines(size, 1, [&](int64_t begin, int64_t end) {
      take(In<float>(in[0]), In<float>(in[1]), velocity, maximize ? -1.0f : 1.0f,
           static_cast<float>(settings[0]), static_cast<float>(settings[1]),
           static_cast<float>(settings[2]), nesterov, begin, end, Out<float>(out[0]),
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

struct TakeAdamStep {
  static MXNET_ALWAYS_INLINE void Run(const float* w, const float* g, const float* mean,
                                      const float* square, const AdamNumbers& by, int64_t begin,
                                      int64_t end, float* new_w, float* new_mean,
                                      float* new_square) {
#pragma GCC ivdep
    for (int64_t i = begin; i < end; ++i) {
      const float from = w[i] * by.kept;
      const float given = by.sign * g[i] + by.decay * from;
      const float first = mean[i] + by.mean_share * (given - mean[i]);
      const float second = by.square_kept * square[i] + by.square_share * given * given;
      new_mean[i] = first;
      new_square[i] = second;
      new_w[i] = from - by.rate * first / (std::sqrt(second) / by.spread + by.epsilon);
    }
  }
};

struct AdamStep {
  int64_t size;
  bool decoupled;
  bool maximize;

  void Run(const DLTensor* in, int, DLTensor* out, int, void*) const {
    static const auto take = op::ForWideCpu<TakeAdamStep>();
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
    ForLines(size, 1, [&](int64_t begin, int64_t end) {
      take(In<float>(in[0]), In<float>(in[1]), In<float>(in[3]), In<float>(in[4]), numbers, begin,
           end, Out<float>(out[0]), Out<float>(out[1]), Out<float>(out[2]));
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
  std::vector<KernelInput> inputs{{kFloat32, shape}, {kFloat32, shape}, {kFloat64, {3}}};
  if (has_velocity) inputs.push_back({kFloat32, shape});
  return op::MakeKernel(
      "training.sgd_step", std::move(inputs),
      {Renewed(shape, 0), Renewed(shape, has_velocity ? 3 : 1)},
      std::unique_ptr<SgdStep>(new SgdStep{SizeOf(shape), has_velocity, nesterov, maximize}));
}

Ref<Kernel> MakeAdamStep(const Shape& shape, bool decoupled, bool maximize) {
  CheckShape("shape", shape);
  const KernelInput of_shape{kFloat32, shape};
  return op::MakeKernel(
      "training.adam_step", {{of_shape, of_shape, KernelInput{kFloat64, {7}}, of_shape, of_shape}},
      {Renewed(shape, 0), Renewed(shape, 3), Renewed(shape, 4)},
      std::unique_ptr<AdamStep>(new AdamStep{SizeOf(shape), decoupled, maximize}));
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
        "A kernel: a parameter, its gradient, settings and two moments to those after a "
        "step.")
    .arg("shape", "Of the parameter.")
    .arg("decoupled", "Whether the weight decay is that of AdamW.")
    .arg("maximize")
    .name_errors()
    .set_body_typed(&MakeAdamStep);

}  // namespace
}  // namespace training
}  // namespace graph
}  // namespace mxnet
