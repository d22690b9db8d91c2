/*!
 * \file attention.cc
 * \brief A kernel of attention, of heads that lie at any strides.
 */
#include "op/kernels/attention/attention.h"

#include <mxnet/op/kernel.h>
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/stl.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "graph/attention_heads.h"
#include "graph/thread_memory.h"

namespace mxnet {
namespace graph {
namespace {

using op::AttentionCall;
using op::KernelInput;
using op::KernelOutput;
using runtime::kFloat32;
using runtime::Ref;
using training::Shape;

/*! \brief Queries that have a part of a head's keys packed once for all of them. */
constexpr int64_t kQueries = 128;
/*! \brief Parts of the work that are enough for the threads. */
constexpr int64_t kFewParts = 8;

struct Attention {
  AttentionExtents extents;
  int64_t part; /*!< queries of a part */
  AttentionCall call;
  WrittenHeads written;

  size_t workspace() const { return op::AttentionWorkspace(part, call.size, call.value_size); }

  void Run(const DLTensor* in, int num_in, DLTensor* out, int num_out, void*) const {
    const auto& [batch, heads, key_heads, queries, keys, size, value_size] = extents;
    const int64_t parts = (queries + part - 1) / part;
    const AttentionHeads q(in[0]);
    const AttentionHeads k(in[1]);
    const AttentionHeads v(in[2]);
    const AttentionHeads mask(in[num_in > 3 ? 3 : 0]);
    auto* const y = training::Out<float>(out[0]);
    auto* const log_sums = num_out > 1 ? training::Out<float>(out[1]) : nullptr;
    InParallelWith(workspace(), batch * heads * parts, [&](void* work, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t b = i / parts / heads;
        const int64_t h = i / parts % heads;
        const int64_t key_head = h / (heads / key_heads);
        AttentionCall own = call;
        own.q = q.Of(b, h);
        own.k = k.Of(b, key_head);
        own.v = v.Of(b, key_head);
        if (num_in > 3) own.mask = mask.MaskOf(b, h, call.mask.is_bool);
        own.out_row = written.row();
        own.out = y + written.At(b, h);
        if (log_sums != nullptr) own.log_sums = log_sums + (b * heads + h) * queries;
        own.first_query = i % parts * part;
        own.num_queries = std::min(part, queries - own.first_query);
        op::Attend(own, work);
      }
    });
  }
};

Ref<op::Kernel> MakeAttention(const Shape& q, const Shape& k, const Shape& v,
                              const std::optional<Shape>& mask, bool is_bool, double scale,
                              bool is_causal, bool joins_heads, bool has_log_sums) {
  const AttentionExtents extents(q, k, v, mask);
  CheckAttentionScale(scale);
  int64_t parts = (extents.queries + kQueries - 1) / kQueries;
  while (extents.batch * extents.heads * parts < kFewParts &&
         extents.queries / parts >= kQueries / 2) {
    ++parts;
  }
  AttentionCall call{};
  call.mask.is_bool = is_bool;
  call.num_keys = extents.keys;
  call.size = extents.size;
  call.value_size = extents.value_size;
  call.scale = static_cast<float>(scale);
  call.is_causal = is_causal;
  const WrittenHeads written{extents.heads, extents.queries, extents.value_size, joins_heads};
  std::vector<KernelInput> inputs{{kFloat32, q, true}, {kFloat32, k, true}, {kFloat32, v, true}};
  AddMask(&inputs, mask, is_bool);
  std::vector<KernelOutput> outputs{{kFloat32, written.ShapeOf(extents.batch)}};
  if (has_log_sums) outputs.push_back({kFloat32, {q[0], q[1], q[2]}});
  const int64_t part = (extents.queries + parts - 1) / parts;
  return op::MakeKernel("attention", std::move(inputs), std::move(outputs),
                        std::unique_ptr<Attention>(new Attention{extents, part, call, written}));
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
    .arg("has_log_sums",
         "Whether a second output has of each query the logarithm of its sum of exponentials.")
    .name_errors()
    .set_body_typed(&MakeAttention);

}  // namespace
}  // namespace graph
}  // namespace mxnet
