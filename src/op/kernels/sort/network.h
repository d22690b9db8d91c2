/*!
 * \file network.h
 * \brief Many short lines sorted at a time, one in each lane of a register, by a sorting network.
 */
#ifndef MXNET_SRC_OP_KERNELS_SORT_NETWORK_H_
#define MXNET_SRC_OP_KERNELS_SORT_NETWORK_H_

#include <algorithm>
#include <cstdint>

#include "op/kernels/cpu.h"

namespace mxnet {
namespace op {

/*! \brief Lines are so long at most: the work grows faster than their length. */
constexpr int64_t kNetworkExtent = 2048;
/*! \brief Bytes of an element of all lanes: a few registers, so that loops over them are worth it.
 */
constexpr int64_t kLaneBytes = 256;
/*! \brief Lanes come in so many bytes, for registers to be full. */
constexpr int64_t kLaneUnit = 64;

namespace internal {

/*! \brief Calls exchange(i, end, k) for blocks of pairs (i, i + k) of Batcher's merge exchange. */
template <typename Exchange>
MXNET_ALWAYS_INLINE void MergeExchange(int64_t n, const Exchange& exchange) {
  for (int64_t p = 1; p < n; p *= 2) {
    for (int64_t k = p; k >= 1; k /= 2) {
      for (int64_t j = k % p; j + k < n; j += 2 * k) {
        // Of a later step, the two ends of a pair lie in one block of 2p.
        if (k < p && (j + k) % (2 * p) == 0) continue;
        exchange(j, std::min(j + k, n - k), k);
      }
    }
  }
}

template <typename Key>
struct KeyExchange {
  Key* x;
  int64_t lanes;
  MXNET_ALWAYS_INLINE void operator()(int64_t begin, int64_t end, int64_t distance) const {
    Key* a = x + begin * lanes;
    Key* b = a + distance * lanes;
    const int64_t count = (end - begin) * lanes;
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i) {
      const Key low = a[i] < b[i] ? a[i] : b[i];
      b[i] = a[i] < b[i] ? b[i] : a[i];
      a[i] = low;
    }
  }
};

struct PairExchange {
  uint64_t* keys;
  uint64_t* numbers;
  int64_t lanes;
  MXNET_ALWAYS_INLINE void operator()(int64_t begin, int64_t end, int64_t distance) const {
    uint64_t* a = keys + begin * lanes;
    uint64_t* b = a + distance * lanes;
    uint64_t* c = numbers + begin * lanes;
    uint64_t* d = c + distance * lanes;
    const int64_t count = (end - begin) * lanes;
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t swap = (a[i] > b[i]) | ((a[i] == b[i]) & (c[i] > d[i]));
      const uint64_t key_bits = (a[i] ^ b[i]) & (0 - swap);
      const uint64_t number_bits = (c[i] ^ d[i]) & (0 - swap);
      a[i] ^= key_bits;
      b[i] ^= key_bits;
      c[i] ^= number_bits;
      d[i] ^= number_bits;
    }
  }
};

}  // namespace internal

/*! \brief Sorts the n keys of each lane: key e of lane l is x[e * lanes + l]. */
template <typename Key>
struct KeyNetwork {
  static MXNET_ALWAYS_INLINE void Run(Key* x, int64_t n, int64_t lanes) {
    internal::MergeExchange(n, internal::KeyExchange<Key>{x, lanes});
  }
};

/*! \brief Sorts keys with a number each, by which equal ones are ordered; laid out as above. */
struct PairNetwork {
  static MXNET_ALWAYS_INLINE void Run(uint64_t* keys, uint64_t* numbers, int64_t n, int64_t lanes) {
    internal::MergeExchange(n, internal::PairExchange{keys, numbers, lanes});
  }
};

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_SORT_NETWORK_H_
