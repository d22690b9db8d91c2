/*!
 * \file attention.h
 * \brief Attention of some queries of one head to all its keys: softmax(q k^T * scale + mask) v.
 *
 * Keys are taken in blocks, whose scores stay in the caches: what the blocks before have summed is
 * made smaller where a block has a larger score.
 */
#ifndef MXNET_SRC_OP_KERNELS_ATTENTION_ATTENTION_H_
#define MXNET_SRC_OP_KERNELS_ATTENTION_ATTENTION_H_

#include <cstddef>
#include <cstdint>

namespace mxnet {
namespace op {

/*! \brief A matrix whose elements lie at any strides, which count elements. */
struct StridedRows {
  const float* data;
  int64_t row;
  int64_t column;
};

/*! \brief What is added to the scores: numbers, or where of bytes, minus infinity for 0. */
struct AttentionMask {
  const void* data{nullptr}; /*!< NULL for none */
  int64_t row{0};
  int64_t column{0};
  bool is_bool{false};
};

struct AttentionCall {
  StridedRows q; /*!< of the first query of all, not of those that are asked for */
  StridedRows k;
  StridedRows v;
  AttentionMask mask;
  float* out; /*!< rows of value_size elements without gaps between them */
  int64_t out_row;
  float* log_sums; /*!< or NULL; by query the logarithm of the sum of exp(score) over the keys, and
                        infinity where the mask leaves none */
  int64_t first_query;
  int64_t num_queries;
  int64_t num_keys;   /*!< not 0 */
  int64_t size;       /*!< elements of a query and of a key */
  int64_t value_size; /*!< elements of a value */
  float scale;
  bool is_causal; /*!< whether query i gets keys up to i only */
};

/*! \brief The keys of a block. */
constexpr int64_t kAttentionKeys = 256;

/*!
 * \brief Computes rows first_query to first_query + num_queries of the result, which depends on
 * nothing else of the call.
 *
 * A row whose mask is minus infinity for all keys is 0, whatever the other elements are. NaN and
 * infinities go through sums as IEEE 754 says; keys that is_causal leaves out are not all looked
 * at. work has AttentionWorkspace bytes, aligned to 64.
 */
void Attend(const AttentionCall& call, void* work) noexcept;

size_t AttentionWorkspace(int64_t num_queries, int64_t size, int64_t value_size) noexcept;

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_ATTENTION_ATTENTION_H_
