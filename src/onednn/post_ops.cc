#include "onednn/post_ops.h"

#include <algorithm>
#include <utility>

namespace mxnet {
namespace onednn {
namespace {

struct NamedEltwise {
  const char* kind;
  Eltwise eltwise;
};
constexpr NamedEltwise kEltwise[] = {
    {"abs", {algorithm::eltwise_abs, 0, 0}},
    {"clip", {algorithm::eltwise_clip_v2, 0, 6}},
    {"elu", {algorithm::eltwise_elu, 1, 0}},
    {"exp", {algorithm::eltwise_exp, 0, 0}},
    {"gelu_erf", {algorithm::eltwise_gelu_erf, 0, 0}},
    {"gelu_tanh", {algorithm::eltwise_gelu_tanh, 0, 0}},
    {"hardsigmoid", {algorithm::eltwise_hardsigmoid, 0.2f, 0.5f}},
    {"hardswish", {algorithm::eltwise_hardswish, 1.0f / 6.0f, 0.5f}},
    {"leaky_relu", {algorithm::eltwise_relu, 0.01f, 0}},
    {"linear", {algorithm::eltwise_linear, 1, 0}},
    {"log", {algorithm::eltwise_log, 0, 0}},
    {"mish", {algorithm::eltwise_mish, 0, 0}},
    {"pow", {algorithm::eltwise_pow, 1, 1}},
    {"relu", {algorithm::eltwise_relu, 0, 0}},
    {"round", {algorithm::eltwise_round, 0, 0}},
    {"sigmoid", {algorithm::eltwise_logistic, 0, 0}},
    {"softplus", {algorithm::eltwise_soft_relu, 1, 0}},
    {"sqrt", {algorithm::eltwise_sqrt, 0, 0}},
    {"square", {algorithm::eltwise_square, 0, 0}},
    {"swish", {algorithm::eltwise_swish, 1, 0}},
    {"tanh", {algorithm::eltwise_tanh, 0, 0}},
};

struct NamedBinary {
  const char* kind;
  algorithm alg;
};
constexpr NamedBinary kBinary[] = {
    {"add", algorithm::binary_add},          {"div", algorithm::binary_div},
    {"equal", algorithm::binary_eq},         {"greater", algorithm::binary_gt},
    {"greater_equal", algorithm::binary_ge}, {"less", algorithm::binary_lt},
    {"less_equal", algorithm::binary_le},    {"max", algorithm::binary_max},
    {"min", algorithm::binary_min},          {"mul", algorithm::binary_mul},
    {"not_equal", algorithm::binary_ne},     {"sub", algorithm::binary_sub},
};

template <typename Table>
std::string KindsOf(const Table& table) {
  std::string kinds;
  for (const auto& named : table) kinds += (kinds.empty() ? "" : ", ") + std::string(named.kind);
  return kinds;
}

template <typename Table>
auto Find(const Table& table, const std::string& kind) -> decltype(&table[0]) {
  for (const auto& named : table) {
    if (kind == named.kind) return &named;
  }
  return nullptr;
}

}  // namespace

void CheckPostOp(const PostOp& post) {
  const bool is_binary = post.kind == "sum" || Find(kBinary, post.kind) != nullptr;
  if (!is_binary && Find(kEltwise, post.kind) == nullptr) {
    MXNET_THROW("ValueError") << "mx.onednn.PostOp: kind: expected one of sum, " << KindsOf(kBinary)
                              << ", " << KindsOf(kEltwise) << ", got '" << post.kind << "'";
  }
  if (is_binary != post.operand.has_value()) {
    MXNET_THROW("ValueError") << "mx.onednn.PostOp: operand: " << post.kind << " takes "
                              << (is_binary ? "an operand" : "none");
  }
}

Eltwise EltwiseOf(const std::string& kind, std::optional<double> alpha, std::optional<double> beta,
                  const char* argument) {
  const NamedEltwise* named = Find(kEltwise, kind);
  if (named == nullptr) {
    MXNET_THROW("ValueError") << argument << ": expected one of " << KindsOf(kEltwise) << ", got '"
                              << kind << "'";
  }
  Eltwise eltwise = named->eltwise;
  if (alpha) eltwise.alpha = static_cast<float>(*alpha);
  if (beta) eltwise.beta = static_cast<float>(*beta);
  return eltwise;
}

algorithm BinaryOf(const std::string& kind, const char* argument) {
  if (const NamedBinary* named = Find(kBinary, kind)) return named->alg;
  MXNET_THROW("ValueError") << argument << ": expected one of " << KindsOf(kBinary) << ", got '"
                            << kind << "'";
}

PostOps::PostOps(const GivenPostOps& given, Dims shape) : shape_(std::move(shape)) {
  for (size_t i = 0; i < given.size(); ++i) {
    const PostOp& post = given[i];
    if (!post.operand) {
      const Eltwise eltwise = EltwiseOf(post.kind, post.alpha, post.beta, "post_ops");
      entries_.push_back({Entry::Kind::kEltwise, eltwise, std::nullopt, {}});
      continue;
    }
    Operand operand(*post.operand, "post_ops[" + std::to_string(i) + "].operand");
    if (post.kind == "sum") {
      const auto is_sum = [](const Entry& entry) { return entry.kind == Entry::Kind::kSum; };
      if (operand.is_constant() || std::any_of(entries_.begin(), entries_.end(), is_sum)) {
        MXNET_THROW("ValueError") << operand.name << ": expected one sum, over an Input";
      }
      CheckShape(operand, shape_);
      entries_.push_back({Entry::Kind::kSum, {}, std::move(operand), shape_});
      continue;
    }
    AddOperand(std::move(operand),
               {Entry::Kind::kBinary, {BinaryOf(post.kind, "post_ops"), 0, 0}, std::nullopt, {}});
  }
}

void PostOps::AddOperand(Operand operand, Entry entry) {
  entry.seen = operand.shape;
  bool fits = entry.seen.size() <= shape_.size();
  if (fits) entry.seen.insert(entry.seen.begin(), shape_.size() - entry.seen.size(), 1);
  for (size_t i = 0; fits && i < shape_.size(); ++i) {
    fits = entry.seen[i] == shape_[i] || entry.seen[i] == 1;
  }
  if (!fits) {
    MXNET_THROW("ValueError") << operand.name << ": expected a shape that broadcasts to "
                              << Text(shape_) << ", got " << Text(operand.shape);
  }
  entry.operand = std::move(operand);
  entries_.push_back(std::move(entry));
}

bool PostOps::IsJoinable() const {
  return std::all_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    if (!entry.operand) return true;
    if (!entry.operand->is_plain()) return false;
    return entry.seen == shape_ || SizeOf(entry.seen) == entry.seen.back();
  });
}

