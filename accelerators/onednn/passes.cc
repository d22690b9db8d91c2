#include "passes.h"

#include <utility>

namespace onednn {
namespace {

/*! \brief The extents that are read: 1 along axes by which an array broadcasts. */
Dims ReadShape(const Array& array) {
  Dims shape = array.shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (array.strides[i] == 0) shape[i] = 1;
  }
  return shape;
}

/*! \brief An operand as it may be read: over all axes, or only over those that it has. */
struct Reading {
  const Array* array;
  bool whole;

  Dims shape() const { return whole ? array->shape : ReadShape(*array); }
  Desc desc() const { return DenseDesc(array->dtype, shape()); }
  /*! \brief The operand, dense. */
  Array Prepare(Plan* plan) const {
    Array read = *array;
    read.shape = shape();
    return plan->Dense(read);
  }
};

bool IsCommutative(algorithm alg) {
  return alg == algorithm::binary_add || alg == algorithm::binary_mul;
}

dnnl::post_ops PostsOf(const Pass& pass, const Desc& first) {
  dnnl::post_ops posts;
  for (const Post& post : pass.posts) {
    if (post.with_first) {
      posts.append_binary(post.alg, first);
    } else {
      posts.append_eltwise(post.alg, post.alpha, post.beta);
    }
  }
  return posts;
}

/*! \brief A dense array for the result of oneDNN; Finish copies it to the output if that is
 * another. */
class Target {
 public:
  Target(const Array& out, Plan* plan)
      : out_(out), dense_(IsDense(out) ? out : plan->Scratch(out.dtype, out.shape)) {}

  const Array& dense() const { return dense_; }
  void Finish(Plan* plan) const {
    if (!IsDense(out_)) plan->Copy(dense_, out_);
  }

 private:
  Array out_;
  Array dense_;
};

/*! \brief oneDNN writes bool, which is uint8 to it, fast only where there are two axes. */
void AddAxis(std::vector<Array>* arrays) {
  if (arrays->front().shape.size() > 1) return;
  for (Array& array : *arrays) {
    array.shape.insert(array.shape.begin(), 1);
    array.strides.insert(array.strides.begin(), 0);
  }
}

}  // namespace

void AddBinaryPass(const Pass& pass, const Array& a, const Array& b, const Array& out, Plan* plan) {
  std::vector<Array> joined = Joined({out, a, b});
  AddAxis(&joined);
  if (joined[0].shape.size() > DNNL_MAX_NDIMS) Unsupported("so many axes");
  const Target target(joined[0], plan);
  std::vector<std::pair<Reading, Reading>> ways{{{&joined[1], false}, {&joined[2], false}}};
  if (IsCommutative(pass.alg) && pass.posts.empty()) {
    ways.push_back({{&joined[2], false}, {&joined[1], false}});
  }
  ways.push_back({{&joined[1], true}, {&joined[2], false}});
  ways.push_back({{&joined[1], true}, {&joined[2], true}});
  for (const auto& [first, second] : ways) {
    const dnnl::binary::primitive_desc desc(Engine(), pass.alg, first.desc(), second.desc(),
                                            DescOf(target.dense()),
                                            AttributesWith(PostsOf(pass, first.desc())), true);
    if (!IsFast(desc)) continue;
    const Array x = first.Prepare(plan);
    std::vector<Plan::Argument> arguments{{DNNL_ARG_SRC_0, x},
                                          {DNNL_ARG_SRC_1, second.Prepare(plan)},
                                          {DNNL_ARG_DST, target.dense()}};
    for (size_t i = 0; i < pass.posts.size(); ++i) {
      if (!pass.posts[i].with_first) continue;
      const int position = DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(i));
      arguments.push_back({position | DNNL_ARG_SRC_1, x});
    }
    plan->Add(desc, dnnl::binary(desc), std::move(arguments));
    return target.Finish(plan);
  }
  Unsupported("oneDNN has only its reference code for such tensors on this processor");
}

void AddUnaryPass(algorithm alg, float alpha, float beta, const Array& x, const Array& out,
                  Plan* plan) {
  const std::vector<Array> joined = Joined({out, x});
  const Target target(joined[0], plan);
  const Dims flat{SizeOf(out.shape)};
  const dnnl::eltwise_forward::primitive_desc desc(
      Engine(), dnnl::prop_kind::forward_inference, alg, DenseDesc(x.dtype, flat),
      DenseDesc(out.dtype, flat), alpha, beta, AttributesWith(), true);
  if (!IsFast(desc)) {
    Unsupported("oneDNN has only its reference code for such tensors on this processor");
  }
  Array from = plan->Dense(joined[1]);
  Array to = target.dense();
  from.shape = to.shape = flat;
  from.strides = to.strides = {1};
  plan->Add(desc, dnnl::eltwise_forward(desc), {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
  target.Finish(plan);
}

void AddRowsPass(algorithm alg, const Array& elements, const Array& out, Plan* plan) {
  const int64_t rows = elements.shape[0];
  if (elements.shape[1] == 1) {
    const Array from = Shaped(elements, {rows});
    const Array to = Shaped(out, {rows});
    return SameType(from.dtype, to.dtype) ? plan->Copy(from, to) : plan->Convert(from, to);
  }
  const Array result = Shaped(out, {rows, 1});
  const dnnl::reduction::primitive_desc desc(Engine(), alg, DescOf(elements), DescOf(result), 0, 0,
                                             AttributesWith(), true);
  if (!IsFast(desc)) {
    Unsupported("oneDNN has only its reference code for such tensors on this processor");
  }
  plan->Add(desc, dnnl::reduction(desc), {{DNNL_ARG_SRC, elements}, {DNNL_ARG_DST, result}});
}

}  // namespace onednn
