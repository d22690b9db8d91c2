/*!
 * \file lstm_cells.h
 * \brief Cells of an LSTM: what follows from the inputs of their gates.
 */
#ifndef MXNET_SRC_GRAPH_LSTM_CELLS_H_
#define MXNET_SRC_GRAPH_LSTM_CELLS_H_

#include "graph/training/recurrent.h"
#include "op/kernels/product/panel_product.h"

namespace mxnet {
namespace graph {

/*! \brief How the cells of a layer are cut into pieces of work: by columns, of which a thread
 * finds the weights in its caches, and where that makes too few, by rows of the batch. */
struct LstmPieces {
  int64_t panels; /*!< what PanelProduct is asked for */
  int64_t wanted;

  LstmPieces(int64_t batch, int64_t directions)
      : panels(1), wanted((2 * op::NumThreads() + directions - 1) / directions) {
    // Products of a few rows are as fast with narrow panels.
    if (batch < 2 * kLstmRows) panels = wanted;
  }

  /*! \brief Groups of rows, with so many panels. */
  int64_t Groups(int64_t batch, int64_t made) const {
    return std::clamp<int64_t>((wanted + made - 1) / made, 1,
                               std::max<int64_t>(batch / kLstmRows, 1));
  }

 private:
  /*! \brief The fewest of a group, a few tiles of products. */
  static constexpr int64_t kLstmRows = 24;
};

/*! \brief Weights of a panel of a gate, and how many floats behind them those of the next begin. */
struct GateWeights {
  const float* first;
  int64_t between;
};

/*! \brief Rows of h, `wide` floats apart. */
struct StateRows {
  const float* first;
  int64_t wide;
  int64_t count;
};

/*! \brief Adds the products of h of the step before to the four gates of a panel of cells, which
 * are `block` floats apart. */
inline void AddProducts(const op::PanelProduct& product, int64_t panel, GateWeights weights,
                        const StateRows& h, float* gates, int64_t block) {
  if (h.count == 1) {
    return product.AddRow(panel, weights.first, weights.between, h.first, gates, block);
  }
  for (int gate = 0; gate < op::PanelProduct::kProducts; ++gate) {
    // Behind the last gate is the next panel, or nothing, which to fetch does no harm.
    const float* const next = weights.first + weights.between;
    product.Multiply(panel, weights.first, h.first, h.wide, h.count, gates + gate * block, true,
                     next);
    weights.first = next;
  }
}

/*! \brief The new states of cells. Gates are i, o, f, c, as ONNX has them, a block each. */
struct RenewCells {
  static MXNET_ALWAYS_INLINE void Run(const float* gates, int64_t block, int64_t n, float* cells) {
    const float* in = gates;
    const float* forget = gates + 2 * block;
    const float* given = gates + 3 * block;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) cells[i] = forget[i] * cells[i] + in[i] * given[i];
  }
};

/*! \brief From the inputs of gates, of n cells each and `block` floats apart, to what the gates
 * give, the new states of cells, and their hyperbolic tangents. */
inline void AdvanceCells(float* gates, int64_t block, int64_t n, float* cells, float* steep) {
  static const auto renew = op::ForWideCpu<RenewCells>();
  if (block == n) {
    training::SigmoidRun(gates, 3 * n);
  } else {
    for (int gate = 0; gate < 3; ++gate) training::SigmoidRun(gates + gate * block, n);
  }
  training::TanhRun(gates + 3 * block, gates + 3 * block, n);
  renew(gates, block, n, cells);
  training::TanhRun(cells, steep, n);
}

struct MultiplyCells {
  static MXNET_ALWAYS_INLINE void Run(const float* a, const float* b, int64_t n, float* out) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = a[i] * b[i];
  }
};

}  // namespace graph
}  // namespace mxnet

#endif  // MXNET_SRC_GRAPH_LSTM_CELLS_H_
