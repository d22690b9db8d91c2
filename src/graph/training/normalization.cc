/*!
 * \file normalization.cc
 * \brief Normalization of lines with their statistics, and what it is differentiated by.
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
using runtime::Ref;

/*! \brief Lines of a tensor: the axes from one on are a line. */
struct Lines {
  Lines(const Shape& shape, int64_t axis) {
    CheckAxis(shape, axis);
    for (size_t i = 0; i < shape.size(); ++i) {
      const bool is_before = static_cast<int64_t>(i) < axis;
      (is_before ? count : length) *= shape[i];
      statistics.push_back(is_before ? shape[i] : 1);
      if (!is_before) line.push_back(shape[i]);
    }
  }

  int64_t count{1};
  int64_t length{1};
  Shape line;
  Shape statistics;
};

/* ---- forward ---- */

template <bool kCenters>
struct NormalizeLines {
  static MXNET_ALWAYS_INLINE void Run(const float* x, const float* scale, const float* shift,
                                      float epsilon, int64_t begin, int64_t end, int64_t n,
                                      float* y, float* means, float* inverses) {
    for (int64_t r = begin; r < end; ++r) {
      const float* from = x + r * n;
      float* to = y + r * n;
      const float mean = kCenters ? Sum(from, n) / static_cast<float>(n) : 0.0f;
      const float square = SumOfSquares(from, mean, n) / static_cast<float>(n);
      const float inverse = 1.0f / std::sqrt(square + epsilon);
      if (kCenters) means[r] = mean;
      inverses[r] = inverse;
      if (shift != nullptr) {
        for (int64_t i = 0; i < n; ++i) to[i] = (from[i] - mean) * inverse * scale[i] + shift[i];
      } else {
        for (int64_t i = 0; i < n; ++i) to[i] = (from[i] - mean) * inverse * scale[i];
      }
    }
  }
};

template <bool kCenters>
struct Normalization {
  Lines lines;
  float epsilon;
  bool has_shift;

  void Run(const DLTensor* in, int, DLTensor* out, int, void*) const {
    static const auto run = op::ForWideCpu<NormalizeLines<kCenters>>();
    const float* shift = has_shift ? In<float>(in[2]) : nullptr;
    float* means = kCenters ? Out<float>(out[1]) : nullptr;
    float* inverses = Out<float>(out[kCenters ? 2 : 1]);
    ForLines(lines.count, lines.length, [&](int64_t begin, int64_t end) {
      run(In<float>(in[0]), In<float>(in[1]), shift, epsilon, begin, end, lines.length,
          Out<float>(out[0]), means, inverses);
    });
  }
};

template <bool kCenters>
Ref<Kernel> MakeNormalization(const char* name, const Shape& shape, int64_t axis, double epsilon,
                              bool has_shift) {
  const Lines lines(shape, axis);
  std::vector<KernelInput> inputs{{kFloat32, shape}, {kFloat32, lines.line}};
  if (has_shift) inputs.push_back({kFloat32, lines.line});
  std::vector<KernelOutput> outputs{{kFloat32, shape}, {kFloat32, lines.statistics}};
  if (kCenters) outputs.push_back({kFloat32, lines.statistics});
  using State = Normalization<kCenters>;
  return op::MakeKernel(
      name, std::move(inputs), std::move(outputs),
      std::unique_ptr<State>(new State{lines, static_cast<float>(epsilon), has_shift}));
}

/* ---- backward ---- */

/*! \brief Adds to the sums of a chunk of lines, and writes the gradients of those. */
template <bool kCenters>
struct DifferentiateLines {
  static MXNET_ALWAYS_INLINE void Run(const float* dy, const float* x, const float* scale,
                                      const float* means, const float* inverses, int64_t begin,
                                      int64_t end, int64_t n, float* dx, float* d_scale,
                                      float* d_shift) {
    std::fill(d_scale, d_scale + n, 0.0f);
    if (kCenters) std::fill(d_shift, d_shift + n, 0.0f);
    for (int64_t r = begin; r < end; ++r) {
      const float* g = dy + r * n;
      const float* from = x + r * n;
      float* to = dx + r * n;
      const float mean = kCenters ? means[r] : 0.0f;
      const float inverse = inverses[r];
      float sums[kLanes] = {};
      float along[kLanes] = {};
      const auto add = [&](int64_t i, int l) __attribute__((always_inline)) {
        const float normal = (from[i] - mean) * inverse;
        const float weighted = g[i] * scale[i];
        sums[l] += weighted;
        along[l] += weighted * normal;
        d_scale[i] += g[i] * normal;
        if (kCenters) d_shift[i] += g[i];
      };
      int64_t i = 0;
      for (; i + kLanes <= n; i += kLanes) {
#pragma GCC ivdep
        for (int l = 0; l < kLanes; ++l) add(i + l, l);
      }
      for (int l = 0; i < n; ++i, ++l) add(i, l);
      const float count = static_cast<float>(n);
      const float average = kCenters ? Total(sums) / count : 0.0f;
      const float share = Total(along) / count;
#pragma GCC ivdep
      for (i = 0; i < n; ++i) {
        const float normal = (from[i] - mean) * inverse;
        to[i] = (g[i] * scale[i] - average - normal * share) * inverse;
      }
    }
  }
};

