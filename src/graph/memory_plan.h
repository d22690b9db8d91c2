/*!
 * \file memory_plan.h
 * \brief Where the intermediate results of a plan lie in one span of memory.
 */
#ifndef MXNET_SRC_GRAPH_MEMORY_PLAN_H_
#define MXNET_SRC_GRAPH_MEMORY_PLAN_H_

#include <cstddef>
#include <vector>

namespace mxnet {
namespace graph {

/*! \brief Bytes to which each block begins at a multiple. */
constexpr size_t kAlignment = 64;

/*! \brief Memory that is needed from one step to another, both included. */
struct Block {
  size_t bytes;
  int first;
  int last;
  size_t offset; /*!< what PackBlocks writes */
};

/*!
 * \brief Gives each block an offset, so that none that are needed at the same time overlap.
 *
 * Returns the bytes of all. Blocks are sorted by their first step. Takes time linear in their
 * number but for a logarithm; where they are few, a second, slower way is tried as well and the
 * better one taken. Throws MemoryError where the sum is beyond 63 bits.
 */
size_t PackBlocks(std::vector<Block>* blocks);

}  // namespace graph
}  // namespace mxnet

#endif  // MXNET_SRC_GRAPH_MEMORY_PLAN_H_
