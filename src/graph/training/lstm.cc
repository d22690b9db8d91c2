/*!
 * \file lstm.cc
 * \brief One direction of an LSTM in training, and what it is differentiated by.
 */
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/stl.h>

#include <algorithm>
#include <memory>

#include "graph/lstm_cells.h"
#include "graph/training/checks.h"
#include "graph/training/recurrent.h"
#include "op/kernels/product/panel_product.h"
#include "op/parallel/phases.h"

namespace mxnet {
namespace graph {
namespace training {
namespace {

using op::Kernel;
using op::KernelInput;
using op::KernelOutput;
using op::PanelProduct;
using runtime::kFloat32;
using runtime::Ref;

/* ---- gates are i, o, f, c, as ONNX has them ---- */

constexpr int64_t kGates = 4;

/*! \brief Cells of a step that are one piece of work, of a panel of columns and some rows. */
struct Cells {
  int64_t panel;
  int64_t first; /*!< column */
  int64_t count; /*!< columns */
  int64_t wide;  /*!< floats from a row to the next in the memory of the piece */
  int64_t begin; /*!< row */
  int64_t rows;
};

/*! \brief The pieces of all steps, and the memory of each panel. */
struct Pieces {
  Sequence sequence;
  PanelProduct product; /*!< with the recurrent weights, or a gate of them */
  int64_t groups;

  Pieces(const Sequence& of, int64_t terms, const LstmPieces& asked)
      : sequence(of),
        product(terms, of.hidden, asked.panels),
        groups(asked.Groups(of.batch, product.panels())) {}

  int64_t count() const { return product.panels() * groups; }
  /*! \brief Floats of a number for each cell of a panel. */
  int64_t block() const { return sequence.batch * product.width(); }

  Cells At(int64_t piece) const {
    const int64_t panel = piece / groups;
    const int64_t group = piece % groups;
    const int64_t begin = sequence.batch * group / groups;
    return {panel,
            product.first_column(panel),
            product.columns(panel),
            product.width(panel),
            begin,
            sequence.batch * (group + 1) / groups - begin};
  }
};

/*! \brief linear, recurrent weights, h and c of the beginning to all h, the last h and c, and what
 * the gradient needs. */
struct Lstm {
  Pieces pieces;

  /*! \brief Of a panel: the weights of all gates, and of each cell gates, c and its tangent. */
  int64_t panel_floats() const {
    return kGates * pieces.product.floats() + (kGates + 2) * pieces.block();
  }
  size_t workspace() const {
    return static_cast<size_t>(pieces.product.panels() * panel_floats()) * sizeof(float);
  }

  void Run(const DLTensor* in, int, DLTensor* out, int, void* workspace) const {
    op::InPhases(1 + pieces.sequence.steps, pieces.count(), [&](int64_t phase, int64_t piece) {
      const Cells cells = pieces.At(piece);
      float* const memory = static_cast<float*>(workspace) + cells.panel * panel_floats();
      if (phase == 0) return Pack(In<float>(in[1]), piece % pieces.groups, cells, memory);
      Advance(in, out, phase - 1, cells, memory);
    });
  }

 private:
  /*! \brief Packs gates of a panel, as they have to be again after each step of an optimizer. */
  void Pack(const float* weights, int64_t group, const Cells& cells, float* memory) const {
    const int64_t n = pieces.sequence.hidden;
    for (int64_t gate = group; gate < kGates; gate += pieces.groups) {
      pieces.product.Pack(cells.panel, {weights + gate * n * n, 1, n},
                          memory + gate * pieces.product.floats());
    }
  }

  void Advance(const DLTensor* in, DLTensor* out, int64_t position, const Cells& cells,
               float* memory) const {
    static const auto multiply = op::ForWideCpu<MultiplyCells>();
    const Sequence& sequence = pieces.sequence;
    const int64_t n = sequence.hidden;
    const int64_t state = sequence.state();
    const int64_t step = sequence.step(position);
    auto* const y = Out<float>(out[0]);
    const float* const before =
        position == 0 ? In<float>(in[2]) : y + sequence.step(position - 1) * state;
    const float* const linear =
        In<float>(in[0]) + kGates * (step * state + cells.begin * n) + cells.first;
    const int64_t block = pieces.block();
    float* const gates = memory + kGates * pieces.product.floats() + cells.begin * cells.wide;
    for (int64_t gate = 0; gate < kGates; ++gate) {
      CopyRows(linear + gate * n, kGates * n, cells, gates + gate * block);
    }
    AddProducts(pieces.product, cells.panel, {memory, pieces.product.floats()},
                {before + cells.begin * n, n, cells.rows}, gates, block);
    float* const c = gates + kGates * block;
    float* const steep = c + block;
    if (position == 0) CopyRows(In<float>(in[3]) + cells.begin * n + cells.first, n, cells, c);
    AdvanceCells(gates, block, cells.rows * cells.wide, c, steep);
    for (int64_t i = 0; i < cells.rows; ++i) {
      const int64_t at = (cells.begin + i) * n + cells.first;
      float* const saved =
          Out<float>(out[3]) + 5 * (step * state + (cells.begin + i) * n) + cells.first;
      for (int64_t kept = 0; kept <= kGates; ++kept) {
        std::copy_n(gates + kept * block + i * cells.wide, cells.count, saved + kept * n);
      }
      float* const h = y + step * state + at;
      multiply(gates + block + i * cells.wide, steep + i * cells.wide, cells.count, h);
      if (position + 1 < sequence.steps) continue;
      std::copy_n(h, cells.count, Out<float>(out[1]) + at);
      std::copy_n(c + i * cells.wide, cells.count, Out<float>(out[2]) + at);
    }
  }

