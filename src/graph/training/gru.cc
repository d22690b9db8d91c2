/*!
 * \file gru.cc
 * \brief One direction of a GRU in training, and what it is differentiated by.
 */
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/stl.h>

#include <cstring>
#include <memory>
#include <optional>

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

/* ---- gates are z, r, h, as ONNX has them; of a step z, r, h and what r multiplies are saved ----
 */

/*! \brief What the hyperbolic tangent is taken of, where r multiplies a product with its bias. */
struct ResetBehind {
  static MXNET_ALWAYS_INLINE void Run(const float* linear, const float* product, const float* bias,
                                      int64_t n, float* saved) {
    const float* reset = saved + n;
    float* given = saved + 2 * n;
    float* inner = saved + 3 * n;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      inner[i] = product[i] + bias[i];
      given[i] = linear[i] + reset[i] * inner[i];
    }
  }
};

struct MultiplyTwo {
  static MXNET_ALWAYS_INLINE void Run(const float* a, const float* b, int64_t n, float* out) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = a[i] * b[i];
  }
};

/*! \brief The same where r multiplies the state: a product that has been added up already. */
struct ResetBefore {
  static MXNET_ALWAYS_INLINE void Run(const float* linear, const float* product, int64_t n,
                                      float* saved) {
    float* given = saved + 2 * n;
    float* inner = saved + 3 * n;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      given[i] = linear[i] + product[i];
      inner[i] = 0;
    }
  }
};

struct RenewState {
  static MXNET_ALWAYS_INLINE void Run(const float* saved, const float* before, int64_t n,
                                      float* h) {
    const float* update = saved;
    const float* given = saved + 2 * n;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) h[i] = (1 - update[i]) * given[i] + update[i] * before[i];
  }
};

size_t BytesOf(int64_t numbers) { return static_cast<size_t>(numbers) * sizeof(float); }

float* Behind(void* workspace, size_t bytes) {
  return reinterpret_cast<float*>(static_cast<char*>(workspace) + bytes);
}

/*! \brief linear, h of the beginning, and a matrix with a bias, or two matrices, to all h, the last
 * one, and what the gradient needs. */
struct Gru {
  Sequence sequence;
  Product product;                  // of all gates, or of z and r
  std::unique_ptr<Product> behind;  // of r * h, where r multiplies that

  size_t products() const {
    return std::max(product.workspace(), behind ? behind->workspace() : size_t{0});
  }
  size_t workspace() const { return products() + BytesOf(4 * sequence.state()); }

  void Run(const DLTensor* in, int, DLTensor* out, int, void* workspace) const {
    const int64_t n = sequence.hidden;
    const int64_t state = sequence.state();
    float* gates = Behind(workspace, products());
    const auto* linear = In<float>(in[0]);
    auto* y = Out<float>(out[0]);
    auto* saved = Out<float>(out[2]);
    const float* h = In<float>(in[1]);
    for (int64_t position = 0; position < sequence.steps; ++position) {
      const int64_t step = sequence.step(position);
      const float* given = linear + 3 * step * state;
      float* kept = saved + 4 * step * state;
      float* next = y + step * state;
      product.Run(h, in[2], gates, workspace);
      if (behind) {
        StepBefore(given, in[3], gates, h, kept, next, workspace);
      } else {
        const auto* bias = In<float>(in[3]);
        ForRows(7 * n, [&](int64_t b) {
          RowBehind(given + 3 * b * n, gates + 3 * b * n, bias, h + b * n, kept + 4 * b * n,
                    next + b * n);
        });
      }
      h = next;
    }
    std::memcpy(Out<float>(out[1]), h, BytesOf(state));
  }

