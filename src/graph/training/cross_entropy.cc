/*!
 * \file cross_entropy.cc
 * \brief The cross entropy of classes, which are axis 1 of scores, and what it is differentiated
 * by.
 */
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/stl.h>

#include <cmath>
#include <memory>
#include <string>

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
using runtime::kInt64;
using runtime::Ref;

constexpr int64_t kColumns = 256;

enum class Reduction { kNone, kSum, kMean };

Reduction ReductionOf(const std::string& name) {
  if (name == "none") return Reduction::kNone;
  if (name == "sum") return Reduction::kSum;
  if (name == "mean") return Reduction::kMean;
  MXNET_THROW("ValueError") << "reduction: expected 'none', 'sum' or 'mean', got '" << name << "'";
}

struct MaximumOf {
  static MXNET_ALWAYS_INLINE void Run(const float* x, int64_t n, float* out) {
    float lanes[kLanes];
    for (int l = 0; l < kLanes; ++l) lanes[l] = x[0];
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      for (int l = 0; l < kLanes; ++l) lanes[l] = x[i + l] > lanes[l] ? x[i + l] : lanes[l];
    }
    float best = x[0];
    for (; i < n; ++i) best = x[i] > best ? x[i] : best;
    for (int l = 0; l < kLanes; ++l) best = lanes[l] > best ? lanes[l] : best;
    *out = best;
  }
};

struct Lower {
  static MXNET_ALWAYS_INLINE void Run(const float* x, float by, int64_t n, float* out) {
    for (int64_t i = 0; i < n; ++i) out[i] = x[i] - by;
  }
};

struct SumOf {
  static MXNET_ALWAYS_INLINE void Run(const float* x, int64_t n, float* out) { *out = Sum(x, n); }
};

struct Scale {
  static MXNET_ALWAYS_INLINE void Run(float* x, float by, int64_t n) {
    for (int64_t i = 0; i < n; ++i) x[i] *= by;
  }
};

/* ---- scores as so many blocks of classes times `inner` ---- */

struct Scores {
  int64_t count;
  int64_t classes;
  int64_t inner;
  int64_t ignored;
  Reduction reduction;
  bool has_weights;
  int64_t labels() const { return count * inner; }
  int64_t size() const { return classes * inner; }

  /*! \brief The weight of a label, 0 for one that is ignored. */
  float WeightOf(int64_t label, const float* weights) const {
    if (label == ignored) return 0;
    return weights == nullptr ? 1 : weights[label];
  }

  /*! \brief IndexError for a label that is no class. */
  void Check(const int64_t* given) const {
    for (int64_t i = 0; i < labels(); ++i) {
      if (given[i] == ignored || (given[i] >= 0 && given[i] < classes)) continue;
      MXNET_THROW("IndexError") << "labels: expected 0 to " << classes - 1 << " or " << ignored
                                << ", which is ignored, got " << given[i];
    }
  }

  /*! \brief What a mean divides by. */
  float TotalWeight(const int64_t* given, const float* weights) const {
    double total = 0;
    for (int64_t i = 0; i < labels(); ++i) total += WeightOf(given[i], weights);
    return static_cast<float>(total);
  }
};

struct CrossEntropy {
  Scores scores;

  size_t workspace() const { return static_cast<size_t>(scores.labels()) * sizeof(float); }

