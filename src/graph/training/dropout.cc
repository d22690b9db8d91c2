/*!
 * \file dropout.cc
 * \brief Dropout by a generator whose numbers depend on a seed and their position alone.
 */
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/stl.h>

#include <memory>

#include "graph/training/checks.h"
#include "graph/training/lines.h"
#include "graph/training/philox.h"

namespace mxnet {
namespace graph {
namespace training {
namespace {

using op::Kernel;
using op::KernelInput;
using op::KernelOutput;
using runtime::kBool;
using runtime::kFloat32;
using runtime::kInt64;
using runtime::Ref;

/*! \brief Elements of so many batches of blocks, and the rest of them. */
struct DropElements {
  static constexpr int64_t kBatch = Philox::kBatch;

  static MXNET_ALWAYS_INLINE void Run(const float* x, uint64_t key, uint64_t upper, float ratio,
                                      float scale, int64_t begin, int64_t end, int64_t size,
                                      float* y, uint8_t* mask) {
    for (int64_t batch = begin; batch < end; ++batch) {
      uint32_t words[4][Philox::kBlocks];
      Philox::Fill(static_cast<uint64_t>(batch) * Philox::kBlocks, key, upper, words);
      float numbers[kBatch];
      Philox::Uniform(words, numbers);
      const int64_t first = batch * kBatch;
      const int64_t count = std::min(kBatch, size - first);
#pragma GCC ivdep
      for (int64_t i = 0; i < count; ++i) {
        const float scaled = x[first + i] * scale;
        y[first + i] = numbers[i] >= ratio ? scaled : 0.0f;
      }
#pragma GCC ivdep
      for (int64_t i = 0; i < count; ++i) mask[first + i] = numbers[i] >= ratio;
    }
  }
};

struct Dropout {
  int64_t size;
  int64_t seeds;
  float ratio;
  float scale;

  void Run(const DLTensor* in, int, DLTensor* out, int, void*) const {
    static const auto drop = op::ForWideCpu<DropElements>();
    const Seed seed(in[1], seeds);
    const int64_t batches = (size + DropElements::kBatch - 1) / DropElements::kBatch;
    ForLines(batches, DropElements::kBatch, [&](int64_t begin, int64_t end) {
      drop(In<float>(in[0]), seed.key, seed.upper, ratio, scale, begin, end, size,
           Out<float>(out[0]), Out<uint8_t>(out[1]));
    });
  }
};

struct ScaleMasked {
  static MXNET_ALWAYS_INLINE void Run(const float* x, const uint8_t* mask, float scale,
                                      int64_t begin, int64_t end, float* y) {
#pragma GCC ivdep
    for (int64_t i = begin; i < end; ++i) {
      const float scaled = x[i] * scale;  // read in any case, as vectors do
      y[i] = mask[i] != 0 ? scaled : 0.0f;
    }
  }
};

struct DropoutGradient {
  int64_t size;
  float scale;

  void Run(const DLTensor* in, int, DLTensor* out, int, void*) const {
    static const auto run = op::ForWideCpu<ScaleMasked>();
    ForLines(size, 1, [&](int64_t begin, int64_t end) {
      run(In<float>(in[0]), In<uint8_t>(in[1]), scale, begin, end, Out<float>(out[0]));
    });
  }
};

/*! \brief What elements that stay are multiplied by. */
float ScaleOf(float ratio) { return ratio < 1 ? static_cast<float>(1 / (1 - double{ratio})) : 0; }

Ref<Kernel> MakeDropout(const Shape& shape, const Shape& seed, double ratio) {
  CheckShape("shape", shape);
  const int64_t seeds = CheckSeed(seed);
  const auto share = static_cast<float>(ratio);
  return op::MakeKernel(
      "training.dropout", {{KernelInput{kFloat32, shape}, KernelInput{kInt64, seed}}},
      {KernelOutput{kFloat32, shape}, KernelOutput{kBool, shape}},
      std::unique_ptr<Dropout>(new Dropout{SizeOf(shape), seeds, share, ScaleOf(share)}));
}

Ref<Kernel> MakeDropoutGradient(const Shape& shape, double ratio) {
  CheckShape("shape", shape);
  return op::MakeKernel("training.dropout_grad",
                        {{KernelInput{kFloat32, shape}, KernelInput{kBool, shape}}},
                        {KernelOutput{kFloat32, shape}},
                        std::unique_ptr<DropoutGradient>(new DropoutGradient{
                            SizeOf(shape), ScaleOf(static_cast<float>(ratio))}));
}

MXNET_REGISTER_API("mx.graph.training.dropout")
    .describe("A kernel: x and an int64 seed to x with elements of 0, and which ones stay.")
    .arg("shape", "Of x.")
    .arg("seed", "The shape of the seed, which has one or two elements.")
    .arg("ratio", "How likely an element becomes 0.")
    .name_errors()
    .set_body_typed(&MakeDropout);

MXNET_REGISTER_API("mx.graph.training.dropout_grad")
    .describe("A kernel: the gradient of dropout's result, and which elements stay, to that of x.")
    .arg("shape", "Of x.")
    .arg("ratio", "How likely an element becomes 0.")
    .name_errors()
    .set_body_typed(&MakeDropoutGradient);

}  // namespace
}  // namespace training
}  // namespace graph
}  // namespace mxnet
