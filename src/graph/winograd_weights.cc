/*!
 * \file winograd_weights.cc
 * \brief Weights of convolutions of 3 x 3 as generated kernels by Winograd's F(2 x 2, 3 x 3) read
 * them.
 */
#include <mxnet/runtime/ndarray.h>
#include <mxnet/runtime/registry.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "graph/mapped_array.h"
#include "graph/training/checks.h"
#include "op/parallel/parallel.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace graph {
namespace {

using runtime::kFloat32;
using runtime::NDArray;
using runtime::ShapeView;
using training::CheckNumbers;
using training::CheckWeight;

constexpr int kTaps = 9;
constexpr int kElements = 16;
/*! \brief Columns that are brought to the other basis at once, which stay in registers. */
constexpr int kColumns = 8;
/*! \brief Of the longest vectors. */
constexpr int64_t kLanes = 16;
/*! \brief Channels that a thread does at a time. */
constexpr int64_t kChannels = 32;

using Row = std::array<double, kColumns>;

/*! \brief From a column or a row of three weights to four: G g, with G of F(2, 3). */
void Spread(const Row& g0, const Row& g1, const Row& g2, Row* to, int step) {
  for (int j = 0; j < kColumns; ++j) {
    const double ends = 0.5 * (g0[j] + g2[j]);
    const double middle = 0.5 * g1[j];
    to[0][j] = g0[j];
    to[step][j] = ends + middle;
    to[2 * step][j] = ends - middle;
    to[3 * step][j] = g2[j];
  }
}

/*! \brief Where the columns of a panel begin, and how many it has. */
struct Panel {
  int64_t first;
  int64_t width;
};

struct Packing {
  const float* weights;  // results x channels x taps
  int64_t results;
  int64_t channels;
  float* packed;

  /*! \brief Some columns of a panel, of channels from `begin` on. */
  void Columns(const Panel& panel, int64_t column, int64_t begin, int64_t end) const {
    float* const to = packed + kElements * channels * panel.first;
    const int64_t count = std::min<int64_t>(kColumns, panel.width - column);
    const int64_t first = panel.first + column;
    const int64_t there = std::clamp<int64_t>(results - first, 0, count);
    for (int64_t c = begin; c < end; ++c) {
      std::array<Row, kTaps> g{};
      for (int64_t j = 0; j < there; ++j) {
        const float* const taps = weights + ((first + j) * channels + c) * kTaps;
        for (int tap = 0; tap < kTaps; ++tap) g[tap][j] = taps[tap];
      }
      std::array<Row, 12> half;      // G g
      std::array<Row, kElements> u;  // G g G^T
      for (int k = 0; k < 3; ++k) Spread(g[k], g[3 + k], g[6 + k], &half[k], 3);
      for (int i = 0; i < 4; ++i) {
        Spread(half[3 * i], half[3 * i + 1], half[3 * i + 2], &u[4 * i], 1);
      }
      for (int e = 0; e < kElements; ++e) {
        float* const row = to + (e * channels + c) * panel.width + column;
        std::array<float, kColumns> rounded;
        for (int j = 0; j < kColumns; ++j) rounded[j] = static_cast<float>(u[e][j]);
        // Most are whole, and of a known size, which takes no call.
        if (count == kColumns) {
          std::memcpy(row, rounded.data(), sizeof rounded);
        } else {
          std::memcpy(row, rounded.data(), count * sizeof(float));
        }
      }
    }
  }
};

NDArray PackWinogradWeights(const NDArray& weights, const std::vector<int64_t>& widths) {
  CheckWeight("weights", weights);
  const auto shape = weights.shape();
  if (shape.size() != 4 || shape[2] != 3 || shape[3] != 3) {
    MXNET_THROW("ValueError") << "weights: expected the shape (results, channels, 3, 3), got "
                              << shape.str();
  }
  CheckNumbers("widths", widths, 1);
  std::vector<Panel> panels;
  int64_t columns = 0;
  for (const int64_t width : widths) {
    panels.push_back({columns, width});
    columns += width;
  }
  // Columns behind the last result fill up a vector.
  if (columns < shape[0] || columns >= shape[0] + kLanes) {
    MXNET_THROW("ValueError") << "widths: expected " << shape[0] << " columns, or some more to a "
                              << "whole vector, got " << columns;
  }
  const int64_t size = kElements * shape[1] * columns;
  NDArray packed = MappedArray(ShapeView(&size, 1), kFloat32);
  const bool is_dense = runtime::IsContiguous(weights.tensor());
  const NDArray dense = is_dense ? weights : op::Contiguous(weights.tensor());
  const Packing packing{dense.data_as<float>(), shape[0], shape[1], packed.data_as<float>()};
  const int64_t blocks = (shape[1] + kChannels - 1) / kChannels;
  const auto piece = [&](int64_t item) {
    const Panel& panel = panels[item / blocks];
    const int64_t begin = item % blocks * kChannels;
    const int64_t end = std::min(shape[1], begin + kChannels);
    for (int64_t column = 0; column < panel.width; column += kColumns) {
      packing.Columns(panel, column, begin, end);
    }
  };
  op::ForEachItem(static_cast<int64_t>(panels.size()) * blocks, piece);
  return packed;
}

MXNET_REGISTER_API("mx.graph.pack_winograd_weights")
    .describe(
        "Weights of a convolution of 3 x 3 in the basis of Winograd's F(2 x 2, 3 x 3): for each "
        "panel of columns, which are the results, a matrix (16, channels, width).")
    .arg("weights", "(results, channels, 3, 3), float32.")
    .arg("widths", "Columns of each panel; those behind the last result are zeros.")
    .name_errors()
    .set_body_typed(&PackWinogradWeights);

}  // namespace
}  // namespace graph
}  // namespace mxnet