  void Run(const DLTensor* in, int, DLTensor* out, int, void* workspace) const {
    const auto* x = In<float>(in[0]);
    const auto* labels = In<int64_t>(in[1]);
    const float* weights = scores.has_weights ? In<float>(in[2]) : nullptr;
    auto* y = Out<float>(out[1]);
    scores.Check(labels);
    const bool is_each = scores.reduction == Reduction::kNone;
    float* losses = is_each ? Out<float>(out[0]) : static_cast<float*>(workspace);
    const int64_t size = scores.size();
    ForLines(scores.count, size, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const float* from = x + b * size;
        float* to = y + b * size;
        scores.inner == 1 ? Line(from, to) : Columns(from, to);
        for (int64_t j = 0; j < scores.inner; ++j) {
          const int64_t at = b * scores.inner + j;
          const float weight = scores.WeightOf(labels[at], weights);
          losses[at] = weight == 0 ? 0.0f : -to[labels[at] * scores.inner + j] * weight;
        }
      }
    });
    if (is_each) return;
    double total = 0;
    for (int64_t i = 0; i < scores.labels(); ++i) total += static_cast<double>(losses[i]);
    auto loss = static_cast<float>(total);
    if (scores.reduction == Reduction::kMean) loss /= scores.TotalWeight(labels, weights);
    *Out<float>(out[0]) = loss;
  }

 private:
  void Line(const float* x, float* y) const {
    static const auto maximum = op::ForWideCpu<MaximumOf>();
    static const auto lower = op::ForWideCpu<Lower>();
    static const auto sum_of = op::ForWideCpu<SumOf>();
    constexpr int64_t kSome = 2048;
    const int64_t n = scores.classes;
    float top;
    maximum(x, n, &top);
    double total = 0;
    float room[kSome];
    for (int64_t i = 0; i < n; i += kSome) {
      const int64_t some = std::min(kSome, n - i);
      float sum;
      lower(x + i, top, some, room);
      op::internal::ExpRun(room, room, some);
      sum_of(room, some, &sum);
      total += static_cast<double>(sum);
    }
    const auto logarithm = static_cast<float>(std::log(total));
    lower(x, top, n, y);
    lower(y, logarithm, n, y);
  }

  void Columns(const float* x, float* y) const {
    const int64_t step = scores.inner;
    float top[kColumns];
    float room[kColumns];
    float sums[kColumns];
    for (int64_t j = 0; j < step; j += kColumns) {
      const int64_t width = std::min(kColumns, step - j);
      std::copy(x + j, x + j + width, top);
      for (int64_t c = 1; c < scores.classes; ++c) {
        const float* from = x + c * step + j;
        for (int64_t i = 0; i < width; ++i) top[i] = from[i] > top[i] ? from[i] : top[i];
      }
      std::fill(sums, sums + width, 0.0f);
      for (int64_t c = 0; c < scores.classes; ++c) {
        const float* from = x + c * step + j;
        for (int64_t i = 0; i < width; ++i) room[i] = from[i] - top[i];
        op::internal::ExpRun(room, room, width);
        for (int64_t i = 0; i < width; ++i) sums[i] += room[i];
      }
      for (int64_t i = 0; i < width; ++i) sums[i] = std::log(sums[i]);
      for (int64_t c = 0; c < scores.classes; ++c) {
        const int64_t at = c * step + j;
        for (int64_t i = 0; i < width; ++i) y[at + i] = x[at + i] - top[i] - sums[i];
      }
    }
  }
};

struct CrossEntropyGradient {
  Scores scores;

  void Run(const DLTensor* in, int, DLTensor* out, int, void*) const {
    const auto* given = In<float>(in[0]);
    const auto* y = In<float>(in[1]);
    const auto* labels = In<int64_t>(in[2]);
    const float* weights = scores.has_weights ? In<float>(in[3]) : nullptr;
    auto* dx = Out<float>(out[0]);
    scores.Check(labels);
    const bool is_each = scores.reduction == Reduction::kNone;
    const float total =
        scores.reduction == Reduction::kMean ? scores.TotalWeight(labels, weights) : 1.0f;
    const int64_t size = scores.size();
    const int64_t inner = scores.inner;
    const auto factor = [&](int64_t at) {
      const float weight = scores.WeightOf(labels[at], weights);
      // Not 0 / 0, which the mean of no labels would make.
      return weight == 0 ? 0.0f : weight * given[is_each ? at : 0] / total;
    };
    ForLines(scores.count, size, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        float* to = dx + b * size;
        inner == 1 ? Line(y + b * size, to, factor(b)) : Columns(y + b * size, to, b, factor);
        for (int64_t j = 0; j < inner; ++j) {
          const int64_t at = b * inner + j;
          if (labels[at] != scores.ignored) to[labels[at] * inner + j] -= factor(at);
        }
      }
    });
  }

 private:
  void Line(const float* y, float* dx, float factor) const {
    static const auto scale = op::ForWideCpu<Scale>();
    constexpr int64_t kSome = 2048;
    for (int64_t i = 0; i < scores.classes; i += kSome) {
      const int64_t some = std::min(kSome, scores.classes - i);
      op::internal::ExpRun(y + i, dx + i, some);
      scale(dx + i, factor, some);
    }
  }

  template <typename Factor>
  void Columns(const float* y, float* dx, int64_t block, const Factor& factor) const {
    const int64_t step = scores.inner;
    float factors[kColumns];
    for (int64_t j = 0; j < step; j += kColumns) {
      const int64_t width = std::min(kColumns, step - j);
      for (int64_t i = 0; i < width; ++i) factors[i] = factor(block * step + j + i);
      for (int64_t c = 0; c < scores.classes; ++c) {
        const int64_t at = c * step + j;
        op::internal::ExpRun(y + at, dx + at, width);
        for (int64_t i = 0; i < width; ++i) dx[at + i] *= factors[i];
      }
    }
  }
};

