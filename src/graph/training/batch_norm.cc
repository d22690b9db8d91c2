/*!
 * \file batch_norm.cc
 * \brief Normalization of channels by the statistics of the batch, and what it is differentiated
 * by; row-major, or with channels in blocks.
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

// A multiple of what is in a block of channels, so that a lane is of one channel.
constexpr int kRunLanes = 64;

/*! \brief Elements as runs, each of the channels of one block, side by side: (items, blocks,
 * positions, channels of a block). */
struct Runs {
  int64_t items;
  int64_t channels;
  int64_t block;
  int64_t blocks;
  int64_t positions;
  int64_t length() const { return positions * block; }
  int64_t count() const { return items * blocks; }
  /*! \brief The channel of a lane of a run; the last block may have lanes of none. */
  int64_t channel(int64_t run, int64_t lane) const { return run % blocks * block + lane % block; }
  int64_t elements_of_channel() const { return items * positions; }
};

Runs RunsOf(const Shape& shape, int64_t block) {
  CheckShape("shape", shape);
  if (shape.size() < 2 || shape[1] < 1) {
    MXNET_THROW("ValueError") << "shape: expected (n, channels, ...), got " << shape.size()
                              << " axes";
  }
  if (block < 1 || kRunLanes % block != 0) {
    MXNET_THROW("ValueError") << "block: expected a divisor of " << kRunLanes << ", got " << block;
  }
  return {shape[0], shape[1], block, (shape[1] + block - 1) / block,
          SizeOf({shape.begin() + 2, shape.end()})};
}

/*! \brief Calls add(i, lane) for all elements of a run. */
template <typename Add>
MXNET_ALWAYS_INLINE void ForRun(int64_t n, const Add& add) {
  int64_t i = 0;
  for (; i + kRunLanes <= n; i += kRunLanes) {
#pragma GCC ivdep
    for (int l = 0; l < kRunLanes; ++l) add(i + l, l);
  }
  const auto rest = static_cast<int>(n - i);
#pragma GCC ivdep
  for (int l = 0; l < rest; ++l) add(i + l, l);
}

/*! \brief Two sums of a run by lane: of x less a number of its channel, and of its square. */
struct SumRun {
  static MXNET_ALWAYS_INLINE void Run(const float* x, const float* from, int64_t n, float* sums,
                                      float* squares) {
    float first[kRunLanes] = {};
    float second[kRunLanes] = {};
    ForRun(n, [&](int64_t i, int l) __attribute__((always_inline)) {
      const float distance = x[i] - from[l];
      first[l] += distance;
      second[l] += distance * distance;
    });
    std::copy(first, first + kRunLanes, sums);
    std::copy(second, second + kRunLanes, squares);
  }
};

struct NormalizeRun {
  static MXNET_ALWAYS_INLINE void Run(const float* x, const float* mean, const float* factor,
                                      const float* shift, int64_t n, float* y) {
    ForRun(n, [&](int64_t i, int l) __attribute__((always_inline)) {
      y[i] = (x[i] - mean[l]) * factor[l] + shift[l];
    });
  }
};

/*! \brief Two sums of a run by lane: of dy, and of dy times x less the mean of its channel. */
struct SumGradients {
  static MXNET_ALWAYS_INLINE void Run(const float* dy, const float* x, const float* mean, int64_t n,
                                      float* sums, float* products) {
    float first[kRunLanes] = {};
    float second[kRunLanes] = {};
    ForRun(n, [&](int64_t i, int l) __attribute__((always_inline)) {
      first[l] += dy[i];
      second[l] += dy[i] * (x[i] - mean[l]);
    });
    std::copy(first, first + kRunLanes, sums);
    std::copy(second, second + kRunLanes, products);
  }
};

struct DifferentiateRun {
  static MXNET_ALWAYS_INLINE void Run(const float* dy, const float* x, const float* mean,
                                      const float* factor, const float* slope, const float* shift,
                                      int64_t n, float* dx) {
    ForRun(n, [&](int64_t i, int l) __attribute__((always_inline)) {
      dx[i] = dy[i] * factor[l] - (x[i] - mean[l]) * slope[l] - shift[l];
    });
  }
};

/*! \brief Two sums of each channel. Those of runs are added in their order, whoever made them. */
class Sums {
 public:
  Sums(const Runs& runs, void* workspace)
      : runs_(runs),
        of_runs_(static_cast<float*>(workspace)),
        of_channels_(reinterpret_cast<double*>(of_runs_ + 2 * kRunLanes * runs.count())) {}

  static size_t Bytes(const Runs& runs) {
    return static_cast<size_t>(2 * kRunLanes * runs.count()) * sizeof(float) +
           static_cast<size_t>(2 * runs.channels) * sizeof(double);
  }

  float* of_run(int64_t run) { return of_runs_ + 2 * kRunLanes * run; }