  /*! \brief The columns of a piece, and zeros behind them. */
  static void CopyRows(const float* from, int64_t stride, const Cells& cells, float* to) {
    for (int64_t i = 0; i < cells.rows; ++i) {
      float* const row = to + i * cells.wide;
      std::fill(std::copy_n(from + i * stride, cells.count, row), row + cells.wide, 0.0f);
    }
  }
};

/*! \brief The gradients of n gates, which are `stride` apart, and of the cell before. steep is the
 * hyperbolic tangent of c. */
struct DifferentiateCell {
  static MXNET_ALWAYS_INLINE void Run(const float* dy, const float* saved, const float* before,
                                      const float* steep, int64_t stride, int64_t n,
                                      const float* d_h, float* d_c, float* d_gates) {
    const float* in = saved;
    const float* out = saved + stride;
    const float* forget = saved + 2 * stride;
    const float* given = saved + 3 * stride;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const float gradient = dy == nullptr ? d_h[i] : d_h[i] + dy[i];
      const float cell = d_c[i] + gradient * out[i] * (1 - steep[i] * steep[i]);
      d_gates[i] = cell * given[i] * in[i] * (1 - in[i]);
      d_gates[stride + i] = gradient * steep[i] * out[i] * (1 - out[i]);
      d_gates[2 * stride + i] = cell * before[i] * forget[i] * (1 - forget[i]);
      d_gates[3 * stride + i] = cell * in[i] * (1 - given[i] * given[i]);
      d_c[i] = cell * forget[i];
    }
  }
};

/*! \brief Gradients of the last h and c, what was saved, c of the beginning, recurrent weights[,
 * gradients of all h] to gradients of gates and of the first h and c. */
struct LstmGradient {
  Pieces pieces;
  bool has_dy;

  /*! \brief Of a panel: its weights, and of each cell the gradients of h and c, and the tangent. */
  int64_t panel_floats() const { return pieces.product.floats() + 3 * pieces.block(); }
  size_t workspace() const {
    return static_cast<size_t>(pieces.product.panels() * panel_floats()) * sizeof(float);
  }

  void Run(const DLTensor* in, int, DLTensor* out, int, void* workspace) const {
    const int64_t n = pieces.sequence.hidden;
    const int64_t steps = pieces.sequence.steps;
    op::InPhases(steps + 2, pieces.count(), [&](int64_t phase, int64_t piece) {
      const Cells cells = pieces.At(piece);
      float* const memory = static_cast<float*>(workspace) + cells.panel * panel_floats();
      if (phase == 0) {
        if (piece % pieces.groups > 0) return;
        return pieces.product.Pack(cells.panel, {In<float>(in[4]), n, 1}, memory);
      }
      float* const d_h = memory + pieces.product.floats() + cells.begin * cells.wide;
      if (phase > 1) {
        const int64_t behind = pieces.sequence.step(steps + 1 - phase);
        const auto* d_gates = Out<float>(out[0]) + kGates * behind * pieces.sequence.state();
        pieces.product.Multiply(cells.panel, memory, d_gates + kGates * cells.begin * n, kGates * n,
                                cells.rows, d_h, false);
      }
      if (phase <= steps) return Differentiate(in, out, steps - phase, cells, d_h);
      for (int64_t i = 0; i < cells.rows; ++i) {
        const int64_t at = (cells.begin + i) * n + cells.first;
        std::copy_n(d_h + i * cells.wide, cells.count, Out<float>(out[1]) + at);
        std::copy_n(d_h + pieces.block() + i * cells.wide, cells.count, Out<float>(out[2]) + at);
      }
    });
  }

