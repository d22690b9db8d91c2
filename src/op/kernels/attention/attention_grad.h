/*!
 * \file attention_grad.h
 * \brief The gradient of attention of one head: its weights are computed again from what the
 * forward pass tells of each query, so that no matrix of weights is kept.
 */
#ifndef MXNET_SRC_OP_KERNELS_ATTENTION_ATTENTION_GRAD_H_
#define MXNET_SRC_OP_KERNELS_ATTENTION_ATTENTION_GRAD_H_

#include <cstddef>
#include <cstdint>

#include "op/kernels/attention/attention.h"

namespace mxnet {
namespace op {

/*! \brief A gradient, whose elements of a row lie side by side. */
struct GradientRows {
  float* data;
  int64_t row;
};

struct AttentionGradCall {
  StridedRows q;
  StridedRows k;
  StridedRows v;
  StridedRows y;  /*!< what attention has given */
  StridedRows dy; /*!< its gradient */
  AttentionMask mask;
  const float* log_sums; /*!< as Attend has written them */
  GradientRows dq;
  GradientRows dk;
  GradientRows dv;
  bool adds; /*!< to dk and dv, as another head of queries has the same keys */
  int64_t num_queries;
  int64_t num_keys;
  int64_t size;       /*!< elements of a query and of a key */
  int64_t value_size; /*!< elements of a value */
  float scale;
  bool is_causal;
};

/*!
 * \brief Computes dq, dk and dv of all queries and keys of a head.
 *
 * A query whose mask leaves no key adds nothing to any of them. No extent is 0. work has
 * AttentionGradWorkspace bytes, aligned to 64.
 */
void DifferentiateAttention(const AttentionGradCall& call, void* work) noexcept;

size_t AttentionGradWorkspace(int64_t num_queries, int64_t size, int64_t value_size) noexcept;

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_ATTENTION_ATTENTION_GRAD_H_
