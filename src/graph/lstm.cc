/*!
 * \file lstm.cc
 * \brief A kernel of LSTM with constant weights: all steps and directions.
 */
#include <mxnet/op/kernel.h>
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/stl.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/lstm_cells.h"
#include "graph/training/checks.h"
#include "op/kernels/lanes/lines.h"
#include "op/kernels/product/panel_product.h"
#include "op/parallel/phases.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace graph {
namespace {

using op::KernelInput;
using op::KernelOutput;
using op::Lines;
using op::PanelProduct;
using op::StridedRows;
using runtime::kFloat32;
using runtime::NDArray;
using runtime::Ref;
using training::CheckNumbers;
using training::CheckWeight;
using training::In;
using training::Out;
using training::Shape;

constexpr int64_t kGates = 4;
static_assert(kGates == PanelProduct::kProducts);
/*! \brief Bytes of gates of several steps, which get the share of the inputs at once. */
constexpr int64_t kChunkBytes = int64_t{1} << 18;

/*!
 * \brief x[, h and c of the beginning] to h of all steps and the last h and c.
 *
 * A piece of work is of a panel of cells, some rows of the batch and a direction, with all gates:
 * what it needs of others is h of the step before.
 */
struct Lstm {
  int64_t steps;
  int64_t batch;
  int64_t inputs;
  int64_t hidden;
  std::vector<bool> are_reversed; /*!< by direction */
  bool has_h;
  bool has_c;
  PanelProduct of_x;
  PanelProduct of_h;
  int64_t groups; /*!< of rows of the batch */
  int64_t chunk;  /*!< steps that are given the share of the inputs at once */
  Lines weights;  /*!< by direction, panel and gate: that of x and that of h */
  Lines biases;   /*!< of the same */

  int64_t directions() const { return static_cast<int64_t>(are_reversed.size()); }
  int64_t pieces() const { return directions() * of_h.panels() * groups; }
  /*! \brief Floats of a gate of a panel in a chunk, and of its cells. */
  int64_t gate_floats() const { return chunk * batch * of_h.width(); }
  int64_t cell_floats() const { return batch * of_h.width(); }
  int64_t panel_floats() const { return kGates * gate_floats() + cell_floats(); }
  size_t workspace() const {
    return static_cast<size_t>(directions() * of_h.panels() * panel_floats()) * sizeof(float);
  }
  std::vector<op::KernelConstant> constants() const {
    return {{weights.data(), weights.bytes()}, {biases.data(), biases.bytes()}};
  }
  int64_t weight_floats() const { return of_x.floats() + of_h.floats(); }

  /*! \brief Gates are gate * hidden rows of both weights, and of both biases. */
  void Pack(const float* w, const float* r, const float* b) {
    const int64_t panels = of_h.panels();
    weights = Lines(directions() * panels * kGates * weight_floats());
    biases = Lines(directions() * panels * kGates * of_h.width());
    for (int64_t number = 0; number < directions() * panels * kGates; ++number) {
      const int64_t gate = number % kGates;
      const int64_t panel = number / kGates % panels;
      const int64_t direction = number / kGates / panels;
      const int64_t row = (direction * kGates + gate) * hidden;
      float* const packed = weights.data() + number * weight_floats();
      of_x.Pack(panel, {w + row * inputs, 1, inputs}, packed);
      of_h.Pack(panel, {r + row * hidden, 1, hidden}, packed + of_x.floats());
      if (b == nullptr) continue;
      const float* const of_x_bias =
          b + (2 * direction * kGates + gate) * hidden + of_h.first_column(panel);
      for (int64_t j = 0; j < of_h.columns(panel); ++j) {
        biases.data()[number * of_h.width() + j] = of_x_bias[j] + of_x_bias[kGates * hidden + j];
      }
    }
  }

  void Run(const DLTensor* in, int, DLTensor* out, int, void* workspace) const {
    op::InPhases(steps, pieces(), [&](int64_t position, int64_t piece) {
      DoPiece({in, out, static_cast<float*>(workspace)}, position, piece);
    });
  }

 private:
  struct Memory {
    const DLTensor* in;
    DLTensor* out;
    float* workspace;
  };

  /*! \brief Rows of a batch in a panel. */
  struct Piece {
    int64_t direction;
    int64_t panel;
    int64_t begin;
    int64_t end;
    int64_t wide; /*!< floats of a row */
    const float* weights;
    float* gates;
    float* cells;
  };

  int64_t Step(int64_t direction, int64_t position) const {
    return are_reversed[static_cast<size_t>(direction)] ? steps - 1 - position : position;
  }

