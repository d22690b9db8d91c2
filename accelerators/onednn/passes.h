/*!
 * \file passes.h
 * \brief One pass over the elements of one or two arrays.
 */
#ifndef ONEDNN_PASSES_H_
#define ONEDNN_PASSES_H_

#include <vector>

#include "plan.h"

namespace onednn {

/*! \brief What is done to each result: a function of it, or an operation with the first operand. */
struct Post {
  algorithm alg;
  bool with_first; /*!< a binary algorithm; else one of one operand, with alpha and beta */
  float alpha = 0;
  float beta = 0;
};

struct Pass {
  algorithm alg;
  std::vector<Post> posts;
};

/*! \brief Adds out = posts(alg(a, b)), a and b broadcast. */
void AddBinaryPass(const Pass& pass, const Array& a, const Array& b, const Array& out, Plan* plan);

/*! \brief Adds out = alg(x) with alpha and beta. */
void AddUnaryPass(algorithm alg, float alpha, float beta, const Array& x, const Array& out,
                  Plan* plan);

/*! \brief Reduces the rows of a dense array (rows, run) into a dense (rows). */
void AddRowsPass(algorithm alg, const Array& elements, const Array& out, Plan* plan);

}  // namespace onednn

#endif  // ONEDNN_PASSES_H_
