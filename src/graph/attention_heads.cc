/*!
 * \file attention_heads.cc
 * \brief What kernels of attention require of their operands.
 */
#include "graph/attention_heads.h"

#include <algorithm>
#include <cmath>

#include "graph/training/checks.h"

namespace mxnet {
namespace graph {
namespace {

using training::CheckShape;
using training::Shape;
using training::TextOf;

void Check(const char* name, const Shape& shape, bool is_right, const char* expected) {
  CheckShape(name, shape);
  if (is_right) return;
  MXNET_THROW("ValueError") << name << ": expected " << expected << ", got " << TextOf(shape);
}

bool IsWhole(const Shape& shape) {
  return shape.size() == 4 && std::find(shape.begin(), shape.end(), 0) == shape.end();
}

bool Fits(const Shape& mask, const Shape& scores) {
  if (mask.empty() || mask.size() > 4 || mask.back() != scores.back()) return false;
  for (size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] != 1 && mask[i] != scores[4 - mask.size() + i]) return false;
  }
  return true;
}

}  // namespace

AttentionHeads::AttentionHeads(const DLTensor& tensor) : data(training::In<float>(tensor)) {
  int64_t dense = 1;
  for (int i = tensor.ndim - 1; i >= 0; --i) {
    const int64_t own = tensor.strides == nullptr ? dense : tensor.strides[i];
    strides[static_cast<size_t>(4 - tensor.ndim + i)] = tensor.shape[i] == 1 ? 0 : own;
    dense *= tensor.shape[i];
  }
}

op::AttentionMask AttentionHeads::MaskOf(int64_t batch, int64_t head, bool is_bool) const {
  const int64_t item = is_bool ? 1 : static_cast<int64_t>(sizeof(float));
  const auto* const bytes = reinterpret_cast<const char*>(data);
  return {bytes + (batch * strides[0] + head * strides[1]) * item, strides[2], strides[3], is_bool};
}

AttentionExtents::AttentionExtents(const Shape& q, const Shape& k, const Shape& v,
                                   const std::optional<Shape>& mask) {
  Check("q", q, IsWhole(q), "(batch, heads, queries, size), none of them 0");
  Check("k", k, IsWhole(k) && k[0] == q[0] && q[1] % k[1] == 0 && k[3] == q[3],
        "(batch, heads or a divisor of them, keys, size), none of them 0");
  Check("v", v, IsWhole(v) && v[0] == k[0] && v[1] == k[1] && v[2] == k[2],
        "(batch, heads of k, keys, size of a value), none of them 0");
  if (mask) {
    Check("mask", *mask, Fits(*mask, {q[0], q[1], q[2], k[2]}),
          "(batch, heads, queries, keys), or 1 in place of all but the last");
  }
  batch = q[0];
  heads = q[1];
  key_heads = k[1];
  queries = q[2];
  keys = k[2];
  size = q[3];
  value_size = v[3];
}

void CheckAttentionScale(double scale) {
  if (!std::isfinite(scale)) {
    MXNET_THROW("ValueError") << "scale: expected a finite number, got " << scale;
  }
}

void AddMask(std::vector<op::KernelInput>* inputs, const std::optional<Shape>& mask, bool is_bool) {
  if (mask) inputs->push_back({is_bool ? runtime::kBool : runtime::kFloat32, *mask, true});
}

}  // namespace graph
}  // namespace mxnet
