/*!
 * \file product.h
 * \brief matmul, dot, inner, outer and tensordot: which axes are summed.
 */
#ifndef MXACC_SDK_OPERATORS_PRODUCT_H_
#define MXACC_SDK_OPERATORS_PRODUCT_H_

#include <optional>

#include "axes.h"
#include "reduction.h"
#include "request.h"

namespace mxacc {

/*! \brief The tensors of a product, in the order of the strides of its axes. */
enum ProductTensor { kOut, kA, kB };

/*! \brief The axes of a product, each with its strides in the output, a and b; 0 where it is not
 * theirs. */
struct ProductAxes {
  Axes batch{3};   /*!< of all three */
  Axes rows{3};    /*!< of the output and a */
  Axes columns{3}; /*!< of the output and b */
  Axes summed{3};  /*!< of a and b */
};

struct Product {
  int a; /*!< positions of the inputs */
  int b;
  DType of_a;
  DType of_b;
  DType dtype; /*!< that is computed in, and of the output */
  ProductAxes axes;
};

/*! \brief What an operator is, if it is one of these. */
std::optional<Product> FindProduct(const Request& request);

/*! \brief The same as a sum over the products of pairs of elements. */
ReduceAxes AsReduction(const ProductAxes& axes);

/*! \brief A matrix of a product, and where it is not one in memory, of what it is copied into. */
struct Matrix {
  int64_t rows;
  int64_t columns;
  bool direct;     /*!< the tensor is a matrix whose rows, or whose columns, are dense */
  bool transposed; /*!< the columns are dense; never of the output */
  int64_t leading; /*!< from row to row, or from column to column where transposed */
  Axes dense{2};   /*!< of the dense matrix and of the tensor, where it is not direct */
};

/*! \brief A product as one of matrices, for each index of batch. */
struct MatrixProduct {
  Axes batch{3};
  Matrix matrices[3]; /*!< as ProductTensor numbers them */

  int64_t rows() const { return matrices[kOut].rows; }
  int64_t columns() const { return matrices[kOut].columns; }
  int64_t summed() const { return matrices[kA].columns; }
};

MatrixProduct AsMatrices(ProductAxes axes);

/*! \brief Where in a workspace the matrices are that are not direct. */
struct MatrixRooms {
  /*! \brief For count of each, of elements of item bytes. */
  MatrixRooms(const MatrixProduct& product, int64_t count, int64_t item);

  int64_t offsets[3]{}; /*!< in elements */
  uint64_t bytes{0};
};

}  // namespace mxacc

#endif  // MXACC_SDK_OPERATORS_PRODUCT_H_
