/*!
 * \file attention.cc
 * \brief What attention is differentiated by.
 */
#include <mxnet/op/kernel.h>
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/stl.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "graph/attention_heads.h"
#include "graph/thread_memory.h"
#include "op/kernels/attention/attention_grad.h"

namespace mxnet {
namespace graph {
namespace training {
namespace {

using op::AttentionGradCall;
using op::KernelInput;
using op::KernelOutput;
using runtime::kFloat32;
using runtime::Ref;

struct AttentionGrad {
  AttentionExtents extents;
  AttentionGradCall call;
  WrittenHeads queries;
  WrittenHeads keys;
  WrittenHeads values;

  size_t workspace() const {
    return op::AttentionGradWorkspace(extents.queries, extents.size, extents.value_size);
  }

  void Run(const DLTensor* in, int num_in, DLTensor* out, int, void*) const {
    const AttentionHeads dy(in[0]);
    const AttentionHeads q(in[1]);
    const AttentionHeads k(in[2]);
    const AttentionHeads v(in[3]);
    const AttentionHeads y(in[4]);
    const auto* const log_sums = In<float>(in[5]);
    const AttentionHeads mask(in[num_in > 6 ? 6 : 0]);
    auto* const dq = Out<float>(out[0]);
    auto* const dk = Out<float>(out[1]);
    auto* const dv = Out<float>(out[2]);
    const int64_t shared = extents.heads / extents.key_heads;
    // Heads of queries that have the same keys add to the same gradients.
    const int64_t parts = extents.batch * extents.key_heads;
    InParallelWith(workspace(), parts, [&](void* work, int64_t begin, int64_t end) {
      for (int64_t i = begin * shared; i < end * shared; ++i) {
        const int64_t b = i / extents.heads;
        const int64_t h = i % extents.heads;
        const int64_t key_head = h / shared;
        AttentionGradCall own = call;
        own.q = q.Of(b, h);
        own.k = k.Of(b, key_head);
        own.v = v.Of(b, key_head);
        own.y = y.Of(b, h);
        own.dy = dy.Of(b, h);
        if (num_in > 6) own.mask = mask.MaskOf(b, h, call.mask.is_bool);
        own.log_sums = log_sums + i * extents.queries;
        own.dq = {dq + queries.At(b, h), queries.row()};
        own.dk = {dk + keys.At(b, key_head), keys.row()};
        own.dv = {dv + values.At(b, key_head), values.row()};
        own.adds = h % shared != 0;
        op::DifferentiateAttention(own, work);
      }
    });
  }
};

Ref<op::Kernel> MakeAttentionGrad(const Shape& q, const Shape& k, const Shape& v,
                                  const std::optional<Shape>& mask, bool is_bool, double scale,
                                  bool is_causal, bool joins_heads) {
  const AttentionExtents extents(q, k, v, mask);
  CheckAttentionScale(scale);
  AttentionGradCall call{};
  call.mask.is_bool = is_bool;
  call.num_queries = extents.queries;
  call.num_keys = extents.keys;
  call.size = extents.size;
  call.value_size = extents.value_size;
  call.scale = static_cast<float>(scale);
  call.is_causal = is_causal;
  const auto written = [&](int64_t heads, int64_t positions, int64_t size) {
    return WrittenHeads{heads, positions, size, joins_heads};
  };
  std::unique_ptr<AttentionGrad> state(
      new AttentionGrad{extents, call, written(extents.heads, extents.queries, extents.size),
                        written(extents.key_heads, extents.keys, extents.size),
                        written(extents.key_heads, extents.keys, extents.value_size)});
  const Shape y{q[0], q[1], q[2], v[3]};
  std::vector<KernelInput> inputs{{kFloat32, y, true}, {kFloat32, q, true},
                                  {kFloat32, k, true}, {kFloat32, v, true},
                                  {kFloat32, y, true}, {kFloat32, {q[0], q[1], q[2]}}};
  AddMask(&inputs, mask, is_bool);
  std::vector<KernelOutput> outputs{{kFloat32, state->queries.ShapeOf(extents.batch)},
                                    {kFloat32, state->keys.ShapeOf(extents.batch)},
                                    {kFloat32, state->values.ShapeOf(extents.batch)}};
  return op::MakeKernel("training.attention_grad", std::move(inputs), std::move(outputs),
                        std::move(state));
}

MXNET_REGISTER_API("mx.graph.training.attention_grad")
    .describe(
        "A kernel: the gradients of attention's queries, keys and values, of inputs at any "
        "strides: the gradient of its result, q, k, v, the result, its logarithms of sums of "
        "exponentials, and the mask if there is one.")
    .arg("q", "The shape of the queries: batch, heads, positions, elements.")
    .arg("k", "That of the keys, of as many heads or a divisor of them.")
    .arg("v", "That of the values.")
    .arg("mask", "That of the mask, which broadcasts to the scores but for the last axis; or None.")
    .arg("is_bool", "Whether the mask has booleans, False for what is left out.")
    .arg("scale", "What scores are multiplied by.")
    .arg("is_causal", "Whether a query gets keys up to its own position only.")
    .arg("joins_heads", "Whether the outputs have the heads behind the positions.")
    .name_errors()
    .set_body_typed(&MakeAttentionGrad);

}  // namespace
}  // namespace training
}  // namespace graph
}  // namespace mxnet