Scores ScoresOf(const Shape& shape, int64_t ignored, const std::string& reduction,
                bool has_weights) {
  CheckShape("shape", shape);
  if (shape.size() < 2 || shape[1] < 1) {
    MXNET_THROW("ValueError") << "shape: expected (n, classes, ...) of one class or more, got "
                              << shape.size() << " axes";
  }
  return {shape[0],
          shape[1],
          SizeOf({shape.begin() + 2, shape.end()}),
          ignored,
          ReductionOf(reduction),
          has_weights};
}

Shape LabelsOf(const Shape& shape) {
  Shape labels = shape;
  labels.erase(labels.begin() + 1);
  return labels;
}

Ref<Kernel> MakeCrossEntropy(const Shape& shape, int64_t ignored, const std::string& reduction,
                             bool has_weights) {
  auto state = std::unique_ptr<CrossEntropy>(
      new CrossEntropy{ScoresOf(shape, ignored, reduction, has_weights)});
  const Shape labels = LabelsOf(shape);
  std::vector<KernelInput> inputs{{kFloat32, shape}, {kInt64, labels}};
  if (has_weights) inputs.push_back({kFloat32, {shape[1]}});
  const bool is_each = state->scores.reduction == Reduction::kNone;
  std::vector<KernelOutput> outputs{{kFloat32, is_each ? labels : Shape()}, {kFloat32, shape}};
  const size_t workspace = is_each ? 0 : state->workspace();
  return op::MakeKernel("training.cross_entropy", std::move(inputs), std::move(outputs),
                        std::move(state), workspace);
}

Ref<Kernel> MakeCrossEntropyGradient(const Shape& shape, int64_t ignored,
                                     const std::string& reduction, bool has_weights) {
  auto state = std::unique_ptr<CrossEntropyGradient>(
      new CrossEntropyGradient{ScoresOf(shape, ignored, reduction, has_weights)});
  const Shape labels = LabelsOf(shape);
  const bool is_each = state->scores.reduction == Reduction::kNone;
  std::vector<KernelInput> inputs{
      {kFloat32, is_each ? labels : Shape()}, {kFloat32, shape}, {kInt64, labels}};
  if (has_weights) inputs.push_back({kFloat32, {shape[1]}});
  return op::MakeKernel("training.cross_entropy_grad", std::move(inputs),
                        {KernelOutput{kFloat32, shape}}, std::move(state));
}

MXNET_REGISTER_API("mx.graph.training.cross_entropy")
    .describe(
        "A kernel: scores, int64 labels[, weights of classes] to the loss and the logarithm "
        "of softmax.")
    .arg("shape", "Of scores: (n, classes, ...).")
    .arg("ignored", "The label that does not count.")
    .arg("reduction", "'none', 'sum' or 'mean'.")
    .arg("has_weights")
    .name_errors()
    .set_body_typed(&MakeCrossEntropy);

MXNET_REGISTER_API("mx.graph.training.cross_entropy_grad")
    .describe(
        "A kernel: the gradient of the loss, the logarithm of softmax, int64 labels[, "
        "weights] to that of scores.")
    .arg("shape", "Of scores: (n, classes, ...).")
    .arg("ignored", "The label that does not count.")
    .arg("reduction", "'none', 'sum' or 'mean'.")
    .arg("has_weights")
    .name_errors()
    .set_body_typed(&MakeCrossEntropyGradient);

}  // namespace
}  // namespace training
}  // namespace graph
}  // namespace mxnet