 private:
  template <typename Row>
  void ForRows(int64_t length, const Row& row) const {
    ForLines(sequence.batch, length, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) row(b);
    });
  }

  void RowBehind(const float* linear, const float* gates, const float* bias, const float* before,
                 float* saved, float* h) const {
    static const auto reset = op::ForWideCpu<ResetBehind>();
    const int64_t n = sequence.hidden;
    SigmoidOfSum(linear, gates, 2 * n, saved);
    reset(linear + 2 * n, gates + 2 * n, bias, n, saved);
    Renew(before, saved, h);
  }

  void StepBefore(const float* linear, const DLTensor& matrix, float* gates, const float* h,
                  float* saved, float* next, void* workspace) const {
    static const auto multiply = op::ForWideCpu<MultiplyTwo>();
    static const auto reset = op::ForWideCpu<ResetBefore>();
    const int64_t n = sequence.hidden;
    float* read = gates + 2 * sequence.state();
    float* made = read + sequence.state();
    ForRows(4 * n, [&](int64_t b) {
      SigmoidOfSum(linear + 3 * b * n, gates + 2 * b * n, 2 * n, saved + 4 * b * n);
      multiply(saved + 4 * b * n + n, h + b * n, n, read + b * n);
    });
    behind->Run(read, matrix, made, workspace);
    ForRows(4 * n, [&](int64_t b) {
      reset(linear + 3 * b * n + 2 * n, made + b * n, n, saved + 4 * b * n);
      Renew(h + b * n, saved + 4 * b * n, next + b * n);
    });
  }

  void Renew(const float* before, float* saved, float* h) const {
    static const auto renew = op::ForWideCpu<RenewState>();
    const int64_t n = sequence.hidden;
    TanhRun(saved + 2 * n, saved + 2 * n, n);
    renew(saved, before, n, h);
  }
};

/*! \brief The gradients of z and of what the hyperbolic tangent is taken of, and what of the
 * gradient goes past the gates. */
MXNET_ALWAYS_INLINE void DifferentiateState(const float* saved, const float* before, int64_t n,
                                            const float* d_h, float* d_update, float* d_given,
                                            float* past) {
  const float* update = saved;
  const float* given = saved + 2 * n;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    d_update[i] = d_h[i] * (before[i] - given[i]) * update[i] * (1 - update[i]);
    d_given[i] = d_h[i] * (1 - update[i]) * (1 - given[i] * given[i]);
    past[i] = d_h[i] * update[i];
  }
}

/*! \brief Gradients of gates: `d_gates` for what comes of x, `d_again` for what comes of h. */
struct DifferentiateBehind {
  static MXNET_ALWAYS_INLINE void Run(const float* saved, const float* before, int64_t n,
                                      const float* d_h, float* d_gates, float* d_again,
                                      float* past) {
    DifferentiateState(saved, before, n, d_h, d_gates, d_gates + 2 * n, past);
    const float* reset = saved + n;
    const float* inner = saved + 3 * n;
    const float* d_given = d_gates + 2 * n;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      d_gates[n + i] = d_given[i] * inner[i] * reset[i] * (1 - reset[i]);
      d_again[i] = d_gates[i];
      d_again[n + i] = d_gates[n + i];
      d_again[2 * n + i] = d_given[i] * reset[i];
    }
  }
};

struct DifferentiateOutside {
  static MXNET_ALWAYS_INLINE void Run(const float* saved, const float* before, int64_t n,
                                      const float* d_h, float* d_gates, float* d_given,
                                      float* past) {
    DifferentiateState(saved, before, n, d_h, d_gates, d_given, past);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) d_gates[2 * n + i] = d_given[i];
  }
};

/*! \brief The gradient of r, of that of r * h; z and r side by side, too. */
struct DifferentiateReset {
  static MXNET_ALWAYS_INLINE void Run(const float* saved, const float* before, int64_t n,
                                      const float* d_read, float* d_gates, float* pair,
                                      float* past) {
    const float* reset = saved + n;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      d_gates[n + i] = d_read[i] * before[i] * reset[i] * (1 - reset[i]);
      pair[i] = d_gates[i];
      pair[n + i] = d_gates[n + i];
      past[i] += d_read[i] * reset[i];
    }
  }
};

struct AddTo {
  static MXNET_ALWAYS_INLINE void Run(const float* x, int64_t n, float* sum) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) sum[i] += x[i];
  }
};

/*! \brief The gradient of the last h, what was saved, all h, h of the beginning, a matrix or two[,
 * gradients of all h] to gradients of gates of x[, of h], and of the first h. */