  void AddUp() {
    std::fill(of_channels_, of_channels_ + 2 * runs_.channels, 0.0);
    for (int64_t run = 0; run < runs_.count(); ++run) {
      for (int which = 0; which < 2; ++which) {
        const float* lanes = of_run(run) + which * kRunLanes;
        for (int64_t j = 0; j < runs_.block; ++j) {
          const int64_t channel = runs_.channel(run, j);
          if (channel >= runs_.channels) break;
          double total = 0;
          for (int64_t l = j; l < kRunLanes; l += runs_.block) total += double{lanes[l]};
          of_channels_[2 * channel + which] += total;
        }
      }
    }
  }

  double first(int64_t channel) const { return of_channels_[2 * channel]; }
  double second(int64_t channel) const { return of_channels_[2 * channel + 1]; }

 private:
  const Runs& runs_;
  float* of_runs_;
  double* of_channels_;
};

/*! \brief A number of each channel, by lane of a run; 0 for lanes of no channel. */
struct ByLane {
  ByLane(const Runs& runs, int64_t run, const float* by_channel) {
    for (int64_t j = 0; j < runs.block; ++j) {
      const int64_t channel = runs.channel(run, j);
      const float number = channel < runs.channels ? by_channel[channel] : 0.0f;
      for (int64_t l = j; l < kRunLanes; l += runs.block) lanes[l] = number;
    }
  }
  float lanes[kRunLanes];
};

struct BatchNorm {
  Runs runs;
  float epsilon;
  float momentum;
  bool is_unbiased;

  size_t workspace() const {
    return Sums::Bytes(runs) + static_cast<size_t>(2 * runs.channels) * sizeof(float);
  }

  /*! \brief x, scale, shift, mean, variance to y, new mean, new variance, mean and 1 / std. */
  void Run(const DLTensor* in, int, DLTensor* out, int, void* workspace) const {
    static const auto sum = op::ForWideCpu<SumRun>();
    static const auto normalize = op::ForWideCpu<NormalizeRun>();
    const auto* x = In<float>(in[0]);
    const int64_t n = runs.length();
    Sums sums(runs, workspace);
    auto* from = reinterpret_cast<float*>(static_cast<char*>(workspace) + Sums::Bytes(runs));
    float* factors = from + runs.channels;
    // Distances from an element of the channel are no larger than they have to be.
    for (int64_t c = 0; c < runs.channels; ++c) {
      from[c] = x[c / runs.block * n + c % runs.block];
      if (!std::isfinite(from[c])) from[c] = 0;
    }
    ForLines(runs.count(), n, [&](int64_t begin, int64_t end) {
      for (int64_t run = begin; run < end; ++run) {
        const ByLane first(runs, run, from);
        sum(x + run * n, first.lanes, n, sums.of_run(run), sums.of_run(run) + kRunLanes);
      }
    });
    sums.AddUp();
    auto* means = Out<float>(out[3]);
    auto* inverses = Out<float>(out[4]);
    const auto count = static_cast<double>(runs.elements_of_channel());
    const double correction = is_unbiased && count > 1 ? count / (count - 1) : 1;
    for (int64_t c = 0; c < runs.channels; ++c) {
      const double distance = sums.first(c) / count;
      const double variance = std::max(sums.second(c) / count - distance * distance, 0.0);
      means[c] = static_cast<float>(from[c] + distance);
      // Not what max makes of a NaN.
      const double spread = sums.second(c) == sums.second(c) ? variance : sums.second(c);
      inverses[c] = static_cast<float>(1 / std::sqrt(spread + double{epsilon}));
      factors[c] = inverses[c] * In<float>(in[1])[c];
      const float kept = 1 - momentum;
      Out<float>(out[1])[c] = kept * In<float>(in[3])[c] + momentum * means[c];
      Out<float>(out[2])[c] =
          kept * In<float>(in[4])[c] + momentum * static_cast<float>(spread * correction);
    }
    ForLines(runs.count(), n, [&](int64_t begin, int64_t end) {
      for (int64_t run = begin; run < end; ++run) {
        const ByLane mean(runs, run, means);
        const ByLane factor(runs, run, factors);
        const ByLane shift(runs, run, In<float>(in[2]));
        normalize(x + run * n, mean.lanes, factor.lanes, shift.lanes, n,
                  Out<float>(out[0]) + run * n);
      }
    });
  }
};

struct BatchNormGradient {
  Runs runs;

  size_t workspace() const {
    return Sums::Bytes(runs) + static_cast<size_t>(3 * runs.channels) * sizeof(float);
  }

