/*!
 * \file small_product.h
 * \brief Products of a few rows with a constant matrix that stays in the second cache, as those of
 * dense layers for one item: what a library takes to begin would be much of their time.
 */
#ifndef MXNET_SRC_OP_KERNELS_PRODUCT_SMALL_PRODUCT_H_
#define MXNET_SRC_OP_KERNELS_PRODUCT_SMALL_PRODUCT_H_

#include <cstddef>
#include <cstdint>

#include "op/kernels/lanes/lines.h"

namespace mxnet {
namespace op {

/*! \brief A matrix of `terms` x `columns` elements, which lie at any strides, and what is added to
 * each row of a product. */
struct SmallProductOperands {
  int64_t terms;
  int64_t columns;
  const float* matrix;
  int64_t row_stride;
  int64_t column_stride;
  const float* bias; /*!< NULL for none */
  bool relu;         /*!< whether negative sums become 0 */
};

/*! \brief A product by a matrix that is packed. Several threads may run it at once. */
class SmallProduct {
 public:
  /*! \brief With more rows libraries are as fast. */
  static constexpr int64_t kMostRows = 16;
  /*! \brief Elements of the largest matrix: larger ones are read as fast by libraries. */
  static constexpr int64_t kMostElements = int64_t{1} << 16;
  /*! \brief Products of elements: more are worth sharing between threads. */
  static constexpr int64_t kMostProducts = int64_t{1} << 18;

  /*! \brief Whether the loops take that many rows of `terms` elements, and are faster than what
   * libraries have. */
  static bool Suits(int64_t rows, int64_t columns, int64_t terms) noexcept;

  /*! \brief Packs copies of matrix and bias. */
  explicit SmallProduct(const SmallProductOperands& operands);

  /*! \brief Bytes that Run works in for so many rows. */
  size_t workspace(int64_t rows) const noexcept;

  /*! \brief c = a matrix + bias, of dense rows; work is aligned to 64 bytes. A NaN stays one. */
  void Run(const float* a, int64_t rows, float* c, void* work) const noexcept;

  /*! \brief What the loops of all levels read. */
  struct Parts {
    int64_t terms;
    int64_t columns;
    int64_t width; /*!< columns, padded to whole registers */
    bool relu;
    Lines matrix;
    Lines bias; /*!< padded with zeros */
  };

  /*! \brief What all of them read. */
  const Parts& parts() const noexcept { return parts_; }

 private:
  Parts parts_;
};

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_PRODUCT_SMALL_PRODUCT_H_
