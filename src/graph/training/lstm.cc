/*!
 * \file lstm.cc
 * \brief One direction of an LSTM in training, and what it is differentiated by.
 */
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/stl.h>

#include <cstring>
#include <memory>

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

/* ---- gates are i, o, f, c, as ONNX has them ---- */

struct AddBody {
  static MXNET_ALWAYS_INLINE void Run(const float* a, const float* b, int64_t n, float* out) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
  }
};

/*! \brief The new state of the cell, behind its gates. */
struct RenewCell {
  static MXNET_ALWAYS_INLINE void Run(const float* before, int64_t n, float* saved) {
    const float* in = saved;
    const float* forget = saved + 2 * n;
    const float* given = saved + 3 * n;
    float* cell = saved + 4 * n;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) cell[i] = forget[i] * before[i] + in[i] * given[i];
  }
};

struct MultiplyBody {
  static MXNET_ALWAYS_INLINE void Run(const float* by, int64_t n, float* x) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) x[i] *= by[i];
  }
};

/*! \brief linear, a matrix, h and c of the beginning to all h, the last h and c, and what the
 * gradient needs. */
struct Lstm {
  Sequence sequence;
  Product product;

  size_t gates_bytes() const { return static_cast<size_t>(4 * sequence.state()) * sizeof(float); }
  size_t workspace() const { return product.workspace() + gates_bytes(); }

  void Run(const DLTensor* in, int, DLTensor* out, int, void* workspace) const {
    const int64_t n = sequence.hidden;
    const int64_t state = sequence.state();
    auto* gates = reinterpret_cast<float*>(static_cast<char*>(workspace) + product.workspace());
    const auto* linear = In<float>(in[0]);
    auto* y = Out<float>(out[0]);
    auto* saved = Out<float>(out[3]);
    const float* h = In<float>(in[2]);
    const float* c = In<float>(in[3]);
    int64_t c_stride = n;
    for (int64_t position = 0; position < sequence.steps; ++position) {
      const int64_t step = sequence.step(position);
      product.Run(h, in[1], gates, workspace);
      float* next = y + step * state;
      float* kept = saved + 5 * step * state;
      ForLines(sequence.batch, 8 * n, [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; ++b) {
          Row(linear + 4 * (step * state + b * n), gates + 4 * b * n, c + b * c_stride,
              kept + 5 * b * n, next + b * n);
        }
      });
      h = next;
      c = kept + 4 * n;
      c_stride = 5 * n;
    }
    std::memcpy(Out<float>(out[1]), h, static_cast<size_t>(state) * sizeof(float));
    for (int64_t b = 0; b < sequence.batch; ++b) {
      std::copy(c + b * c_stride, c + b * c_stride + n, Out<float>(out[2]) + b * n);
    }
  }

 private:
  void Row(const float* linear, const float* gates, const float* c, float* saved, float* h) const {
    static const auto add = op::ForWideCpu<AddBody>();
    static const auto renew = op::ForWideCpu<RenewCell>();
    static const auto multiply = op::ForWideCpu<MultiplyBody>();
    const int64_t n = sequence.hidden;
    SigmoidOfSum(linear, gates, 3 * n, saved);
    add(linear + 3 * n, gates + 3 * n, n, saved + 3 * n);
    TanhRun(saved + 3 * n, saved + 3 * n, n);
    renew(c, n, saved);
    TanhRun(saved + 4 * n, h, n);
    multiply(saved + n, n, h);
  }
};

/*! \brief The gradients of gates and of the cell before. steep is the hyperbolic tangent of c. */
struct DifferentiateCell {
  static MXNET_ALWAYS_INLINE void Run(const float* dy, const float* saved, const float* before,
                                      const float* steep, int64_t n, float* d_h, float* d_c,
                                      float* d_gates) {
    const float* in = saved;
    const float* out = saved + n;
    const float* forget = saved + 2 * n;
    const float* given = saved + 3 * n;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const float gradient = dy == nullptr ? d_h[i] : d_h[i] + dy[i];
      const float cell = d_c[i] + gradient * out[i] * (1 - steep[i] * steep[i]);
      d_gates[i] = cell * given[i] * in[i] * (1 - in[i]);
      d_gates[n + i] = gradient * steep[i] * out[i] * (1 - out[i]);
      d_gates[2 * n + i] = cell * before[i] * forget[i] * (1 - forget[i]);
      d_gates[3 * n + i] = cell * in[i] * (1 - given[i] * given[i]);
      d_c[i] = cell * forget[i];
    }
  }
};

/*! \brief Gradients of the last h and c, what was saved, c of the beginning, a matrix[, gradients
 * of all h] to gradients of gates and of the first h and c. */
struct LstmGradient {
  Sequence sequence;
  Product product;
  bool has_dy;

  size_t workspace() const {
    return product.workspace() + static_cast<size_t>(sequence.state()) * sizeof(float);
  }