struct GruGradient {
  Sequence sequence;
  Product product;                  // of gradients of all gates, or of z and r
  std::unique_ptr<Product> behind;  // of the gradient of h, where r multiplies the state
  bool has_dy;

  size_t products() const {
    return std::max(product.workspace(), behind ? behind->workspace() : size_t{0});
  }
  size_t workspace() const { return products() + BytesOf(5 * sequence.state()); }

  void Run(const DLTensor* in, int, DLTensor* out, int, void* workspace) const {
    const int64_t state = sequence.state();
    float* past = Behind(workspace, products());
    const auto* saved = In<float>(in[1]);
    const auto* y = In<float>(in[2]);
    const float* dy = has_dy ? In<float>(in[behind ? 6 : 5]) : nullptr;
    auto* d_gates = Out<float>(out[0]);
    auto* d_h = Out<float>(out[1]);
    std::memcpy(d_h, In<float>(in[0]), BytesOf(state));
    for (int64_t position = sequence.steps; position-- > 0;) {
      const int64_t step = sequence.step(position);
      const float* before =
          position == 0 ? In<float>(in[3]) : y + sequence.step(position - 1) * state;
      if (dy != nullptr) Add(dy + step * state, d_h);
      const float* kept = saved + 4 * step * state;
      float* made = d_gates + 3 * step * state;
      if (behind) {
        StepBefore(kept, before, in, made, past, d_h, workspace);
      } else {
        StepBehind(kept, before, in[4], made, Out<float>(out[2]) + 3 * step * state, past, d_h,
                   workspace);
      }
      Add(past, d_h);
    }
  }

 private:
  void Add(const float* x, float* sum) const {
    static const auto add = op::ForWideCpu<AddTo>();
    const int64_t n = sequence.hidden;
    ForLines(sequence.batch, n, [&](int64_t begin, int64_t end) {
      add(x + begin * n, (end - begin) * n, sum + begin * n);
    });
  }

  void StepBehind(const float* saved, const float* before, const DLTensor& matrix, float* d_gates,
                  float* d_again, float* past, float* d_h, void* workspace) const {
    static const auto differentiate = op::ForWideCpu<DifferentiateBehind>();
    const int64_t n = sequence.hidden;
    ForLines(sequence.batch, 8 * n, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        differentiate(saved + 4 * b * n, before + b * n, n, d_h + b * n, d_gates + 3 * b * n,
                      d_again + 3 * b * n, past + b * n);
      }
    });
    product.Run(d_again, matrix, d_h, workspace);
  }

  void StepBefore(const float* saved, const float* before, const DLTensor* in, float* d_gates,
                  float* past, float* d_h, void* workspace) const {
    static const auto differentiate = op::ForWideCpu<DifferentiateOutside>();
    static const auto reset = op::ForWideCpu<DifferentiateReset>();
    const int64_t n = sequence.hidden;
    float* d_given = past + sequence.state();
    float* d_read = d_given + sequence.state();
    float* pair = d_read + sequence.state();
    ForLines(sequence.batch, 8 * n, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        differentiate(saved + 4 * b * n, before + b * n, n, d_h + b * n, d_gates + 3 * b * n,
                      d_given + b * n, past + b * n);
      }
    });
    behind->Run(d_given, in[5], d_read, workspace);
    ForLines(sequence.batch, 8 * n, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        reset(saved + 4 * b * n, before + b * n, n, d_read + b * n, d_gates + 3 * b * n,
              pair + 2 * b * n, past + b * n);
      }
    });
    product.Run(pair, in[4], d_h, workspace);
  }
};

/*! \brief The product of h, or its gradient, by the weights of one gate; none without a kernel. */
std::unique_ptr<Product> ProductOf(const std::optional<Ref<Kernel>>& kernel, const Sequence& of) {
  if (!kernel) return nullptr;
  return std::unique_ptr<Product>(new Product(*kernel, of.batch, of.hidden, of.hidden));
}

