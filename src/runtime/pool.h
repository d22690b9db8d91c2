/*!
 * \file pool.h
 * \brief Pooled, 64-byte aligned memory for array headers and elements.
 */
#ifndef MXNET_SRC_RUNTIME_POOL_H_
#define MXNET_SRC_RUNTIME_POOL_H_

#include <cstddef>

namespace mxnet {
namespace runtime {

/*! \brief Memory of the pool: raw is what PoolFree takes, data is raw aligned to 64 bytes. */
struct PoolBlock {
  void* raw;
  void* data;
};

/*!
 * \brief At least size bytes; raw is nullptr where there is no memory.
 *
 * Small blocks come from lists of the calling thread and need no lock. A block may be freed on
 * another thread, whose lists it then joins. Large zeroed blocks get their pages on first touch.
 */
PoolBlock PoolAlloc(size_t size, bool zeroed);

/*! \brief Returns a block; size is the one it was asked with. */
void PoolFree(void* raw, size_t size);

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_SRC_RUNTIME_POOL_H_