 private:
  void Differentiate(const DLTensor* in, DLTensor* out, int64_t position, const Cells& cells,
                     float* d_h) const {
    static const auto differentiate = op::ForWideCpu<DifferentiateCell>();
    const Sequence& sequence = pieces.sequence;
    const int64_t n = sequence.hidden;
    const int64_t state = sequence.state();
    const int64_t step = sequence.step(position);
    const auto* const saved = In<float>(in[2]);
    float* const d_c = d_h + pieces.block();
    float* const steep = d_c + pieces.block();
    for (int64_t i = 0; i < cells.rows; ++i) {
      const int64_t at = (cells.begin + i) * n + cells.first;
      if (position + 1 == sequence.steps) {
        std::copy_n(In<float>(in[0]) + at, cells.count, d_h + i * cells.wide);
        std::copy_n(In<float>(in[1]) + at, cells.count, d_c + i * cells.wide);
      }
      // Where the row of a cell begins in an array of so many numbers for each cell.
      const auto row = [&](int64_t numbers, int64_t of) {
        return numbers * (of * state + (cells.begin + i) * n) + cells.first;
      };
      const float* const kept = saved + row(5, step);
      const float* const before = position == 0
                                      ? In<float>(in[3]) + at
                                      : saved + row(5, sequence.step(position - 1)) + kGates * n;
      TanhRun(kept + kGates * n, steep + i * cells.wide, cells.count);
      differentiate(has_dy ? In<float>(in[5]) + row(1, step) : nullptr, kept, before,
                    steep + i * cells.wide, n, cells.count, d_h + i * cells.wide,
                    d_c + i * cells.wide, Out<float>(out[0]) + row(kGates, step));
    }
  }
};

/*! \brief The sequence of these extents, whose recurrent weights memory can have. */
Sequence CheckedSequence(const Shape& extents, bool is_reversed) {
  const Sequence of = SequenceOf(extents, is_reversed, 5);
  CheckShape("extents, of recurrent weights", {kGates, of.hidden, of.hidden});
  return of;
}

Ref<Kernel> MakeLstm(const Shape& extents, bool is_reversed) {
  const Sequence of = CheckedSequence(extents, is_reversed);
  auto state = std::unique_ptr<Lstm>(new Lstm{{of, of.hidden, LstmPieces(of.batch, 1)}});
  const Shape one{of.batch, of.hidden};
  const size_t workspace = state->workspace();
  std::vector<KernelInput> inputs{{kFloat32, {of.steps, of.batch, kGates * of.hidden}},
                                  {kFloat32, {kGates * of.hidden, of.hidden}},
                                  {kFloat32, one},
                                  {kFloat32, one}};
  return op::MakeKernel(
      "training.lstm", std::move(inputs),
      {KernelOutput{kFloat32, {of.steps, of.batch, of.hidden}}, KernelOutput{kFloat32, one},
       KernelOutput{kFloat32, one}, KernelOutput{kFloat32, {of.steps, of.batch, 5 * of.hidden}}},
      std::move(state), workspace);
}

Ref<Kernel> MakeLstmGradient(const Shape& extents, bool is_reversed, bool has_dy) {
  const Sequence of = CheckedSequence(extents, is_reversed);
  auto state = std::unique_ptr<LstmGradient>(
      new LstmGradient{{of, kGates * of.hidden, LstmPieces(of.batch, 1)}, has_dy});
  const Shape one{of.batch, of.hidden};
  const size_t workspace = state->workspace();
  std::vector<KernelInput> inputs{{kFloat32, one},
                                  {kFloat32, one},
                                  {kFloat32, {of.steps, of.batch, 5 * of.hidden}},
                                  {kFloat32, one},
                                  {kFloat32, {kGates * of.hidden, of.hidden}}};
  if (has_dy) inputs.push_back({kFloat32, {of.steps, of.batch, of.hidden}});
  return op::MakeKernel("training.lstm_grad", std::move(inputs),
                        {KernelOutput{kFloat32, {of.steps, of.batch, kGates * of.hidden}},
                         KernelOutput{kFloat32, one}, KernelOutput{kFloat32, one}},
                        std::move(state), workspace);
}

MXNET_REGISTER_API("mx.graph.training.lstm")
    .describe(
        "A kernel for one direction: x times its weights with biases, the recurrent weights, h "
        "and c of the beginning to all h, the last h and c, and for each step gates and c.")
    .arg("extents", "Steps, batch and the extent of the state.")
    .arg("is_reversed", "Whether the last step is taken first.")
    .name_errors()
    .set_body_typed(&MakeLstm);

MXNET_REGISTER_API("mx.graph.training.lstm_grad")
    .describe(
        "A kernel for one direction: the gradients of the last h and c, what was saved, c of "
        "the beginning, the recurrent weights[, the gradients of all h] to the gradients of "
        "gates, and of h and c of the beginning.")
    .arg("extents", "Steps, batch and the extent of the state.")
    .arg("is_reversed", "Whether the last step is taken first.")
    .arg("has_dy", "Whether gradients of all h are given.")
    .name_errors()
    .set_body_typed(&MakeLstmGradient);

}  // namespace
}  // namespace training
}  // namespace graph
}  // namespace mxnet
