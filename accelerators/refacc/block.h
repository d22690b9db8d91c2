/*!
 * \file block.h
 * \brief Memory with zones, or pages that fault, before and behind it.
 */
#ifndef REFACC_BLOCK_H_
#define REFACC_BLOCK_H_

#include <cstddef>

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
/*! \brief How many bytes away from the block something was written, negative before it; 0 for none.
 */
ptrdiff_t DamageOf(const Block& block);

}  // namespace refacc

#endif  // REFACC_BLOCK_H_
