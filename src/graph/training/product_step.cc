/*!
 * \file product_step.cc
 * \brief Steps of optimizers along gradients that are products of few terms, as those of the
 * weights of dense layers for small batches: what such a product gives need not be in memory.
 */
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/stl.h>

#include <memory>

#include "graph/training/checks.h"
#include "graph/training/lines.h"
#include "op/kernels/product/thin.h"

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

#if MXNET_CPU_LEVELS
/*! \brief Takes a step of stochastic gradient descent along elements of a gradient. */
struct Descend {
  int64_t columns;
  const float* w;
  const float* velocity;  // nullptr where there is none
  float* new_w;
  float* new_velocity;
  float rate;
  float momentum;
  float decay;
  float share;
  float scale;
  float kept;
  bool nesterov;

  MXNET_TARGET_AVX512 MXNET_ALWAYS_INLINE void Take(int64_t row, int64_t column, __m512 gradient,
                                                    __mmask16 mask) const {
    const int64_t at = row * columns + column;
    const __m512 from = _mm512_mul_ps(_mm512_set1_ps(kept), _mm512_maskz_loadu_ps(mask, w + at));
    const __m512 direction = _mm512_add_ps(_mm512_mul_ps(_mm512_set1_ps(scale), gradient),
                                           _mm512_mul_ps(_mm512_set1_ps(decay), from));
    __m512 made = direction;
    if (velocity != nullptr) {
      const __m512 before = _mm512_maskz_loadu_ps(mask, velocity + at);
      made = _mm512_add_ps(_mm512_mul_ps(_mm512_set1_ps(momentum), before),
                           _mm512_mul_ps(_mm512_set1_ps(share), direction));
    }
    const __m512 taken =
        nesterov ? _mm512_add_ps(direction, _mm512_mul_ps(_mm512_set1_ps(momentum), made)) : made;
    const __m512 step = _mm512_mul_ps(_mm512_set1_ps(rate), taken);
    _mm512_mask_storeu_ps(new_w + at, mask, _mm512_sub_ps(from, step));
    _mm512_mask_storeu_ps(new_velocity + at, mask, made);
  }

  MXNET_TARGET_AVX512 MXNET_ALWAYS_INLINE void Prefetch(int64_t row, int64_t column) const {
    if (column >= columns) return;
    const int64_t at = row * columns + column;
    for (int64_t i = 0; i < 4 * op::thin::kLanes; i += op::thin::kLanes) {
      __builtin_prefetch(w + at + i);
      if (velocity != nullptr) __builtin_prefetch(velocity + at + i);
    }
  }
  MXNET_ALWAYS_INLINE void End() const {}
};
#endif

struct SgdProductStep {
  int64_t m, n, k;
  bool has_velocity;
  bool nesterov;
  bool maximize;

  void Run([[maybe_unused]] const DLTensor* in, int, [[maybe_unused]] DLTensor* out, int,
           void*) const {
#if MXNET_CPU_LEVELS
    const auto* settings = In<double>(in[3]);
    const auto scale = static_cast<float>(settings[4]);
    const Descend descend{n,
                          In<float>(in[0]),
                          has_velocity ? In<float>(in[4]) : nullptr,
                          Out<float>(out[0]),
                          Out<float>(out[1]),
                          static_cast<float>(settings[0]),
                          static_cast<float>(settings[1]),
                          static_cast<float>(settings[2]),
                          static_cast<float>(settings[3]),
                          maximize ? -scale : scale,
                          static_cast<float>(settings[5]),
                          nesterov};
    op::thin::Product({m, n, k, In<float>(in[1]), 1, m, In<float>(in[2]), n}, descend);
#endif
  }
};

bool SuitsThin(int64_t m, int64_t n, int64_t k) {
  CheckNumbers("extents", {m, n, k}, 0);
  return op::thin::Suits(m, n, k);
}

Ref<Kernel> MakeSgdProductStep(const Shape& shape, int64_t terms, bool has_velocity, bool nesterov,
                               bool maximize) {
  CheckShape("shape", shape);
  if (shape.size() != 2 || !op::thin::Suits(shape[0], shape[1], terms)) {
    MXNET_THROW("ValueError") << "shape and terms: expected what thin_product takes, got "
                              << shape.size() << " axes and " << terms << " terms";
  }
  const int64_t m = shape[0];
  const int64_t n = shape[1];
  std::vector<KernelInput> inputs{
      {kFloat32, shape}, {kFloat32, {terms, m}}, {kFloat32, {terms, n}}, {kFloat64, {6}}};
  KernelOutput weight{kFloat32, shape};
  KernelOutput velocity{kFloat32, shape};
  weight.in_place = 0;
  if (has_velocity) {
    inputs.push_back({kFloat32, shape});
    velocity.in_place = 4;
  }
  return op::MakeKernel("training.sgd_product_step", std::move(inputs), {weight, velocity},
                        std::unique_ptr<SgdProductStep>(
                            new SgdProductStep{m, n, terms, has_velocity, nesterov, maximize}));
}

MXNET_REGISTER_API("mx.graph.training.thin_product")
    .describe(
        "Whether products of m x k and k x n float32 elements, with rows of the second that are "
        "dense, have loops of their own here, which no library is faster than.")
    .arg("m")
    .arg("n")
    .arg("k")
    .name_errors()
    .set_body_typed(&SuitsThin);

MXNET_REGISTER_API("mx.graph.training.sgd_product_step")
    .describe(
        "A kernel: a parameter, two matrices of as many rows, settings[, its velocity] to both "
        "after a step along the product of the first, transposed, with the second.")
    .arg("shape", "Of the parameter.")
    .arg("terms", "Rows of the matrices.")
    .arg("has_velocity")
    .arg("nesterov")
    .arg("maximize")
    .name_errors()
    .set_body_typed(&MakeSgdProductStep);

}  // namespace
}  // namespace training
}  // namespace graph
}  // namespace mxnet
