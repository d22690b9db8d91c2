/*!
 * \file random.cc
 * \brief Random numbers by dropout's generator: uniform and normal ones.
 */
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/stl.h>

#include <cmath>
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
using runtime::kFloat32;
using runtime::kInt64;
using runtime::Ref;

struct UniformNumbers {
  static MXNET_ALWAYS_INLINE void Make(const uint32_t words[4][Philox::kBlocks], float* numbers) {
    Philox::Uniform(words, numbers);
  }
};

/*! \brief By the method of Box and Muller, of two words two numbers. */
struct NormalNumbers {
  static MXNET_ALWAYS_INLINE void Make(const uint32_t words[4][Philox::kBlocks], float* numbers) {
    constexpr auto kTurn = static_cast<float>(2 * 3.14159265358979323846);
    for (int b = 0; b < Philox::kBlocks; ++b) {
      for (int w = 0; w < 4; w += 2) {
        // Of 0 there is no logarithm.
        const float share = (static_cast<float>(words[w][b]) + 1.0f) * 0x1p-32f;
        const float radius = std::sqrt(-2.0f * std::log(share));
        const auto bits = static_cast<int32_t>(words[w + 1][b] >> 8);
        const float angle = static_cast<float>(bits) * 0x1p-24f * kTurn;
        numbers[4 * b + w] = radius * std::cos(angle);
        numbers[4 * b + w + 1] = radius * std::sin(angle);
      }
    }
  }
};

/*! \brief The numbers of so many batches of blocks: offset + number * factor. */
template <typename Numbers>
struct DrawElements {
  static MXNET_ALWAYS_INLINE void Run(uint64_t key, uint64_t upper, float offset, float factor,
                                      int64_t begin, int64_t end, int64_t size, float* y) {
    for (int64_t batch = begin; batch < end; ++batch) {
      uint32_t words[4][Philox::kBlocks];
      Philox::Fill(static_cast<uint64_t>(batch) * Philox::kBlocks, key, upper, words);
      float numbers[Philox::kBatch];
      Numbers::Make(words, numbers);
      const int64_t first = batch * Philox::kBatch;
      const int64_t count = std::min(Philox::kBatch, size - first);
#pragma GCC ivdep
      for (int64_t i = 0; i < count; ++i) y[first + i] = offset + numbers[i] * factor;
    }
  }
};

template <typename Numbers>
struct Draw {
  int64_t size;
  int64_t seeds;
  float offset;
  float factor;

  void Run(const DLTensor* in, int, DLTensor* out, int, void*) const {
    static const auto draw = op::ForWideCpu<DrawElements<Numbers>>();
    const Seed seed(in[0], seeds);
    const int64_t batches = (size + Philox::kBatch - 1) / Philox::kBatch;
    ForLines(batches, Philox::kBatch, [&](int64_t begin, int64_t end) {
      draw(seed.key, seed.upper, offset, factor, begin, end, size, Out<float>(out[0]));
    });
  }
};

template <typename Numbers>
Ref<Kernel> Make(const char* name, const Shape& shape, const Shape& seed, double offset,
                 double factor) {
  CheckShape("shape", shape);
  const int64_t seeds = CheckSeed(seed);
  return op::MakeKernel(
      name, {{KernelInput{kInt64, seed}}}, {KernelOutput{kFloat32, shape}},
      std::unique_ptr<Draw<Numbers>>(new Draw<Numbers>{
          SizeOf(shape), seeds, static_cast<float>(offset), static_cast<float>(factor)}));
}

Ref<Kernel> MakeUniform(const Shape& shape, const Shape& seed, double low, double high) {
  return Make<UniformNumbers>("training.random_uniform", shape, seed, low, high - low);
}

Ref<Kernel> MakeNormal(const Shape& shape, const Shape& seed, double mean, double scale) {
  return Make<NormalNumbers>("training.random_normal", shape, seed, mean, scale);
}

MXNET_REGISTER_API("mx.graph.training.random_uniform")
    .describe("A kernel: an int64 seed to uniform random numbers.")
    .arg("shape", "Of the numbers.")
    .arg("seed", "The shape of the seed, which has one or two elements.")
    .arg("low", "The least of them.")
    .arg("high", "What they are below.")
    .name_errors()
    .set_body_typed(&MakeUniform);

MXNET_REGISTER_API("mx.graph.training.random_normal")
    .describe("A kernel: an int64 seed to normally distributed random numbers.")
    .arg("shape", "Of the numbers.")
    .arg("seed", "The shape of the seed, which has one or two elements.")
    .arg("mean", "Their mean.")
    .arg("scale", "The standard deviation.")
    .name_errors()
    .set_body_typed(&MakeNormal);

}  // namespace
}  // namespace training
}  // namespace graph
}  // namespace mxnet