Ref<Kernel> MakeGru(const Shape& extents, bool is_reversed, const Ref<Kernel>& product,
                    const std::optional<Ref<Kernel>>& behind) {
  const Sequence of = SequenceOf(extents, is_reversed, 4);
  const int64_t gates = behind ? 2 : 3;
  auto state = std::unique_ptr<Gru>(
      new Gru{of, Product(product, of.batch, of.hidden, gates * of.hidden), ProductOf(behind, of)});
  const Shape one{of.batch, of.hidden};
  const size_t workspace = state->workspace();
  std::vector<KernelInput> inputs{
      {kFloat32, {of.steps, of.batch, 3 * of.hidden}}, {kFloat32, one}, state->product.matrix()};
  inputs.push_back(behind ? state->behind->matrix() : KernelInput{kFloat32, {of.hidden}});
  return op::MakeKernel(
      "training.gru", std::move(inputs),
      {KernelOutput{kFloat32, {of.steps, of.batch, of.hidden}}, KernelOutput{kFloat32, one},
       KernelOutput{kFloat32, {of.steps, of.batch, 4 * of.hidden}}},
      std::move(state), workspace);
}

Ref<Kernel> MakeGruGradient(const Shape& extents, bool is_reversed, const Ref<Kernel>& product,
                            const std::optional<Ref<Kernel>>& behind, bool has_dy) {
  const Sequence of = SequenceOf(extents, is_reversed, 4);
  const int64_t gates = behind ? 2 : 3;
  auto state = std::unique_ptr<GruGradient>(new GruGradient{
      of, Product(product, of.batch, gates * of.hidden, of.hidden), ProductOf(behind, of), has_dy});
  const Shape one{of.batch, of.hidden};
  const Shape every{of.steps, of.batch, of.hidden};
  const Shape wide{of.steps, of.batch, 3 * of.hidden};
  const size_t workspace = state->workspace();
  std::vector<KernelInput> inputs{{kFloat32, one},
                                  {kFloat32, {of.steps, of.batch, 4 * of.hidden}},
                                  {kFloat32, every},
                                  {kFloat32, one},
                                  state->product.matrix()};
  if (behind) inputs.push_back(state->behind->matrix());
  if (has_dy) inputs.push_back({kFloat32, every});
  std::vector<KernelOutput> outputs{KernelOutput{kFloat32, wide}, KernelOutput{kFloat32, one}};
  if (!behind) outputs.push_back(KernelOutput{kFloat32, wide});
  return op::MakeKernel("training.gru_grad", std::move(inputs), std::move(outputs),
                        std::move(state), workspace);
}

MXNET_REGISTER_API("mx.graph.training.gru")
    .describe(
        "A kernel for one direction: x times its weights with biases, h of the beginning, the "
        "matrix of `product`, and a bias, or the matrix of `behind`, to all h, the last h, and for "
        "each step gates and what r multiplies.")
    .arg("extents", "Steps, batch and the extent of the state.")
    .arg("is_reversed", "Whether the last step is taken first.")
    .arg("product",
         "A kernel of h times the recurrent weights, transposed, of all gates, or of z, r.")
    .arg("behind", "None, or a kernel of r * h times those of h, where r multiplies the state.")
    .name_errors()
    .set_body_typed(&MakeGru);

MXNET_REGISTER_API("mx.graph.training.gru_grad")
    .describe(
        "A kernel for one direction: the gradient of the last h, what was saved, all h, h of the "
        "beginning, the matrices of `product` and `behind`[, the gradients of all h] to the "
        "gradients of gates for x, of h of the beginning, and without `behind` of gates for h.")
    .arg("extents", "Steps, batch and the extent of the state.")
    .arg("is_reversed", "Whether the last step is taken first.")
    .arg("product", "A kernel of gates times the recurrent weights, of all, or of z and r.")
    .arg("behind", "None, or a kernel of one gate times those of h, where r multiplies the state.")
    .arg("has_dy", "Whether gradients of all h are given.")
    .name_errors()
    .set_body_typed(&MakeGruGradient);

}  // namespace
}  // namespace training
}  // namespace graph
}  // namespace mxnet
