/*!
 * \file gather.h
 * \brief Elements at even steps, brought together.
 */
#ifndef MXNET_SRC_OP_KERNELS_ELEMENTWISE_GATHER_H_
#define MXNET_SRC_OP_KERNELS_ELEMENTWISE_GATHER_H_

#include <cstdint>

namespace mxnet {
namespace op {

/*!
 * \brief How many elements of a line of so many bytes, gaps included, are brought together at a
 * time: `most` of what the caches hold, and few of what comes from memory, so that the processor
 * asks for the next ones while it computes with these.
 */
constexpr int64_t GatheredAtOnce(int64_t bytes, int64_t most) {
  constexpr int64_t kInCaches = int64_t{2} << 20;
  constexpr int64_t kFew = 64;
  return (bytes < 0 ? -bytes : bytes) > kInCaches && most > kFew ? kFew : most;
}

/*! \brief Copies n elements of `item` bytes, 1, 2, 4, 8 or 16, that are `stride` bytes apart. */
void GatherStrided(const char* from, int64_t stride, int64_t item, int64_t n, char* dense);

/*! \brief Writes n dense elements `stride` bytes apart, and nothing between them. */
void ScatterStrided(const char* dense, int64_t item, int64_t n, char* to, int64_t stride);

/*!
 * \brief Runs a loop of `count` operands, 0 being what is written, on chunks that are brought
 * together first, so that the loop is that of dense elements; a result that lies apart is written
 * from the chunk.
 *
 * What is written is apart from the others or one of them. Operands of stride 0 stay as they are;
 * what is written has none.
 */
void RunGathered(void (*loop)(char* const* data, const int64_t* strides, int64_t n),
                 const int64_t* items, int count, char* const* data, const int64_t* strides,
                 int64_t n);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_ELEMENTWISE_GATHER_H_
