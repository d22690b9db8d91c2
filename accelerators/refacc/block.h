/*!
 * \file block.h
 * \brief Memory with zones, or pages that fault, before and behind it.
 */
#ifndef REFACC_BLOCK_H_
#define REFACC_BLOCK_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "settings.h"

namespace refacc {

/*! \brief One allocation; from begin to data and from data + size to end lies a pattern. */
struct Block {
  char* data;
  size_t size;
  char* begin;
  char* end;
  void* mapping;
  size_t mapping_size; /*!< 0 where mapping is memory of malloc */
};

/*! \brief A block, filled with what is NaN as a float if it is poisoned; Failure where there is
 * none. */
Block NewBlock(size_t size, size_t alignment, Guard guard, bool poison);
void DeleteBlock(const Block& block, bool poison);

/*! \brief Each byte of a zone. */
constexpr unsigned char kZonePattern = 0xA5;

/*! \brief 0 where 16 bytes have the pattern. */
inline uint64_t ChangesAt(const char* bytes) {
  constexpr uint64_t kPattern = ~uint64_t{0} / 0xff * kZonePattern;
  uint64_t words[2];
  std::memcpy(words, bytes, sizeof(words));
  return (words[0] ^ kPattern) | (words[1] ^ kPattern);
}
/*! \brief Whether a zone is not as it was made. */
inline bool IsDamaged(const char* begin, const char* end) {
  uint64_t changes = 0;
  for (; end - begin >= 64; begin += 64) {
    changes |=
        ChangesAt(begin) | ChangesAt(begin + 16) | ChangesAt(begin + 32) | ChangesAt(begin + 48);
  }
  for (; begin != end; ++begin) {
    changes |= static_cast<uint64_t>(static_cast<unsigned char>(*begin) ^ kZonePattern);
  }
  return changes != 0;
}
inline bool IsDamaged(const Block& block) {
  return IsDamaged(block.begin, block.data) || IsDamaged(block.data + block.size, block.end);
}
/*! \brief How many bytes away from a damaged block something was written, negative before it. */
ptrdiff_t DamageOf(const Block& block);

}  // namespace refacc

#endif  // REFACC_BLOCK_H_
