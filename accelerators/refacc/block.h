/*!
 * \file block.h
 * \brief Memory with zones, or pages that fault, before and behind it.
 */
#ifndef REFACC_BLOCK_H_
#define REFACC_BLOCK_H_

#include <cstddef>
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

/*! \brief Whether a zone has another byte: the first, or one that differs from that before it. */
inline bool IsDamaged(const char* begin, const char* end) {
  if (begin == end) return false;
  return static_cast<unsigned char>(*begin) != kZonePattern ||
         std::memcmp(begin, begin + 1, static_cast<size_t>(end - begin) - 1) != 0;
}
inline bool IsDamaged(const Block& block) {
  return IsDamaged(block.begin, block.data) || IsDamaged(block.data + block.size, block.end);
}
/*! \brief How many bytes away from a damaged block something was written, negative before it. */
ptrdiff_t DamageOf(const Block& block);

}  // namespace refacc

#endif  // REFACC_BLOCK_H_