  void DoPiece(const Memory& memory, int64_t position, int64_t number) const {
    const int64_t panels = of_h.panels();
    const int64_t group = number % groups;
    const int64_t panel = number / groups % panels;
    const int64_t direction = number / groups / panels;
    const int64_t of_all = direction * panels + panel;
    float* const gates = memory.workspace + of_all * panel_floats();
    const Piece piece{direction,
                      panel,
                      batch * group / groups,
                      batch * (group + 1) / groups,
                      of_h.width(panel),
                      weights.data() + of_all * kGates * weight_floats(),
                      gates,
                      gates + kGates * gate_floats()};
    if (position % chunk == 0) AddInputs(memory, position, piece);
    Advance(memory, position, piece);
  }

  /*! \brief Gates of a chunk become their biases and the products of the inputs. */
  void AddInputs(const Memory& memory, int64_t position, const Piece& piece) const {
    const int64_t count = std::min(chunk, steps - position);
    const int64_t first =
        std::min(Step(piece.direction, position), Step(piece.direction, position + count - 1));
    const auto* x = In<float>(memory.in[0]) + first * batch * inputs;
    const float* const bias =
        biases.data() + (piece.direction * of_h.panels() + piece.panel) * kGates * of_h.width();
    // Rows of several steps lie one behind the other where the piece has all of the batch.
    const bool has_all = groups == 1;
    const int64_t rows = has_all ? count * batch : piece.end - piece.begin;
    for (int64_t step = 0; step < (has_all ? 1 : count); ++step) {
      const int64_t row = step * batch + piece.begin;
      for (int64_t gate = 0; gate < kGates; ++gate) {
        float* const to = piece.gates + gate * gate_floats() + row * piece.wide;
        for (int64_t i = 0; i < rows; ++i) {
          std::copy_n(bias + gate * of_h.width(), piece.wide, to + i * piece.wide);
        }
        of_x.Multiply(piece.panel, piece.weights + gate * weight_floats(), x + row * inputs, inputs,
                      rows, to, true);
      }
    }
  }

  void Advance(const Memory& memory, int64_t position, const Piece& piece) const {
    static const auto multiply = op::ForWideCpu<MultiplyCells>();
    const int64_t step = Step(piece.direction, position);
    const int64_t of_chunk = position % chunk;
    const bool is_reversed = are_reversed[static_cast<size_t>(piece.direction)];
    const int64_t count = std::min(chunk, steps - position + of_chunk);
    const int64_t row = (is_reversed ? count - 1 - of_chunk : of_chunk) * batch + piece.begin;
    const int64_t rows = piece.end - piece.begin;
    float* const gates = piece.gates + row * piece.wide;
    const float* const before = Before(memory, position, piece);
    if (before != nullptr) {
      AddProducts(of_h, piece.panel, {piece.weights + of_x.floats(), weight_floats()},
                  {before + piece.begin * hidden, hidden, rows}, gates, gate_floats());
    }
    float* const cells = piece.cells + piece.begin * piece.wide;
    if (position == 0) Begin(memory, piece, cells);
    AdvanceCells(gates, gate_floats(), rows * piece.wide, cells, gates);
    const float* const opened = gates + gate_floats();
    const int64_t column = of_h.first_column(piece.panel);
    const int64_t some = of_h.columns(piece.panel);
    float* const y = Out<float>(memory.out[0]) + (step * directions() + piece.direction) * state();
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t at = (piece.begin + i) * hidden + column;
      multiply(gates + i * piece.wide, opened + i * piece.wide, some, y + at);
      if (position + 1 < steps) continue;
      const int64_t last = piece.direction * state() + at;
      std::copy_n(y + at, some, Out<float>(memory.out[1]) + last);
      std::copy_n(cells + i * piece.wide, some, Out<float>(memory.out[2]) + last);
    }
  }

  int64_t state() const { return batch * hidden; }

  /*! \brief h in front of a step; nullptr for zeros. */
  const float* Before(const Memory& memory, int64_t position, const Piece& piece) const {
    if (position == 0) {
      return has_h ? In<float>(memory.in[1]) + piece.direction * state() : nullptr;
    }
    const int64_t step = Step(piece.direction, position - 1);
    return Out<float>(memory.out[0]) + (step * directions() + piece.direction) * state();
  }

  /*! \brief The cells of the beginning. */
  void Begin(const Memory& memory, const Piece& piece, float* cells) const {
    const int64_t rows = piece.end - piece.begin;
    std::fill_n(cells, rows * piece.wide, 0.0f);
    if (!has_c) return;
    const float* const given = In<float>(memory.in[has_h ? 2 : 1]) + piece.direction * state() +
                               piece.begin * hidden + of_h.first_column(piece.panel);
    for (int64_t i = 0; i < rows; ++i) {
      std::copy_n(given + i * hidden, of_h.columns(piece.panel), cells + i * piece.wide);
    }
  }
};

