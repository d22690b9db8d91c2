/*!
 * \file across_lines.h
 * \brief Many short lines sorted side by side, by a network.
 */
#ifndef MXNET_SRC_OP_KERNELS_SORT_ACROSS_LINES_H_
#define MXNET_SRC_OP_KERNELS_SORT_ACROSS_LINES_H_

#include <algorithm>

#include "op/kernels/sort/network.h"
#include "op/kernels/sort/single_line.h"

namespace mxnet {
namespace op {
namespace internal {

/*! \brief How many lanes the network has for lines that are left. */
template <typename Key>
int64_t NetworkLanes(int64_t lines) {
  constexpr int64_t kUnit = kLaneUnit / static_cast<int64_t>(sizeof(Key));
  constexpr int64_t kMost = kLaneBytes / static_cast<int64_t>(sizeof(Key));
  return std::min(kMost, (lines + kUnit - 1) / kUnit * kUnit);
}

/*! \brief Calls f(first line, how many, lanes) for the groups that a network sorts at a time. */
template <typename Key, typename F>
void ForEachGroup(const SortedLines& lines, F&& f) {
  for (int64_t line = 0; line < lines.count();) {
    const int64_t lanes = NetworkLanes<Key>(lines.count() - line);
    const int64_t count = std::min(lanes, lines.count() - line);
    f(line, count, lanes);
    line += count;
  }
}

template <typename T>
void SortByNetwork(KeyOf<T>* bits, const SortedLines& lines, KeyOf<T>* keys) {
  static const auto sort = ForWideCpu<KeyNetwork<KeyOf<T>>>();
  ForEachGroup<KeyOf<T>>(lines, [&](int64_t first, int64_t count, int64_t lanes) {
    for (int64_t lane = 0; lane < lanes; ++lane) {
      // A lane without a line of its own has the last one once more.
      const KeyOf<T>* x = bits + lines.start(first + std::min(lane, count - 1));
      for (int64_t e = 0; e < lines.extent; ++e) {
        keys[e * lanes + lane] = SortKey<T>::Of(x[e * lines.inner]);
      }
    }
    sort(keys, lines.extent, lanes);
    for (int64_t lane = 0; lane < count; ++lane) {
      KeyOf<T>* x = bits + lines.start(first + lane);
      for (int64_t e = 0; e < lines.extent; ++e) {
        x[e * lines.inner] = SortKey<T>::Bits(keys[e * lanes + lane]);
      }
    }
  });
}

template <typename T>
void ArgSortByNetwork(const KeyOf<T>* bits, const SortedLines& lines, int64_t* out,
                      uint64_t* keys) {
  static const auto sort = ForWideCpu<KeyNetwork<uint64_t>>();
  static const auto sort_pairs = ForWideCpu<PairNetwork>();
  ForEachGroup<uint64_t>(lines, [&](int64_t first, int64_t count, int64_t lanes) {
    uint64_t* numbers = kPacks<T> ? keys : keys + lines.extent * lanes;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const KeyOf<T>* x = bits + lines.start(first + std::min(lane, count - 1));
      for (int64_t e = 0; e < lines.extent; ++e) {
        if constexpr (kPacks<T>) {
          keys[e * lanes + lane] = Packed<T>(x[e * lines.inner], e);
        } else {
          keys[e * lanes + lane] = SortKey<T>::OfEqual(x[e * lines.inner]);
          numbers[e * lanes + lane] = static_cast<uint64_t>(e);
        }
      }
    }
    kPacks<T> ? sort(keys, lines.extent, lanes) : sort_pairs(keys, numbers, lines.extent, lanes);
    for (int64_t lane = 0; lane < count; ++lane) {
      int64_t* to = out + lines.start(first + lane);
      for (int64_t e = 0; e < lines.extent; ++e) {
        to[e * lines.inner] =
            static_cast<int64_t>(static_cast<uint32_t>(numbers[e * lanes + lane]));
      }
    }
  });
}

}  // namespace internal
}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_SORT_ACROSS_LINES_H_
