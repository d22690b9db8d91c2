/*!
 * \file gather.cc
 * \brief What the data is differentiated by that rows are gathered from.
 */
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/stl.h>

#include <algorithm>
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
using runtime::kInt64;
using runtime::Ref;

struct AddLine {
  static MXNET_ALWAYS_INLINE void Run(const float* x, int64_t n, float* out) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] += x[i];
  }
};

struct AddLines {
  static MXNET_ALWAYS_INLINE void Run(const float* x, const float* y, int64_t n, float* out) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i];
  }
};

/*! \brief Adds up, for each row, those of dy that were gathered from it, in the order in which they
 * come; to another gradient of the row, if there is one. */
struct GatherGradient {
  int64_t outer;
  int64_t rows;
  int64_t inner;
  int64_t count; /*!< of indices */

  /*! \brief The numbers of the indices by row, and where those of a row begin. */
  size_t workspace() const { return static_cast<size_t>(count + rows + 1) * sizeof(int64_t); }

  void Run(const DLTensor* in, int num_in, DLTensor* out, int, void* workspace) const {
    auto* begins = static_cast<int64_t*>(workspace);
    int64_t* order = begins + rows + 1;
    Sort(In<int64_t>(in[1]), begins, order);
    const auto* dy = In<float>(in[0]);
    auto* dx = Out<float>(out[0]);
    if (num_in == 3) return AddTo(In<float>(in[2]), dy, begins, order, dx);
    static const auto add = op::ForWideCpu<AddLine>();
    ForLines(outer * rows, inner, [&](int64_t begin, int64_t end) {
      std::memset(dx + begin * inner, 0, static_cast<size_t>((end - begin) * inner) * sizeof(*dx));
      for (int64_t line = begin; line < end; ++line) {
        const int64_t row = line % rows;
        const float* from = dy + line / rows * count * inner;
        for (int64_t i = begins[row]; i < begins[row + 1]; ++i) {
          add(from + order[i] * inner, inner, dx + line * inner);
        }
      }
    });
  }

 private:
  /*! \brief Writes sums of a gradient and of that of what was gathered; the first may be dx. */
  void AddTo(const float* others, const float* dy, const int64_t* begins, const int64_t* order,
             float* dx) const {
    static const auto add = op::ForWideCpu<AddLine>();
    static const auto add_lines = op::ForWideCpu<AddLines>();
    ForLines(outer * rows, inner, [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        const int64_t row = line % rows;
        const float* other = others + line * inner;
        float* to = dx + line * inner;
        const float* from = dy + line / rows * count * inner;
        const int64_t first = begins[row];
        const int64_t last = begins[row + 1];
        if (first == last) {
          if (other != to) std::memcpy(to, other, static_cast<size_t>(inner) * sizeof(*to));
          continue;
        }
        const float* of_first = from + order[first] * inner;
        if (last - first == 1) {
          add_lines(other, of_first, inner, to);
          continue;
        }
        constexpr int64_t kSums = 256;
        for (int64_t at = 0; at < inner; at += kSums) {
          const int64_t n = std::min(kSums, inner - at);
          float sums[kSums];
          std::memcpy(sums, of_first + at, static_cast<size_t>(n) * sizeof(*sums));
          for (int64_t i = first + 1; i < last; ++i) add(from + order[i] * inner + at, n, sums);
          add_lines(other + at, sums, n, to + at);
        }
      }
    });
  }

  int64_t RowOf(int64_t index) const {
    if (index >= -rows && index < rows) return index < 0 ? index + rows : index;
    MXNET_THROW("IndexError") << "indices: expected " << -rows << " to " << rows - 1 << ", got "
                              << index;
  }

  void Sort(const int64_t* indices, int64_t* begins, int64_t* order) const {
    std::fill(begins, begins + rows + 1, 0);
    for (int64_t i = 0; i < count; ++i) ++begins[RowOf(indices[i])];
    int64_t sum = 0;
    for (int64_t row = 0; row <= rows; ++row) {
      sum += begins[row];
      begins[row] = sum;
    }
    // From the last one on, so that each row's are in their order, and its begin is one in the end.
    for (int64_t i = count; i-- > 0;) order[--begins[RowOf(indices[i])]] = i;
  }
};

Ref<Kernel> MakeGatherGradient(const Shape& shape, const Shape& indices, int64_t axis,
                               bool is_added) {
  CheckAxis(shape, axis);
  CheckShape("indices", indices);
  const auto at = shape.begin() + axis;
  Shape gathered(shape.begin(), at);
  gathered.insert(gathered.end(), indices.begin(), indices.end());
  gathered.insert(gathered.end(), at + 1, shape.end());
  CheckShape("shape, as gathered", gathered);
  auto state = std::unique_ptr<GatherGradient>(new GatherGradient{
      SizeOf({shape.begin(), at}), *at, SizeOf({at + 1, shape.end()}), SizeOf(indices)});
  const size_t workspace = state->workspace();
  std::vector<KernelInput> inputs{{kFloat32, gathered}, {kInt64, indices}};
  KernelOutput output{kFloat32, shape};
  if (is_added) {
    inputs.push_back({kFloat32, shape});
    output.in_place = 2;
  }
  return op::MakeKernel("training.gather_grad", {std::move(inputs)}, {std::move(output)},
                        std::move(state), workspace);
}

MXNET_REGISTER_API("mx.graph.training.gather_grad")
    .describe(
        "A kernel: the gradient of what was gathered, and the int64 indices, to that of the "
        "data; added to a third input of its shape, if there is one.")
    .arg("shape", "Of the data.")
    .arg("indices", "Their shape.")
    .arg("axis", "From 0 on.")
    .arg("is_added", "Whether there is a third input.")
    .name_errors()
    .set_body_typed(&MakeGatherGradient);

}  // namespace
}  // namespace training
}  // namespace graph
}  // namespace mxnet
