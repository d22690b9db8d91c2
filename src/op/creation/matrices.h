/*!
 * \file matrices.h
 * \brief New matrices with ones on a diagonal or below it, of a diagonal, and of a triangle.
 */
#ifndef MXNET_SRC_OP_CREATION_MATRICES_H_
#define MXNET_SRC_OP_CREATION_MATRICES_H_

#include <optional>

#include "op/tensor/strided.h"

namespace mxnet {
namespace op {

struct EyeAttributes {
  int64_t rows;
  std::optional<int64_t> columns;
  int64_t diagonal{0};
  std::optional<DLDataType> dtype;
};

/*! \brief Ones on a diagonal, and at and below it. */
NDArray MakeEye(const EyeAttributes& attributes, Context ctx);
NDArray MakeTri(const EyeAttributes& attributes, Context ctx);

/*! \brief A diagonal of a matrix, or a matrix of a diagonal. */
NDArray MakeDiag(const DLTensor& v, int64_t k);

/*! \brief The lower or upper triangle of matrices. */
NDArray MakeTriangle(const DLTensor& m, int64_t k, bool lower);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_CREATION_MATRICES_H_
