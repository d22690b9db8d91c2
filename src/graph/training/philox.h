/*!
 * \file philox.h
 * \brief Random numbers that depend on a seed and their position alone.
 */
#ifndef MXNET_SRC_GRAPH_TRAINING_PHILOX_H_
#define MXNET_SRC_GRAPH_TRAINING_PHILOX_H_

#include <cstdint>

#include "graph/training/checks.h"
#include "graph/training/lines.h"

namespace mxnet {
namespace graph {
namespace training {

/*! \brief Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2,
 * 3", 2011), some blocks of four words at once. */
struct Philox {
  static constexpr int kBlocks = 16;
  static constexpr int64_t kBatch = 4 * kBlocks;
  static constexpr uint32_t kMultipliers[2] = {0xD2511F53, 0xCD9E8D57};
  static constexpr uint32_t kIncrements[2] = {0x9E3779B9, 0xBB67AE85};

  /*! \brief The words of kBlocks blocks, from the one with that number on. */
  static MXNET_ALWAYS_INLINE void Fill(uint64_t block, uint64_t key, uint64_t upper,
                                       uint32_t words[4][kBlocks]) {
    for (int b = 0; b < kBlocks; ++b) {
      const uint64_t number = block + static_cast<uint64_t>(b);
      words[0][b] = static_cast<uint32_t>(number);
      words[1][b] = static_cast<uint32_t>(number >> 32);
      words[2][b] = static_cast<uint32_t>(upper);
      words[3][b] = static_cast<uint32_t>(upper >> 32);
    }
    auto low = static_cast<uint32_t>(key);
    auto high = static_cast<uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
      for (int b = 0; b < kBlocks; ++b) {
        const uint64_t first = uint64_t{words[0][b]} * kMultipliers[0];
        const uint64_t second = uint64_t{words[2][b]} * kMultipliers[1];
        const uint32_t odd = words[1][b];
        const uint32_t last = words[3][b];
        words[0][b] = static_cast<uint32_t>(second >> 32) ^ odd ^ low;
        words[1][b] = static_cast<uint32_t>(second);
        words[2][b] = static_cast<uint32_t>(first >> 32) ^ last ^ high;
        words[3][b] = static_cast<uint32_t>(first);
      }
      low += kIncrements[0];
      high += kIncrements[1];
    }
  }

  /*! \brief Numbers from 0 to below 1 of the upper 24 bits of words, in the order of positions. */
  static MXNET_ALWAYS_INLINE void Uniform(const uint32_t words[4][kBlocks], float* numbers) {
    for (int b = 0; b < kBlocks; ++b) {
      for (int w = 0; w < 4; ++w) {
        const auto bits = static_cast<int32_t>(words[w][b] >> 8);
        numbers[4 * b + w] = static_cast<float>(bits) * 0x1p-24f;
      }
    }
  }
};

/*! \brief What a seed of one or two elements is for Philox. */
struct Seed {
  uint64_t key;
  uint64_t upper;

  Seed(const DLTensor& tensor, int64_t count) {
    const auto* elements = In<int64_t>(tensor);
    key = static_cast<uint64_t>(elements[0]);
    upper = count > 1 ? static_cast<uint64_t>(elements[1]) : 0;
  }
};

/*! \brief How many elements a seed has; ValueError for others than one or two. */
inline int64_t CheckSeed(const Shape& shape) {
  CheckShape("seed", shape);
  const int64_t count = SizeOf(shape);
  if (count != 1 && count != 2) {
    MXNET_THROW("ValueError") << "seed: expected one or two elements, got " << count;
  }
  return count;
}

}  // namespace training
}  // namespace graph
}  // namespace mxnet

#endif  // MXNET_SRC_GRAPH_TRAINING_PHILOX_H_