void PostOps::Join(int64_t rows) {
  for (Entry& entry : entries_) {
    if (!entry.operand) continue;
    const int64_t columns = entry.seen.back();
    entry.seen = {SizeOf(entry.seen) / columns, columns};
  }
  shape_ = {rows, SizeOf(shape_) / rows};
}

void PostOps::Prepend(const Eltwise& eltwise) {
  entries_.insert(entries_.begin(), {Entry::Kind::kEltwise, eltwise, std::nullopt, {}});
}

void PostOps::Prepend(algorithm alg, const Operand& operand) {
  AddOperand(operand, {Entry::Kind::kBinary, {alg, 0, 0}, std::nullopt, {}});
  std::rotate(entries_.begin(), entries_.end() - 1, entries_.end());
}

dnnl::post_ops PostOps::Get() const {
  dnnl::post_ops posts;
  for (const Entry& entry : entries_) {
    switch (entry.kind) {
      case Entry::Kind::kEltwise:
        posts.append_eltwise(entry.eltwise.alg, entry.eltwise.alpha, entry.eltwise.beta);
        break;
      case Entry::Kind::kSum:
        posts.append_sum();
        break;
      case Entry::Kind::kBinary: {
        const Operand& operand = *entry.operand;
        // Of all elements in the layout of the result, whichever it is; the others are row-major.
        const bool is_free = entry.seen == shape_ && !operand.keep;
        posts.append_binary(entry.eltwise.alg, is_free ? AnyDesc(entry.seen, operand.type)
                                               : entry.seen == operand.shape && operand.keep
                                                   ? operand.Offered()
                                                   : PlainDesc(entry.seen, operand.type));
        break;
      }
    }
  }
  return posts;
}

void PostOps::Bind(const dnnl::primitive_desc_base& desc, const Argument& output, Maker* maker,
                   std::vector<Argument>* arguments) const {
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (!entry.operand) continue;
    const Operand& operand = *entry.operand;
    if (entry.kind == Entry::Kind::kSum) {
      const Argument input = maker->Bind(0, operand, output.desc);
      maker->AllowInPlace(input, output);
      maker->steps()->Begin(input.location.index, output.location.index, output.desc.get_size());
      continue;
    }
    const int name = DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(i)) | DNNL_ARG_SRC_1;
    const Desc wanted = desc.query_md(dnnl::query::exec_arg_md, name);
    arguments->push_back(maker->Bind(name, operand, operand.Offered().reshape(entry.seen), wanted));
  }
}

}  // namespace onednn
}  // namespace mxnet
