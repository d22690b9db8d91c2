/*!
 * \file attention.cc
 * \brief A kernel of attention, of heads that lie at any strides.
 */
#include "op/kernels/attention/attention.h"

#include <mxnet/op/kernel.h>
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/stl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/thread_memory.h"
#include "graph/training/checks.h"

namespace mxnet {
namespace graph {
namespace {

using op::AttentionCall;
using op::KernelInput;
using op::KernelOutput;
using runtime::kBool;
using runtime::kFloat32;
using runtime::Ref;
using training::CheckShape;
using training::Shape;
using training::TextOf;

/*! \brief Queries that have a part of a head's keys packed once for all of them. */
constexpr int64_t kQueries = 128;
/*! \brief Parts of the work that are enough for the threads. */
constexpr int64_t kFewParts = 8;

using Strides = std::array<int64_t, 4>;

/*! \brief Of the axes batch, head, position and element, 0 where an axis is repeated. */
Strides StridesOf(const DLTensor& tensor) {
  Strides strides{};
  int64_t dense = 1;
  for (int i = tensor.ndim - 1; i >= 0; --i) {
    const int64_t own = tensor.strides == nullptr ? dense : tensor.strides[i];
    strides[4 - tensor.ndim + i] = tensor.shape[i] == 1 ? 0 : own;
    dense *= tensor.shape[i];
  }
  return strides;
}

struct Attention {
  int64_t batch;
  int64_t heads;
  int64_t heads_of_a_key; /*!< that share keys and values */
  int64_t queries;
  int64_t part; /*!< queries of a part */
  AttentionCall call;
  bool joins_heads; /*!< whether the output has the heads behind the positions */

  size_t workspace() const { return op::AttentionWorkspace(part, call.size, call.value_size); }

  void Run(const DLTensor* in, int num_in, DLTensor* out, int, void*) const {
    const int64_t parts = (queries + part - 1) / part;
    const Strides q = StridesOf(in[0]);
    const Strides k = StridesOf(in[1]);
    const Strides v = StridesOf(in[2]);
    const Strides mask = num_in > 3 ? StridesOf(in[3]) : Strides{};
    const int64_t mask_item = call.mask.is_bool ? 1 : static_cast<int64_t>(sizeof(float));
    auto* const y = training::Out<float>(out[0]);
    InParallelWith(workspace(), batch * heads * parts, [&](void* work, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t b = i / parts / heads;
        const int64_t h = i / parts % heads;
        const int64_t key = h / heads_of_a_key;
        AttentionCall own = call;
        own.q = {training::In<float>(in[0]) + b * q[0] + h * q[1], q[2], q[3]};
        own.k = {training::In<float>(in[1]) + b * k[0] + key * k[1], k[2], k[3]};
        own.v = {training::In<float>(in[2]) + b * v[0] + key * v[1], v[2], v[3]};
        if (num_in > 3) {
          own.mask.data = training::In<char>(in[3]) + (b * mask[0] + h * mask[1]) * mask_item;
          own.mask.row = mask[2];
          own.mask.column = mask[3];
        }
        const int64_t row = joins_heads ? heads * call.value_size : call.value_size;
        own.out_row = row;
        own.out = y + b * heads * queries * call.value_size +
                  h * (joins_heads ? call.value_size : queries * call.value_size);
        own.first_query = i % parts * part;
        own.num_queries = std::min(part, queries - own.first_query);
        op::Attend(own, work);
      }
    });
  }
};

/*! \brief ValueError for another number of axes, for an empty one, and for extents that do not go
 * together with those of the others. */
void CheckShapes(const Shape& q, const Shape& k, const Shape& v, const Shape* mask) {
  const auto check = [](const char* name, const Shape& shape, bool is_right, const char* expected) {
    CheckShape(name, shape);
    if (is_right) return;
    MXNET_THROW("ValueError") << name << ": expected " << expected << ", got " << TextOf(shape);
  };
  const auto is_whole = [](const Shape& shape) {
    return shape.size() == 4 && std::find(shape.begin(), shape.end(), 0) == shape.end();
  };
  check("q", q, is_whole(q), "(batch, heads, queries, size), none of them 0");
  check("k", k, is_whole(k) && k[0] == q[0] && q[1] % k[1] == 0 && k[3] == q[3],
        "(batch, heads or a divisor of them, keys, size), none of them 0");
  check("v", v, is_whole(v) && v[0] == k[0] && v[1] == k[1] && v[2] == k[2],
        "(batch, heads of k, keys, size of a value), none of them 0");
  if (mask == nullptr) return;
  const Shape scores{q[0], q[1], q[2], k[2]};
  bool fits = mask->size() <= 4 && !mask->empty() && mask->back() == k[2];
  for (size_t i = 0; fits && i < mask->size(); ++i) {
    const int64_t extent = (*mask)[i];
    fits = extent == 1 || extent == scores[4 - mask->size() + i];
  }
  check("mask", *mask, fits, "(batch, heads, queries, keys), or 1 in place of all but the last");
}

Ref<op::Kernel> MakeAttention(const Shape& q, const Shape& k, const Shape& v,
                              const std::optional<Shape>& mask, bool is_bool, double scale,
                              bool is_causal, bool joins_heads) {
  CheckShapes(q, k, v, mask ? &*mask : nullptr);
  if (!std::isfinite(scale)) {
    MXNET_THROW("ValueError") << "scale: expected a finite number, got " << scale;
  }
  auto state = std::make_unique<Attention>();
  state->batch = q[0];
  state->heads = q[1];
  state->heads_of_a_key = q[1] / k[1];
  state->queries = q[2];
  int64_t parts = (q[2] + kQueries - 1) / kQueries;
  while (q[0] * q[1] * parts < kFewParts && q[2] / parts >= kQueries / 2) ++parts;
  state->part = (q[2] + parts - 1) / parts;
  AttentionCall& call = state->call;
  call = {};
  call.mask.is_bool = is_bool;
  call.num_keys = k[2];
  call.size = q[3];
  call.value_size = v[3];
  call.scale = static_cast<float>(scale);
  call.is_causal = is_causal;
  state->joins_heads = joins_heads;
  std::vector<KernelInput> inputs{{kFloat32, q, true}, {kFloat32, k, true}, {kFloat32, v, true}};
  if (mask) inputs.push_back({is_bool ? kBool : kFloat32, *mask, true});
  Shape shape{q[0], q[1], q[2], v[3]};
  if (joins_heads) std::swap(shape[1], shape[2]);
  return op::MakeKernel("attention", std::move(inputs), {KernelOutput{kFloat32, shape}},
                        std::move(state));
}

MXNET_REGISTER_API("mx.graph.attention")
    .describe("A kernel: softmax(q k^T * scale + mask) v of float32, of inputs at any strides.")
    .arg("q", "The shape of the queries: batch, heads, positions, elements.")
    .arg("k", "That of the keys, of as many heads or a divisor of them.")
    .arg("v", "That of the values.")
    .arg("mask", "That of the mask, which broadcasts to the scores but for the last axis; or None.")
    .arg("is_bool", "Whether the mask has booleans, False for what is left out.")
    .arg("scale", "What scores are multiplied by.")
    .arg("is_causal", "Whether a query gets keys up to its own position only.")
    .arg("joins_heads", "Whether the output has the heads behind the positions.")
    .name_errors()
    .set_body_typed(&MakeAttention);

}  // namespace
}  // namespace graph
}  // namespace mxnet
