/*!
 * \file softmax.cc
 * \brief What softmax and its logarithm are differentiated by.
 */
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/stl.h>

#include <memory>

#include "graph/training/checks.h"
#include "graph/training/lines.h"
#include "op/kernels/softmax/softmax_loops.h"

namespace mxnet {
namespace graph {
namespace training {
namespace {

using op::Kernel;
using op::KernelInput;
using op::KernelOutput;
using runtime::kFloat32;
using runtime::Ref;

constexpr int64_t kColumns = 256;

/*! \brief Of lines that lie one after the other: dx = share * (dy - sum(dy * y)), or of logarithms
 * dy - share * sum(dy). share is y, or exp(y). */
struct DifferentiateLines {
  static MXNET_ALWAYS_INLINE void Run(const float* dy, const float* y, const float* share,
                                      bool is_log, int64_t n, float* dx) {
    if (is_log) {
      const float sum = Sum(dy, n);
      for (int64_t i = 0; i < n; ++i) dx[i] = dy[i] - share[i] * sum;
      return;
    }
    const float sum = Dot(dy, y, n);
    for (int64_t i = 0; i < n; ++i) dx[i] = dy[i] * y[i] - y[i] * sum;
  }
};

/*! \brief The same of `width` columns of n numbers each, `step` apart. */
struct DifferentiateColumns {
  static MXNET_ALWAYS_INLINE void AddUp(const float* dy, const float* y, bool is_log, int64_t n,
                                        int64_t step, int64_t width, float* sums) {
    for (int64_t j = 0; j < width; ++j) sums[j] = 0;
    for (int64_t i = 0; i < n; ++i) {
      const float* g = dy + i * step;
      const float* at = y + i * step;
      if (is_log) {
        for (int64_t j = 0; j < width; ++j) sums[j] += g[j];
      } else {
        for (int64_t j = 0; j < width; ++j) sums[j] += g[j] * at[j];
      }
    }
  }

  static MXNET_ALWAYS_INLINE void Run(const float* dy, const float* share, bool is_log,
                                      int64_t width, const float* sums, float* dx) {
#pragma GCC ivdep
    for (int64_t j = 0; j < width; ++j) {
      dx[j] = is_log ? dy[j] - share[j] * sums[j] : dy[j] * share[j] - share[j] * sums[j];
    }
  }
};

struct ColumnSums {
  static MXNET_ALWAYS_INLINE void Run(const float* dy, const float* y, bool is_log, int64_t n,
                                      int64_t step, int64_t width, float* sums) {
    DifferentiateColumns::AddUp(dy, y, is_log, n, step, width, sums);
  }
};

struct SoftmaxGradient {
  int64_t count;
  int64_t length;
  int64_t inner;
  bool is_log;

  void Run(const DLTensor* in, int, DLTensor* out, int, void*) const {
    const auto* dy = In<float>(in[0]);
    const auto* y = In<float>(in[1]);
    auto* dx = Out<float>(out[0]);
    const int64_t size = length * inner;
    ForLines(count, size, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const int64_t at = b * size;
        inner == 1 ? Line(dy + at, y + at, dx + at) : Columns(dy + at, y + at, dx + at);
      }
    });
  }

 private:
  void Line(const float* dy, const float* y, float* dx) const {
    static const auto differentiate = op::ForWideCpu<DifferentiateLines>();
    if (is_log) op::internal::ExpRun(y, dx, length);
    differentiate(dy, y, dx, is_log, length, dx);
  }

  void Columns(const float* dy, const float* y, float* dx) const {
    static const auto add_up = op::ForWideCpu<ColumnSums>();
    static const auto differentiate = op::ForWideCpu<DifferentiateColumns>();
    float sums[kColumns];
    for (int64_t j = 0; j < inner; j += kColumns) {
      const int64_t width = std::min(kColumns, inner - j);
      add_up(dy + j, y + j, is_log, length, inner, width, sums);
      for (int64_t i = 0; i < length; ++i) {
        const int64_t at = i * inner + j;
        if (is_log) op::internal::ExpRun(y + at, dx + at, width);
        differentiate(dy + at, is_log ? dx + at : y + at, is_log, width, sums, dx + at);
      }
    }
  }
};

Ref<Kernel> MakeSoftmaxGradient(const Shape& shape, int64_t axis, bool is_log) {
  CheckAxis(shape, axis);
  const auto at = shape.begin() + axis;
  using State = SoftmaxGradient;
  return op::MakeKernel(is_log ? "training.log_softmax_grad" : "training.softmax_grad",
                        std::vector<KernelInput>(2, {kFloat32, shape}),
                        {KernelOutput{kFloat32, shape}},
                        std::unique_ptr<State>(new State{SizeOf({shape.begin(), at}), *at,
                                                         SizeOf({at + 1, shape.end()}), is_log}));
}

MXNET_REGISTER_API("mx.graph.training.softmax_grad")
    .describe("A kernel: the gradient of softmax's result, and that result, to that of its data.")
    .arg("shape", "Of the data.")
    .arg("axis", "From 0 on.")
    .arg("is_log", "Whether it is the logarithm of softmax.")
    .name_errors()
    .set_body_typed(&MakeSoftmaxGradient);

}  // namespace
}  // namespace training
}  // namespace graph
}  // namespace mxnet
