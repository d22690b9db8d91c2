/*!
 * \file resize.cc
 * \brief What an axis is differentiated by that was resized: each element of the result is a
 * weighted sum of some of the axis.
 */
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/stl.h>

#include <cstring>
#include <memory>
#include <vector>

#include "graph/training/checks.h"
#include "graph/training/lines.h"

namespace mxnet {
namespace graph {
namespace training {
namespace {

using op::Kernel;
using op::KernelInput;
using op::KernelOutput;
using runtime::kFloat32;
using runtime::Ref;

struct AddWeightedLine {
  static MXNET_ALWAYS_INLINE void Run(const float* x, float weight, int64_t n, float* out) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] += weight * x[i];
  }
};

/*! \brief Adds up, for each row, what has taken a part of it, in the order of the result. */
struct ResizeGradient {
  int64_t rows;
  int64_t extent; /*!< of the axis of the result */
  int64_t outer;
  int64_t inner;
  std::vector<int64_t> begins; /*!< of what has taken a part of a row, and one behind the last */
  std::vector<int64_t> takers;
  std::vector<float> weights;

  void Run(const DLTensor* in, int, DLTensor* out, int, void*) const {
    const auto* dy = In<float>(in[0]);
    auto* dx = Out<float>(out[0]);
    ForLines(outer * rows, inner, [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        Line(dy + line / rows * extent * inner, line % rows, dx + line * inner);
      }
    });
  }

 private:
  void Line(const float* dy, int64_t row, float* dx) const {
    static const auto add = op::ForWideCpu<AddWeightedLine>();
    const auto first = static_cast<size_t>(begins[static_cast<size_t>(row)]);
    const auto last = static_cast<size_t>(begins[static_cast<size_t>(row) + 1]);
    if (inner == 1) {
      float sum = 0;
      for (size_t i = first; i < last; ++i) sum += weights[i] * dy[takers[i]];
      *dx = sum;
      return;
    }
    std::memset(dx, 0, static_cast<size_t>(inner) * sizeof(*dx));
    for (size_t i = first; i < last; ++i) add(dy + takers[i] * inner, weights[i], inner, dx);
  }
};

/*! \brief Sorts the elements of the result by the row that they have taken a part of. */
void Sort(const Shape& indices, const std::vector<double>& weights, ResizeGradient* of) {
  of->begins.assign(static_cast<size_t>(of->rows) + 1, 0);
  for (const int64_t index : indices) {
    if (index < 0 || index >= of->rows) {
      MXNET_THROW("IndexError") << "indices: expected 0 to " << of->rows - 1 << ", got " << index;
    }
    ++of->begins[static_cast<size_t>(index) + 1];
  }
  for (size_t row = 0; row < static_cast<size_t>(of->rows); ++row) {
    of->begins[row + 1] += of->begins[row];
  }
  std::vector<int64_t> next(of->begins);
  of->takers.resize(indices.size());
  of->weights.resize(indices.size());
  for (size_t i = 0; i < indices.size(); ++i) {
    const auto to = static_cast<size_t>(next[static_cast<size_t>(indices[i])]++);
    of->takers[to] = static_cast<int64_t>(i) % of->extent;
    of->weights[to] = static_cast<float>(weights[i]);
  }
}

Ref<Kernel> MakeResizeGradient(const Shape& shape, int64_t axis, int64_t extent,
                               const Shape& indices, const std::vector<double>& weights) {
  CheckAxis(shape, axis);
  CheckNumbers("extent", {extent}, 1);
  if (indices.size() != weights.size() || indices.size() % static_cast<size_t>(extent) != 0) {
    MXNET_THROW("ValueError") << "indices and weights: expected as many, a multiple of " << extent
                              << ", got " << indices.size() << " and " << weights.size();
  }
  const auto at = shape.begin() + axis;
  Shape resized(shape);
  resized[static_cast<size_t>(axis)] = extent;
  CheckShape("shape, as resized", resized);
  auto state = std::unique_ptr<ResizeGradient>(new ResizeGradient{
      *at, extent, SizeOf({shape.begin(), at}), SizeOf({at + 1, shape.end()}), {}, {}, {}});
  Sort(indices, weights, state.get());
  return op::MakeKernel("training.resize_grad", {{KernelInput{kFloat32, resized}}},
                        {KernelOutput{kFloat32, shape}}, std::move(state));
}

MXNET_REGISTER_API("mx.graph.training.resize_grad")
    .describe("A kernel: the gradient of what an axis was resized to, to that of what it was.")
    .arg("shape", "Of what was resized.")
    .arg("axis", "From 0 on.")
    .arg("extent", "Of the axis of the result.")
    .arg("indices", "Which element of the axis each of the result has taken first; then second.")
    .arg("weights", "What it was multiplied by.")
    .name_errors()
    .set_body_typed(&MakeResizeGradient);

}  // namespace
}  // namespace training
}  // namespace graph
}  // namespace mxnet
