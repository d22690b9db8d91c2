/*!
 * \file panel_product.h
 * \brief Products with a packed matrix, of which threads take panels: those of recurrent layers,
 * which multiply a few rows by the same matrix at each step.
 */
#ifndef MXNET_SRC_OP_KERNELS_PRODUCT_PANEL_PRODUCT_H_
#define MXNET_SRC_OP_KERNELS_PRODUCT_PANEL_PRODUCT_H_

#include <algorithm>
#include <cstdint>

#include "op/kernels/attention/attention.h"

namespace mxnet {
namespace op {

/*! \brief A matrix of terms x columns, in panels of some columns, which the loops of the processor
 * read one after the other. The memory of panels is the caller's, aligned to 64 bytes. */
class PanelProduct {
 public:
  /*! \brief Makes so many panels or more, if there are as many registers of columns; and no panel
   * that is wider than what registers can sum up. */
  PanelProduct(int64_t terms, int64_t columns, int64_t panels) noexcept;

  int64_t panels() const noexcept { return (columns_ + width_ - 1) / width_; }
  /*! \brief Floats from a row of results to the next, of the widest panel. */
  int64_t width() const noexcept { return width_; }
  /*! \brief The same of a panel. */
  int64_t width(int64_t panel) const noexcept {
    return (columns(panel) + lanes_ - 1) / lanes_ * lanes_;
  }
  int64_t first_column(int64_t panel) const noexcept { return panel * width_; }
  int64_t columns(int64_t panel) const noexcept {
    return std::min(width_, columns_ - panel * width_);
  }
  /*! \brief Floats of the memory of a panel. */
  int64_t floats() const noexcept { return (terms_ * width_ + 15) / 16 * 16; }

  /*! \brief Packs a panel of the matrix, whose columns or rows have to be dense. */
  void Pack(int64_t panel, const StridedRows& matrix, float* packed) const noexcept;

  /*! \brief c = a b, or c + a b, for the columns b of a panel; rows of c are width(panel) floats
   * apart, which are all written. A panel that is read afterwards, at `next`, is fetched. */
  void Multiply(int64_t panel, const float* packed, const float* a, int64_t a_row, int64_t rows,
                float* c, bool adds, const float* next = nullptr) const noexcept;

  /*! \brief So many matrices, whose panels are `between` floats apart, are multiplied at once. */
  static constexpr int kProducts = 4;

  /*! \brief c + a b for a row a and each of kProducts matrices b; results are c_between floats
   * apart. Processors read several panels at once faster than one after the other. */
  void AddRow(int64_t panel, const float* packed, int64_t between, const float* a, float* c,
              int64_t c_between) const noexcept;

 private:
  int64_t terms_;
  int64_t columns_;
  int64_t lanes_;
  int64_t width_;
};

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_PRODUCT_PANEL_PRODUCT_H_
