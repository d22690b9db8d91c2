#include "acc/partition/content_hash.h"

#include <algorithm>
#include <cstring>

namespace mxnet {
namespace acc {
namespace {

using Wide = unsigned __int128;

constexpr size_t kBlockWords = 128;
constexpr size_t kBlock = kBlockWords * sizeof(uint64_t);
constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;
constexpr int kPieceBits = 60;
constexpr uint64_t kPieceMask = (uint64_t{1} << kPieceBits) - 1;

/*! \brief The hash NH of a block: a sum of products of words to which words of the key are added.
 */
Wide HashBlock(const char* from, const uint64_t* key) {
  Wide sums[2] = {0, 0};
  for (size_t i = 0; i < kBlockWords; i += 4) {
    uint64_t words[4];
    std::memcpy(words, from + i * sizeof(uint64_t), sizeof(words));
    sums[0] += Wide{words[0] + key[i]} * (words[1] + key[i + 1]);
    sums[1] += Wide{words[2] + key[i + 2]} * (words[3] + key[i + 3]);
  }
  return sums[0] + sums[1];
}

/*! \brief Polynomials in two elements of the key modulo a prime, of which the pieces of the hashes
 * of blocks are the coefficients. */
class Polynomials {
 public:
  explicit Polynomials(const uint64_t* key) : at_{key[0] & kPieceMask, key[1] & kPieceMask} {}

  /*! \brief Adds a coefficient of at most 60 bits. */
  void Add(uint64_t coefficient) {
    for (size_t i = 0; i < 2; ++i) {
      const Wide product = Wide{values_[i]} * at_[i] + coefficient;
      const uint64_t sum =
          (static_cast<uint64_t>(product) & kPrime) + static_cast<uint64_t>(product >> 61);
      values_[i] = sum >= kPrime ? sum - kPrime : sum;
    }
  }

  std::string Digits() const {
    std::string digits;
    for (const uint64_t value : values_) {
      for (int shift = 60; shift >= 0; shift -= 4) {
        digits += "0123456789abcdef"[(value >> shift) & 15];
      }
    }
    return digits;
  }

 private:
  uint64_t at_[2];
  uint64_t values_[2] = {1, 1};
};

}  // namespace

std::string ContentHash(const void* data, size_t size, const uint64_t* key) {
  Polynomials polynomials(key + kBlockWords);
  const char* from = static_cast<const char*>(data);
  for (size_t left = size; left != 0;) {
    char padded[kBlock];
    const char* block = from;
    const size_t taken = std::min(left, kBlock);
    if (taken < kBlock) {
      std::memcpy(padded, from, taken);
      std::memset(padded + taken, 0, kBlock - taken);
      block = padded;
    }
    const Wide hash = HashBlock(block, key);
    polynomials.Add(static_cast<uint64_t>(hash) & kPieceMask);
    polynomials.Add(static_cast<uint64_t>(hash >> kPieceBits) & kPieceMask);
    polynomials.Add(static_cast<uint64_t>(hash >> (2 * kPieceBits)));
    from += taken;
    left -= taken;
  }
  polynomials.Add(static_cast<uint64_t>(size) & kPieceMask);
  return polynomials.Digits();
}

}  // namespace acc
}  // namespace mxnet