  void Run(const DLTensor* in, int, DLTensor* out, int, void* workspace) const {
    static const auto differentiate = op::ForWideCpu<DifferentiateCell>();
    const int64_t n = sequence.hidden;
    const int64_t state = sequence.state();
    auto* steep = reinterpret_cast<float*>(static_cast<char*>(workspace) + product.workspace());
    const auto* saved = In<float>(in[2]);
    const float* dy = has_dy ? In<float>(in[5]) : nullptr;
    auto* d_gates = Out<float>(out[0]);
    auto* d_h = Out<float>(out[1]);
    auto* d_c = Out<float>(out[2]);
    std::memcpy(d_h, In<float>(in[0]), static_cast<size_t>(state) * sizeof(float));
    std::memcpy(d_c, In<float>(in[1]), static_cast<size_t>(state) * sizeof(float));
    for (int64_t position = sequence.steps; position-- > 0;) {
      const int64_t step = sequence.step(position);
      const bool is_first = position == 0;
      const float* before =
          is_first ? In<float>(in[3]) : saved + 5 * sequence.step(position - 1) * state + 4 * n;
      const int64_t stride = is_first ? n : 5 * n;
      const float* kept = saved + 5 * step * state;
      const float* given = dy == nullptr ? nullptr : dy + step * state;
      ForLines(sequence.batch, 8 * n, [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; ++b) {
          TanhRun(kept + 5 * b * n + 4 * n, steep + b * n, n);
          differentiate(given == nullptr ? nullptr : given + b * n, kept + 5 * b * n,
                        before + b * stride, steep + b * n, n, d_h + b * n, d_c + b * n,
                        d_gates + 4 * (step * state + b * n));
        }
      });
      product.Run(d_gates + 4 * step * state, in[4], d_h, workspace);
    }
  }
};

Ref<Kernel> MakeLstm(const Shape& extents, bool is_reversed, const Ref<Kernel>& product) {
  const Sequence of = SequenceOf(extents, is_reversed, 5);
  auto state =
      std::unique_ptr<Lstm>(new Lstm{of, Product(product, of.batch, of.hidden, 4 * of.hidden)});
  const Shape one{of.batch, of.hidden};
  const size_t workspace = state->workspace();
  std::vector<KernelInput> inputs{{kFloat32, {of.steps, of.batch, 4 * of.hidden}},
                                  state->product.matrix(),
                                  {kFloat32, one},
                                  {kFloat32, one}};
  return op::MakeKernel(
      "training.lstm", std::move(inputs),
      {KernelOutput{kFloat32, {of.steps, of.batch, of.hidden}}, KernelOutput{kFloat32, one},
       KernelOutput{kFloat32, one}, KernelOutput{kFloat32, {of.steps, of.batch, 5 * of.hidden}}},
      std::move(state), workspace);
}

Ref<Kernel> MakeLstmGradient(const Shape& extents, bool is_reversed, const Ref<Kernel>& product,
                             bool has_dy) {
  const Sequence of = SequenceOf(extents, is_reversed, 5);
  auto state = std::unique_ptr<LstmGradient>(
      new LstmGradient{of, Product(product, of.batch, 4 * of.hidden, of.hidden), has_dy});
  const Shape one{of.batch, of.hidden};
  const size_t workspace = state->workspace();
  std::vector<KernelInput> inputs{{kFloat32, one},
                                  {kFloat32, one},
                                  {kFloat32, {of.steps, of.batch, 5 * of.hidden}},
                                  {kFloat32, one},
                                  state->product.matrix()};
  if (has_dy) inputs.push_back({kFloat32, {of.steps, of.batch, of.hidden}});
  return op::MakeKernel("training.lstm_grad", std::move(inputs),
                        {KernelOutput{kFloat32, {of.steps, of.batch, 4 * of.hidden}},
                         KernelOutput{kFloat32, one}, KernelOutput{kFloat32, one}},
                        std::move(state), workspace);
}

MXNET_REGISTER_API("mx.graph.training.lstm")
    .describe(
        "A kernel for one direction: x times its weights with biases, the matrix of "
        "`product`, h and c of the beginning to all h, the last h and c, and for each step "
        "gates and c.")
    .arg("extents", "Steps, batch and the extent of the state.")
    .arg("is_reversed", "Whether the last step is taken first.")
    .arg("product", "A kernel of h times the recurrent weights, transposed.")
    .name_errors()
    .set_body_typed(&MakeLstm);

MXNET_REGISTER_API("mx.graph.training.lstm_grad")
    .describe(
        "A kernel for one direction: the gradients of the last h and c, what was saved, c of "
        "the beginning, the matrix of `product`[, the gradients of all h] to the gradients of "
        "gates, and of h and c of the beginning.")
    .arg("extents", "Steps, batch and the extent of the state.")
    .arg("is_reversed", "Whether the last step is taken first.")
    .arg("product", "A kernel of gates times the recurrent weights.")
    .arg("has_dy", "Whether gradients of all h are given.")
    .name_errors()
    .set_body_typed(&MakeLstmGradient);

}  // namespace
}  // namespace training
}  // namespace graph
}  // namespace mxnet
