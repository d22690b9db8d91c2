/*!
 * \file sort.cc
 * \brief Chooses how lines are sorted: by counting, by a network, by digits, or one by one.
 */
#include "op/kernels/sort/sort.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>

#include "op/kernels/sort/across_lines.h"
#include "op/kernels/sort/single_line.h"
#include "op/kernels/sort/vector_lines.h"
#include "op/parallel/parallel.h"

namespace mxnet {
namespace op {
namespace {

using namespace internal;  // NOLINT(build/namespaces)

/*! \brief From it on counting digits of positions takes less time than comparing. */
constexpr int64_t kManyPositions = 4096;

/*! \brief Fewer lines than these are sorted one by one. */
constexpr int64_t kFewLines = 4;

/*! \brief Longer lines are not sorted side by side where each can be sorted in vectors. */
constexpr int64_t kShortExtent = 8;

/*! \brief So many lines that lie across are brought together at a time. */
constexpr int64_t kBlock = 8;

/*! \brief Whether lines are short and many enough to be sorted side by side. */
bool SuitNetwork(const SortedLines& lines, bool in_vectors) {
  const int64_t most = in_vectors ? kShortExtent : kNetworkExtent;
  return lines.extent > 1 && lines.extent <= most && lines.count() >= kFewLines;
}

/*! \brief Whether what a network leaves is sorted in vectors: elements of T, or their positions. */
template <typename T>
bool SortsElementsInVectors() {
  return kSortsInVectors<T> && SortsInVectors();
}
template <typename T>
bool SortsPositionsInVectors(const SortedLines& lines) {
  // Of fewer bits there are fewer digits.
  return (sizeof(T) >= 4 || lines.extent < kManyPositions) && SortsInVectors();
}

/*! \brief The lines of a block, which lie across, one after the other, and back. */
template <typename T>
void GatherBlock(const T* x, const SortedLines& lines, int64_t count, T* block) {
  for (int64_t e = 0; e < lines.extent; ++e) {
    for (int64_t b = 0; b < count; ++b) block[b * lines.extent + e] = x[e * lines.inner + b];
  }
}
template <typename T>
void ScatterBlock(const T* block, const SortedLines& lines, int64_t count, T* x) {
  for (int64_t e = 0; e < lines.extent; ++e) {
    for (int64_t b = 0; b < count; ++b) x[e * lines.inner + b] = block[b * lines.extent + e];
  }
}

/*! \brief Blocks of lines that lie beside each other. */
int64_t BlocksAcross(const SortedLines& lines) { return (lines.inner + kBlock - 1) / kBlock; }
int64_t BlockCount(const SortedLines& lines) { return lines.outer * BlocksAcross(lines); }

/*! \brief Calls f(first line, how many) for blocks from begin on, before end. */
template <typename F>
void ForEachBlock(const SortedLines& lines, int64_t begin, int64_t end, F&& f) {
  const int64_t across = BlocksAcross(lines);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t first = i % across * kBlock;
    f(i / across * lines.inner + first, std::min(kBlock, lines.inner - first));
  }
}

template <typename T>
void SortBlocks(T* data, const SortedLines& lines, int64_t begin, int64_t end, T* block) {
  ForEachBlock(lines, begin, end, [&](int64_t line, int64_t count) {
    T* x = data + lines.start(line);
    if (lines.inner == 1) return SortInVectors(x, lines.extent);
    GatherBlock(x, lines, count, block);
    for (int64_t b = 0; b < count; ++b) SortInVectors(block + b * lines.extent, lines.extent);
    ScatterBlock(block, lines, count, x);
  });
}

/*! \brief Sorts all blocks: many on several threads, each of which needs room of its own. */
template <typename T>
void SortAllBlocks(T* data, const SortedLines& lines, T* block) {
  const int64_t count = BlockCount(lines);
  const int64_t size = lines.count() * lines.extent;
  if (size < kFewForThreads) return SortBlocks(data, lines, 0, count, block);
  std::atomic<bool> lacks_memory{false};
  InParallel(count, std::max<int64_t>(1, kElementsTimed * count / size),
             [&](int64_t begin, int64_t end) {
               try {
                 std::unique_ptr<T[]> own;
                 if (lines.inner > 1) own.reset(new T[static_cast<size_t>(kBlock * lines.extent)]);
                 SortBlocks(data, lines, begin, end, own.get());
               } catch (const std::bad_alloc&) {
                 lacks_memory = true;
               }
             });
  if (lacks_memory) throw std::bad_alloc();
}

template <typename T>
void ArgSortBlocks(const KeyOf<T>* bits, const SortedLines& lines, int64_t* out, int64_t* words) {
  const int64_t n = lines.extent;
  int64_t* positions = words + n;
  auto* block = reinterpret_cast<KeyOf<T>*>(positions + kBlock * n);
  ForEachBlock(lines, 0, BlockCount(lines), [&](int64_t line, int64_t count) {
    const int64_t start = lines.start(line);
    if (lines.inner == 1) return ArgSortInVectors<T>(bits + start, n, out + start, words);
    GatherBlock(bits + start, lines, count, block);
    for (int64_t b = 0; b < count; ++b) {
      ArgSortInVectors<T>(block + b * n, n, positions + b * n, words);
    }
    ScatterBlock(positions, lines, count, out + start);
  });
}

}  // namespace

template <typename T>
int64_t SortWorkspace(const SortedLines& lines) {
  constexpr auto kItem = static_cast<int64_t>(sizeof(T));
  const bool in_vectors = SortsElementsInVectors<T>();
  if (SuitNetwork(lines, in_vectors)) return lines.extent * kLaneBytes;
  if (in_vectors) return lines.inner == 1 ? 0 : kBlock * lines.extent * kItem;
  return 2 * lines.extent * kItem;
}

template <typename T>
int64_t ArgSortWorkspace(const SortedLines& lines) {
  constexpr auto kItem = static_cast<int64_t>(sizeof(T));
  constexpr auto kWord = static_cast<int64_t>(sizeof(uint64_t));
  const bool in_vectors = SortsPositionsInVectors<T>(lines);
  if (SuitNetwork(lines, in_vectors)) return lines.extent * kLaneBytes * (kPacks<T> ? 1 : 2);
  if (in_vectors) {
    return lines.extent * (lines.inner == 1 ? kWord : kWord + kBlock * (kWord + kItem));
  }
  return 2 * lines.extent * (kPacks<T> ? kWord : static_cast<int64_t>(sizeof(PositionedKey)));
}

template <typename T>
void SortLines(T* data, const SortedLines& lines, void* workspace) {
  auto* bits = reinterpret_cast<KeyOf<T>*>(data);
  auto* keys = static_cast<KeyOf<T>*>(workspace);
  const bool in_vectors = SortsElementsInVectors<T>();
  const bool in_network = SuitNetwork(lines, in_vectors);
  if constexpr (kSortsInVectors<T>) {
    if (in_vectors && !in_network) {
      return SortAllBlocks(data, lines, static_cast<T*>(workspace));
    }
  }
  const ZerosInOrder<T> zeros(bits, lines);
  if (in_network) {
    SortByNetwork<T>(bits, lines, keys);
  } else {
    for (int64_t line = 0; line < lines.count(); ++line) {
      SortLine<T>(bits + lines.start(line), lines.inner, lines.extent, keys);
    }
  }
  zeros.PutBack();
}

template <typename T>
void ArgSortLines(const T* data, const SortedLines& lines, int64_t* out, void* workspace) {
  const auto* bits = reinterpret_cast<const KeyOf<T>*>(data);
  const bool in_vectors = SortsPositionsInVectors<T>(lines);
  if (SuitNetwork(lines, in_vectors)) {
    return ArgSortByNetwork<T>(bits, lines, out, static_cast<uint64_t*>(workspace));
  }
  if (in_vectors) return ArgSortBlocks<T>(bits, lines, out, static_cast<int64_t*>(workspace));
  for (int64_t line = 0; line < lines.count(); ++line) {
    const int64_t start = lines.start(line);
    ArgSortLine<T>(bits + start, lines.inner, lines.extent, out + start, workspace);
  }
}

template <typename T>
int64_t UniqueOfSorted(T* data, int64_t n) {
  auto* bits = reinterpret_cast<KeyOf<T>*>(data);
  if (n == 0) return 0;
  if constexpr (kSortsInVectors<T>) {
    using Compared = internal::Compared<T>;
    if (SortsInVectors()) {
      const T* nan = std::partition_point(data, data + n, [](T x) { return x == x; });
      const int64_t numbers = nan - data;
      auto* x = reinterpret_cast<Compared*>(data);
      const int64_t count = internal::VectorSortOf<Compared>().unique(x, numbers);
      if (numbers < n) data[count] = data[numbers];
      return count + (numbers < n);
    }
  }
  int64_t count = 1;
  KeyOf<T> last = bits[0];
  for (int64_t i = 1; i < n; ++i) {
    const KeyOf<T> next = bits[i];
    bits[count] = next;
    count += SortKey<T>::OfEqual(next) != SortKey<T>::OfEqual(last);
    last = next;
  }
  return count;
}

#define MXNET_SORT(T)                                                                  \
  template int64_t SortWorkspace<T>(const SortedLines& lines);                         \
  template int64_t ArgSortWorkspace<T>(const SortedLines& lines);                      \
  template void SortLines<T>(T * data, const SortedLines& lines, void* workspace);     \
  template void ArgSortLines<T>(const T* data, const SortedLines& lines, int64_t* out, \
                                void* workspace);                                      \
  template int64_t UniqueOfSorted<T>(T * data, int64_t n);
MXNET_SORT(bool)
MXNET_SORT(int8_t)
MXNET_SORT(int16_t)
MXNET_SORT(int32_t)
MXNET_SORT(int64_t)
MXNET_SORT(uint8_t)
MXNET_SORT(uint16_t)
MXNET_SORT(uint32_t)
MXNET_SORT(uint64_t)
MXNET_SORT(Half)
MXNET_SORT(BFloat16)
MXNET_SORT(float)
MXNET_SORT(double)
#undef MXNET_SORT

}  // namespace op
}  // namespace mxnet
