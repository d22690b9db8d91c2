/*!
 * \file elementwise.cc
 * \brief Functions of one element, and of two.
 */
#include <algorithm>

#include "onednn/makers.h"

namespace mxnet {
namespace onednn {
Primitive MakeEltwise(const GivenOperand& given_x, const std::string& kind,
                      std::optional<double> alpha, std::optional<double> beta,
                      const GivenPostOps& post_ops) {
  return Make("eltwise", [&](Maker* maker) {
    const Operand x(given_x, "x");
    CheckFloat(x.dtype, x.name);
    const Eltwise eltwise = EltwiseOf(kind, alpha, beta, "kind");
    const PostOps posts(post_ops, x.shape);
    maker->Expect(TimeOfElements(SizeOf(x.shape)));
    const dnnl::eltwise_forward::primitive_desc desc(
        Engine(), dnnl::prop_kind::forward_inference, eltwise.alg, x.Offered(), x.Offered(),
        eltwise.alpha, eltwise.beta, posts.Attributes());
    const Argument input = maker->Bind(DNNL_ARG_SRC, x, desc.src_desc());
    const Argument output = maker->Output(DNNL_ARG_DST, desc.dst_desc(), x.dtype, x.GivenShape());
    maker->AllowInPlace(input, output);
    std::vector<Argument> arguments{input, output};
    posts.Bind(desc, output, maker, &arguments);
    maker->Add(desc, std::move(arguments));
  });
}

namespace {

bool IsComparison(algorithm alg) {
  constexpr algorithm kComparisons[] = {algorithm::binary_ge, algorithm::binary_gt,
                                        algorithm::binary_le, algorithm::binary_lt,
                                        algorithm::binary_eq, algorithm::binary_ne};
  return std::count(std::begin(kComparisons), std::end(kComparisons), alg) > 0;
}

/*! \brief What gives the same with the operands swapped, or what *posts, where they do something to
 * it first, make the same: -(b - a) and 1 / (b / a). */
algorithm Mirrored(algorithm alg, PostOps* posts) {
  switch (alg) {
    case algorithm::binary_sub:
      posts->Prepend(Eltwise{algorithm::eltwise_linear, -1, 0});
      return alg;
    case algorithm::binary_div:
      posts->Prepend(Eltwise{algorithm::eltwise_pow, 1, -1});
      return alg;
    case algorithm::binary_ge:
      return algorithm::binary_le;
    case algorithm::binary_gt:
      return algorithm::binary_lt;
    case algorithm::binary_le:
      return algorithm::binary_ge;
    case algorithm::binary_lt:
      return algorithm::binary_gt;
    default:
      return alg;
  }
}

/*! \brief With as many axes as the result, and in a layout that the other operand allows. */
struct Side {
  Side(const Operand& operand, const Dims& shape) : seen(operand.shape) {
    seen.insert(seen.begin(), shape.size() - seen.size(), 1);
    lies = operand.Offered().reshape(seen);
    is_whole = seen == shape;
  }

  Dims seen;
  Desc lies;
  bool is_whole;
};

Dims BroadcastShape(const Operand& a, const Operand& b) {
  const Dims& longer = a.shape.size() >= b.shape.size() ? a.shape : b.shape;
  const Dims& shorter = a.shape.size() >= b.shape.size() ? b.shape : a.shape;
  Dims shape = longer;
  const size_t more = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& extent = shape[more + i];
    if (extent != shorter[i] && extent != 1 && shorter[i] != 1) {
      MXNET_THROW("ValueError") << "a and b: expected shapes that broadcast, got " << Text(a.shape)
                                << " and " << Text(b.shape);
    }
    extent = std::max(extent, shorter[i]);
  }
  return shape;
}

}  // namespace

Primitive MakeBinary(const GivenOperand& given_a, const GivenOperand& given_b,
                     const std::string& kind, const GivenPostOps& post_ops) {
  return Make("binary", [&](Maker* maker) {
    const Operand a(given_a, "a");
    const Operand b(given_b, "b");
    const Operand& data = a.is_constant() ? b : a;
    CheckFloat(data.dtype, data.name);
    CheckSameType(a, data);
    CheckSameType(b, data);
    const algorithm asked = BinaryOf(kind, "kind");
    const Dims shape = BroadcastShape(a, b);
    maker->Expect(TimeOfElements(SizeOf(shape)));
    PostOps posts(post_ops, shape);
    const Side first(a, shape);
    const Side second(b, shape);
    // The implementations that are fast broadcast the second operand only.
    const bool is_swapped = !first.is_whole && second.is_whole;
    const algorithm alg = is_swapped ? Mirrored(asked, &posts) : asked;
    const Side& left = is_swapped ? second : first;
    const Side& right = is_swapped ? first : second;
    const Operand& left_operand = is_swapped ? b : a;
    const Operand& right_operand = is_swapped ? a : b;
    // Both come in one layout; in that of blocks, where one is, as what follows would have it so.
    Desc left_desc = left_operand.is_constant() ? PlainDesc(left.seen, data.type) : left.lies;
    Desc right_desc = right_operand.is_constant() ? PlainDesc(right.seen, data.type) : right.lies;
    if (left.is_whole && right.is_whole) {
      const bool left_follows =
          left_operand.is_constant() ||
          (IsPlain(left_desc) && !left_operand.keep && !right_operand.is_constant());
      if (left_follows) {
        left_desc = right_desc;
      } else if (!right_operand.keep) {
        right_desc = left_desc;
      }
    } else if (!IsPlain(right_desc) && !right_operand.keep) {
      right_desc = PlainDesc(right.seen, data.type);
    }
    const DLDataType dtype = IsComparison(alg) ? runtime::kBool : data.dtype;
    const Desc result = left.is_whole && !IsComparison(alg) ? left_desc
                        : left.is_whole ? AnyDesc(shape, DType::u8)
                                        : PlainDesc(shape, TypeOf(dtype, "kind"));
    const dnnl::binary::primitive_desc desc(Engine(), alg, left_desc, right_desc, result,
                                            posts.Attributes());
    Argument inputs[2];
    // In the order of the operands, as runs bring them.
    const auto bind_left = [&] {
      return maker->Bind(DNNL_ARG_SRC_0, left_operand, left.lies, desc.src0_desc());
    };
    const auto bind_right = [&] {
      return maker->Bind(DNNL_ARG_SRC_1, right_operand, right.lies, desc.src1_desc());
    };
    if (is_swapped) {
      inputs[1] = bind_right();
      inputs[0] = bind_left();
    } else {
      inputs[0] = bind_left();
      inputs[1] = bind_right();
    }
    const Argument output = maker->Output(DNNL_ARG_DST, desc.dst_desc(), dtype,
                                          a.is_scalar && b.is_scalar ? Dims() : shape);
    maker->AllowInPlace(inputs[0], output);
    std::vector<Argument> arguments{inputs[0], inputs[1], output};
    posts.Bind(desc, output, maker, &arguments);
    maker->Add(desc, std::move(arguments));
  });
}

namespace {}  // namespace
}  // namespace onednn
}  // namespace mxnet
