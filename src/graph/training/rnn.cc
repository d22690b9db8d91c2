/*!
 * \file rnn.cc
 * \brief What one direction of a plain recurrent layer is differentiated by.
 */
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/stl.h>

#include <cstring>
#include <memory>
#include <string>

#include "graph/training/checks.h"
#include "graph/training/recurrent.h"

namespace mxnet {
namespace graph {
namespace training {
namespace {

using op::Kernel;
using op::KernelInput;
using op::KernelOutput;
using runtime::kFloat32;
using runtime::Ref;

enum class Activation { kTanh, kRelu, kSigmoid };

/*! \brief The gradient of what the activation is of, of those of its result y. */
template <Activation activation>
struct DifferentiateActivation {
  static MXNET_ALWAYS_INLINE void Run(const float* dy, const float* y, const float* d_h, int64_t n,
                                      float* made) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const float gradient = dy == nullptr ? d_h[i] : d_h[i] + dy[i];
      float slope = y[i] > 0 ? 1.0f : 0.0f;
      if (activation == Activation::kTanh) slope = 1 - y[i] * y[i];
      if (activation == Activation::kSigmoid) slope = y[i] * (1 - y[i]);
      made[i] = gradient * slope;
    }
  }
};

using Differentiate = void (*)(const float* dy, const float* y, const float* d_h, int64_t n,
                               float* made);

/*! \brief The gradient of the last h, all h, a matrix[, gradients of all h] to gradients of what
 * the activation is of, and of the first h. */
struct RnnGradient {
  Sequence sequence;
  Product product;
  Differentiate differentiate;
  bool has_dy;

  size_t workspace() const { return product.workspace(); }

  void Run(const DLTensor* in, int, DLTensor* out, int, void* workspace) const {
    const int64_t n = sequence.hidden;
    const int64_t state = sequence.state();
    const auto* y = In<float>(in[1]);
    const float* dy = has_dy ? In<float>(in[3]) : nullptr;
    auto* d_gates = Out<float>(out[0]);
    auto* d_h = Out<float>(out[1]);
    std::memcpy(d_h, In<float>(in[0]), static_cast<size_t>(state) * sizeof(float));
    for (int64_t position = sequence.steps; position-- > 0;) {
      const int64_t first = sequence.step(position) * state;
      ForLines(sequence.batch, n, [&](int64_t begin, int64_t end) {
        const int64_t at = first + begin * n;
        differentiate(dy == nullptr ? nullptr : dy + at, y + at, d_h + begin * n, (end - begin) * n,
                      d_gates + at);
      });
      product.Run(d_gates + first, in[2], d_h, workspace);
    }
  }
};

Differentiate Find(const std::string& activation) {
  if (activation == "Tanh") return op::ForWideCpu<DifferentiateActivation<Activation::kTanh>>();
  if (activation == "Relu") return op::ForWideCpu<DifferentiateActivation<Activation::kRelu>>();
  if (activation == "Sigmoid") {
    return op::ForWideCpu<DifferentiateActivation<Activation::kSigmoid>>();
  }
  MXNET_THROW("ValueError") << "activation: expected Tanh, Relu or Sigmoid, got '" << activation
                            << "'";
}

Ref<Kernel> MakeRnnGradient(const Shape& extents, bool is_reversed, const Ref<Kernel>& product,
                            const std::string& activation, bool has_dy) {
  const Sequence of = SequenceOf(extents, is_reversed, 1);
  auto state = std::unique_ptr<RnnGradient>(new RnnGradient{
      of, Product(product, of.batch, of.hidden, of.hidden), Find(activation), has_dy});
  const Shape one{of.batch, of.hidden};
  const Shape every{of.steps, of.batch, of.hidden};
  const size_t workspace = state->workspace();
  std::vector<KernelInput> inputs{{kFloat32, one}, {kFloat32, every}, state->product.matrix()};
  if (has_dy) inputs.push_back({kFloat32, every});
  return op::MakeKernel("training.rnn_grad", std::move(inputs),
                        {KernelOutput{kFloat32, every}, KernelOutput{kFloat32, one}},
                        std::move(state), workspace);
}

MXNET_REGISTER_API("mx.graph.training.rnn_grad")
    .describe(
        "A kernel for one direction: the gradient of the last h, all h, the matrix of `product`[, "
        "the gradients of all h] to those of what the activation is of, and of h of the beginning.")
    .arg("extents", "Steps, batch and the extent of the state.")
    .arg("is_reversed", "Whether the last step is taken first.")
    .arg("product", "A kernel of h times the recurrent weights.")
    .arg("activation", "Tanh, Relu or Sigmoid.")
    .arg("has_dy", "Whether gradients of all h are given.")
    .name_errors()
    .set_body_typed(&MakeRnnGradient);

}  // namespace
}  // namespace training
}  // namespace graph
}  // namespace mxnet
