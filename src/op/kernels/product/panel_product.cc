/*!
 * \file panel_product.cc
 * \brief Products with panels on the registers that the processor has.
 */
#include "op/kernels/product/panel_product.h"

#include "op/kernels/lanes/floats.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief Of a panel, in the first cache. */
constexpr int64_t kPanelFloats = 6144;

}  // namespace

#define MXNET_LOOPS PanelLoops
#define MXNET_LOOPS_FILE "op/kernels/product/panel_product.inc"
#include "op/kernels/lanes/levels.inc"

PanelProduct::PanelProduct(int64_t terms, int64_t columns, int64_t panels) noexcept
    : terms_(terms), columns_(columns) {
  lanes_ = WithLoops([](auto loops) { return loops.kLanes; });
  const int64_t widest = WithLoops([](auto loops) { return loops.kWidest; });
  const int64_t registers = (columns + lanes_ - 1) / lanes_;
  const int64_t least = (registers * lanes_ + widest - 1) / widest;
  const int64_t count = std::clamp<int64_t>(panels, least, std::max<int64_t>(registers, 1));
  width_ = (registers + count - 1) / count * lanes_;
}

void PanelProduct::Pack(int64_t panel, const StridedRows& matrix, float* packed) const noexcept {
  const StridedRows part{matrix.data + first_column(panel) * matrix.column, matrix.row,
                         matrix.column};
  WithLoops([&](auto loops) { loops.Pack(part, terms_, columns(panel), packed); });
}

void PanelProduct::Multiply(int64_t panel, const float* packed, const float* a, int64_t a_row,
                            int64_t rows, float* c, bool adds, const float* next) const noexcept {
  const int64_t wide = width(panel);
  WithLoops(
      [&](auto loops) { loops.Multiply(packed, terms_, wide, a, a_row, rows, c, adds, next); });
}

void PanelProduct::AddRow(int64_t panel, const float* packed, int64_t between, const float* a,
                          float* c, int64_t c_between) const noexcept {
  const int64_t wide = width(panel);
  WithLoops([&](auto loops) { loops.AddRow(packed, between, terms_, wide, a, c, c_between); });
}

}  // namespace op
}  // namespace mxnet