struct AddLines {
  static MXNET_ALWAYS_INLINE void Run(const float* x, int64_t count, int64_t step, int64_t n,
                                      float* out) {
    std::copy(x, x + n, out);
    for (int64_t r = 1; r < count; ++r) {
      const float* from = x + r * step;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] += from[i];
    }
  }
};

template <bool kCenters>
struct NormalizationGradient {
  // As many whatever the number of threads is, which sums are not to depend on.
  static constexpr int64_t kMostChunks = 32;
  static constexpr int64_t kLeastLines = 16;

  explicit NormalizationGradient(Lines given) : lines(std::move(given)) {
    chunks = std::clamp<int64_t>(lines.count / kLeastLines, 1, kMostChunks);
    chunk = (lines.count + chunks - 1) / chunks;
  }

  size_t workspace() const {
    return static_cast<size_t>(chunks * lines.length) * sizeof(float) * (kCenters ? 2 : 1);
  }

  void Run(const DLTensor* in, int, DLTensor* out, int, void* workspace) const {
    static const auto differentiate = op::ForWideCpu<DifferentiateLines<kCenters>>();
    static const auto add = op::ForWideCpu<AddLines>();
    const int64_t n = lines.length;
    auto* sums = static_cast<float*>(workspace);
    float* shifts = sums + chunks * n;
    const float* means = kCenters ? In<float>(in[3]) : nullptr;
    const float* inverses = In<float>(in[kCenters ? 4 : 3]);
    ForLines(chunks, chunk * n, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        const int64_t first = std::min(c * chunk, lines.count);
        differentiate(In<float>(in[0]), In<float>(in[1]), In<float>(in[2]), means, inverses, first,
                      std::min(first + chunk, lines.count), n, Out<float>(out[0]), sums + c * n,
                      shifts + c * n);
      }
    });
    add(sums, chunks, n, n, Out<float>(out[1]));
    if (kCenters) add(shifts, chunks, n, n, Out<float>(out[2]));
  }

  Lines lines;
  int64_t chunks;
  int64_t chunk;
};

template <bool kCenters>
Ref<Kernel> MakeNormalizationGradient(const char* name, const Shape& shape, int64_t axis) {
  auto state = std::make_unique<NormalizationGradient<kCenters>>(Lines(shape, axis));
  const Lines& lines = state->lines;
  std::vector<KernelInput> inputs{{kFloat32, shape}, {kFloat32, shape}, {kFloat32, lines.line}};
  std::vector<KernelOutput> outputs{{kFloat32, shape}, {kFloat32, lines.line}};
  inputs.push_back({kFloat32, lines.statistics});
  if (kCenters) {
    inputs.push_back({kFloat32, lines.statistics});
    outputs.push_back({kFloat32, lines.line});
  }
  const size_t workspace = state->workspace();
  return op::MakeKernel(name, std::move(inputs), std::move(outputs), std::move(state), workspace);
}

MXNET_REGISTER_API("mx.graph.training.layer_norm")
    .describe("A kernel: x, scale[, shift] to the normalized lines, their means and 1 / std.")
    .arg("shape", "Of x.")
    .arg("axis", "The first axis of a line, from 0 on.")
    .arg("epsilon")
    .arg("has_shift")
    .name_errors()
    .set_body_typed([](const Shape& shape, int64_t axis, double epsilon, bool has_shift) {
      return MakeNormalization<true>("training.layer_norm", shape, axis, epsilon, has_shift);
    });

MXNET_REGISTER_API("mx.graph.training.rms_norm")
    .describe("A kernel: x, scale to the scaled lines and 1 / rms.")
    .arg("shape", "Of x.")
    .arg("axis", "The first axis of a line, from 0 on.")
    .arg("epsilon")
    .name_errors()
    .set_body_typed([](const Shape& shape, int64_t axis, double epsilon) {
      return MakeNormalization<false>("training.rms_norm", shape, axis, epsilon, false);
    });

MXNET_REGISTER_API("mx.graph.training.layer_norm_grad")
    .describe("A kernel: dy, x, scale, means, 1 / std to the gradients of x, scale and shift.")
    .arg("shape", "Of x.")
    .arg("axis", "The first axis of a line, from 0 on.")
    .name_errors()
    .set_body_typed([](const Shape& shape, int64_t axis) {
      return MakeNormalizationGradient<true>("training.layer_norm_grad", shape, axis);
    });

MXNET_REGISTER_API("mx.graph.training.rms_norm_grad")
    .describe("A kernel: dy, x, scale, 1 / rms to the gradients of x and scale.")
    .arg("shape", "Of x.")
    .arg("axis", "The first axis of a line, from 0 on.")
    .name_errors()
    .set_body_typed([](const Shape& shape, int64_t axis) {
      return MakeNormalizationGradient<false>("training.rms_norm_grad", shape, axis);
    });

}  // namespace
}  // namespace training
}  // namespace graph
}  // namespace mxnet
