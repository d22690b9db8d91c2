/*!
 * \file diagonal.h
 * \brief Diagonals and triangles of matrices.
 */
#ifndef MXNET_SRC_OP_CREATION_DIAGONAL_H_
#define MXNET_SRC_OP_CREATION_DIAGONAL_H_

#include <mxnet/runtime/dlpack.h>

#include <cstdint>

namespace mxnet {
namespace op {

constexpr char kDiagonalDoc[] =
    "Which diagonal: 0 the main one, positive above, negative below it.";

/*! \brief A diagonal of a tensor of two axes, as a tensor of one that shows its elements. */
struct DiagonalTensor {
  DiagonalTensor(const DLTensor& matrix, int64_t k);
  DiagonalTensor(const DiagonalTensor&) = delete;
  DiagonalTensor& operator=(const DiagonalTensor&) = delete;

  int64_t length;
  int64_t stride;
  DLTensor tensor;
};

/*! \brief Number of elements on a diagonal of a matrix. */
int64_t DiagonalLength(int64_t rows, int64_t columns, int64_t k);

/*! \brief The same of extents that may be symbolic. */
int64_t DiagonalExtent(int64_t rows, int64_t columns, int64_t k);

/*! \brief Clears the elements of row-major matrices above diagonal k, or below it. */
void ClearTriangles(const DLTensor& matrices, int64_t k, bool above);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_CREATION_DIAGONAL_H_