std::vector<bool> DirectionsOf(const std::string& direction) {
  if (direction == "forward") return {false};
  if (direction == "reverse") return {true};
  if (direction == "bidirectional") return {false, true};
  MXNET_THROW("ValueError") << "direction: expected 'forward', 'reverse' or 'bidirectional', got '"
                            << direction << "'";
}

void CheckFits(const char* argument, const NDArray& array, const Shape& shape) {
  CheckWeight(argument, array);
  const auto& given = array.shape();
  if (given.size() == shape.size() && std::equal(shape.begin(), shape.end(), given.begin())) return;
  MXNET_THROW("ValueError") << argument << ": expected the shape " << training::TextOf(shape)
                            << ", got " << given.str();
}

Ref<op::Kernel> MakeLstm(const Shape& extents, const NDArray& weight, const NDArray& recurrent,
                         const std::optional<NDArray>& bias, const std::string& direction,
                         bool has_h, bool has_c) {
  if (extents.size() != 4) {
    MXNET_THROW("ValueError") << "extents: expected steps, batch, inputs and hidden, got "
                              << extents.size() << " numbers";
  }
  CheckNumbers("extents", extents, 1);
  const std::vector<bool> are_reversed = DirectionsOf(direction);
  const auto directions = static_cast<int64_t>(are_reversed.size());
  const int64_t steps = extents[0];
  const int64_t batch = extents[1];
  const int64_t inputs = extents[2];
  const int64_t hidden = extents[3];
  training::CheckShape("extents, of gates", {directions, kGates, steps, batch, hidden});
  CheckFits("weight", weight, {directions, kGates * hidden, inputs});
  CheckFits("recurrent", recurrent, {directions, kGates * hidden, hidden});
  if (bias) CheckFits("bias", *bias, {directions, 2 * kGates * hidden});
  const LstmPieces pieces(batch, directions);
  auto state = std::unique_ptr<Lstm>(new Lstm{steps,
                                              batch,
                                              inputs,
                                              hidden,
                                              are_reversed,
                                              has_h,
                                              has_c,
                                              PanelProduct(inputs, hidden, pieces.panels),
                                              PanelProduct(hidden, hidden, pieces.panels),
                                              1,
                                              1,
                                              {},
                                              {}});
  state->groups = pieces.Groups(batch, state->of_h.panels());
  const int64_t row_bytes = kGates * batch * hidden * static_cast<int64_t>(sizeof(float));
  state->chunk = std::clamp<int64_t>(kChunkBytes / row_bytes, 1, steps);
  const auto dense = [](const NDArray& array) { return op::Contiguous(array.tensor()); };
  const NDArray b = bias ? dense(*bias) : NDArray();
  state->Pack(dense(weight).data_as<float>(), dense(recurrent).data_as<float>(),
              bias ? b.data_as<float>() : nullptr);
  std::vector<KernelInput> given{{kFloat32, {steps, batch, inputs}}};
  const Shape one{directions, batch, hidden};
  if (has_h) given.push_back({kFloat32, one});
  if (has_c) given.push_back({kFloat32, one});
  const size_t workspace = state->workspace();
  return op::MakeKernel("lstm", std::move(given),
                        {KernelOutput{kFloat32, {steps, directions, batch, hidden}},
                         KernelOutput{kFloat32, one}, KernelOutput{kFloat32, one}},
                        std::move(state), workspace);
}

MXNET_REGISTER_API("mx.graph.suits_lstm")
    .describe("Whether lstm is faster than libraries: where registers have 8 floats or more.")
    .set_body_typed([] { return PanelProduct(1, 1, 1).width() >= 8; });

MXNET_REGISTER_API("mx.graph.lstm")
    .describe(
        "A kernel: x[, h and c of the beginning] to h of all steps, (steps, directions, batch, "
        "hidden), and the last h and c, of float32.")
    .arg("extents", "Steps, batch, inputs and hidden.")
    .arg("weight", "(directions, 4 * hidden, inputs); gates are i, o, f, c.")
    .arg("recurrent", "(directions, 4 * hidden, hidden).")
    .arg("bias", "(directions, 8 * hidden): of x, then of h. Or None.")
    .arg("direction", "'forward', 'reverse' or 'bidirectional'.")
    .arg("has_h", "Whether h of the beginning is given; else it is 0.")
    .arg("has_c", "The same of c.")
    .name_errors()
    .set_body_typed(&MakeLstm);

}  // namespace
}  // namespace graph
}  // namespace mxnet