  /*! \brief dy, x, scale, mean, 1 / std to the gradients of x, scale and shift. */
  void Run(const DLTensor* in, int, DLTensor* out, int, void* workspace) const {
    static const auto sum = op::ForWideCpu<SumGradients>();
    static const auto differentiate = op::ForWideCpu<DifferentiateRun>();
    const auto* dy = In<float>(in[0]);
    const auto* x = In<float>(in[1]);
    const auto* means = In<float>(in[3]);
    const auto* inverses = In<float>(in[4]);
    const int64_t n = runs.length();
    Sums sums(runs, workspace);
    auto* factors = reinterpret_cast<float*>(static_cast<char*>(workspace) + Sums::Bytes(runs));
    float* slopes = factors + runs.channels;
    float* shifts = slopes + runs.channels;
    ForLines(runs.count(), n, [&](int64_t begin, int64_t end) {
      for (int64_t run = begin; run < end; ++run) {
        const ByLane mean(runs, run, means);
        sum(dy + run * n, x + run * n, mean.lanes, n, sums.of_run(run),
            sums.of_run(run) + kRunLanes);
      }
    });
    sums.AddUp();
    const auto count = static_cast<double>(runs.elements_of_channel());
    for (int64_t c = 0; c < runs.channels; ++c) {
      const double inverse = inverses[c];
      const double d_scale = sums.second(c) * inverse;
      const double factor = inverse * double{In<float>(in[2])[c]};
      factors[c] = static_cast<float>(factor);
      slopes[c] = static_cast<float>(factor * inverse * d_scale / count);
      shifts[c] = static_cast<float>(factor * sums.first(c) / count);
      Out<float>(out[1])[c] = static_cast<float>(d_scale);
      Out<float>(out[2])[c] = static_cast<float>(sums.first(c));
    }
    ForLines(runs.count(), n, [&](int64_t begin, int64_t end) {
      for (int64_t run = begin; run < end; ++run) {
        const ByLane mean(runs, run, means);
        const ByLane factor(runs, run, factors);
        const ByLane slope(runs, run, slopes);
        const ByLane shift(runs, run, shifts);
        differentiate(dy + run * n, x + run * n, mean.lanes, factor.lanes, slope.lanes, shift.lanes,
                      n, Out<float>(out[0]) + run * n);
      }
    });
  }
};

KernelInput Elements(const Shape& shape, int64_t block) { return {kFloat32, shape, block > 1}; }

/*! \brief Elements that may lie where those of the first input do. */
KernelOutput Result(const Shape& shape, int64_t block, const Runs& runs) {
  KernelOutput output{kFloat32, shape};
  if (block > 1) output.bytes = static_cast<size_t>(runs.count() * runs.length()) * sizeof(float);
  output.in_place = 0;
  return output;
}

Ref<Kernel> MakeBatchNorm(const Shape& shape, int64_t block, double epsilon, double momentum,
                          bool is_unbiased) {
  if (SizeOf(shape) == 0) {
    MXNET_THROW("ValueError") << "shape: expected one element or more, which statistics are of, "
                                 "got none";
  }
  auto state =
      std::unique_ptr<BatchNorm>(new BatchNorm{RunsOf(shape, block), static_cast<float>(epsilon),
                                               static_cast<float>(momentum), is_unbiased});
  const Shape channels{shape[1]};
  std::vector<KernelInput> inputs(5, {kFloat32, channels});
  inputs[0] = Elements(shape, block);
  std::vector<KernelOutput> outputs(5, KernelOutput{kFloat32, channels});
  outputs[0] = Result(shape, block, state->runs);
  const size_t workspace = state->workspace();
  return op::MakeKernel("training.batch_norm", std::move(inputs), std::move(outputs),
                        std::move(state), workspace);
}

Ref<Kernel> MakeBatchNormGradient(const Shape& shape, int64_t block) {
  auto state = std::unique_ptr<BatchNormGradient>(new BatchNormGradient{RunsOf(shape, block)});
  const Shape channels{shape[1]};
  std::vector<KernelInput> inputs(5, {kFloat32, channels});
  inputs[0] = inputs[1] = Elements(shape, block);
  std::vector<KernelOutput> outputs(3, KernelOutput{kFloat32, channels});
  outputs[0] = Result(shape, block, state->runs);
  const size_t workspace = state->workspace();
  return op::MakeKernel("training.batch_norm_grad", std::move(inputs), std::move(outputs),
                        std::move(state), workspace);
}

MXNET_REGISTER_API("mx.graph.training.batch_norm")
    .describe(
        "A kernel: x, scale, shift, mean, variance to y, the new mean and variance, and the "
        "batch's mean and 1 / std.")
    .arg("shape", "Of x: (n, channels, ...).")
    .arg("block", "How many channels lie side by side: 1 where x is row-major, 8 or 16.")
    .arg("epsilon")
    .arg("momentum", "The share of the batch.")
    .arg("is_unbiased", "Whether the variance that is kept is divided by one less.")
    .name_errors()
    .set_body_typed(&MakeBatchNorm);

MXNET_REGISTER_API("mx.graph.training.batch_norm_grad")
    .describe("A kernel: dy, x, scale, mean, 1 / std to the gradients of x, scale and shift.")
    .arg("shape", "Of x: (n, channels, ...).")
    .arg("block", "How many channels lie side by side: 1 where x is row-major, 8 or 16.")
    .name_errors()
    .set_body_typed(&MakeBatchNormGradient);

}  // namespace
}  // namespace training
}  // namespace graph
}  // namespace mxnet
