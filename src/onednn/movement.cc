/*!
 * \file movement.cc
 * \brief What joins, enlarges or rearranges arrays, and what reduces them.
 */
#include <algorithm>
#include <numeric>

#include "onednn/makers.h"

namespace mxnet {
namespace onednn {
namespace {

/*! \brief The axes in the model's order; row-major where that is in blocks. */
Desc DescLike(const Desc& model, const Operand& operand) {
  if (model.get_inner_nblks() != 0) return PlainDesc(operand.shape, operand.type);
  const Dims given = model.get_strides();
  std::vector<size_t> order(given.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return given[a] > given[b]; });
  Dims strides(given.size());
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = step;
    step *= operand.shape[order[i]];
  }
  return Desc(operand.shape, operand.type, strides);
}

}  // namespace

Primitive MakeConcat(const std::vector<GivenOperand>& given, int64_t axis) {
  return Make("concat", [&](Maker* maker) {
    std::vector<Operand> operands;
    for (size_t i = 0; i < given.size(); ++i) {
      operands.emplace_back(given[i], "inputs[" + std::to_string(i) + "]");
    }
    if (operands.empty()) MXNET_THROW("ValueError") << "inputs: expected one or more";
    const Operand& first = operands.front();
    const size_t at = AxisOf(axis, first.ndim(), "axis");
    Dims shape = first.shape;
    shape[at] = 0;
    std::vector<Desc> descs;
    for (const Operand& operand : operands) {
      Dims expected = first.shape;
      if (operand.shape.size() > at) expected[at] = operand.shape[at];
      CheckShape(operand, expected);
      if (!(operand.dtype == first.dtype)) {
        MXNET_THROW("TypeError") << operand.name << ": expected "
                                 << runtime::DataTypeName(first.dtype) << " as " << first.name
                                 << " is, got " << runtime::DataTypeName(operand.dtype);
      }
      shape[at] += operand.shape[at];
      descs.push_back(operand.is_constant() ? PlainDesc(operand.shape, operand.type)
                                            : operand.Offered());
    }
    // In one layout, for which there is fast code; that of the first that is not row-major.
    const auto is_plain = [](const Desc& desc) { return IsPlain(desc); };
    const auto special = std::find_if_not(descs.begin(), descs.end(), is_plain);
    if (special != descs.end()) {
      const Desc model = *special;
      for (size_t i = 0; i < descs.size(); ++i) {
        if (!operands[i].keep && IsPlain(descs[i])) descs[i] = DescLike(model, operands[i]);
      }
    }
    const bool all_plain = std::all_of(descs.begin(), descs.end(), is_plain);
    const auto join = [&] {
      if (!all_plain) {
        return dnnl::concat::primitive_desc(Engine(), static_cast<int>(at), descs,
                                            AttributesWith());
      }
      return dnnl::concat::primitive_desc(Engine(), PlainDesc(shape, first.type),
                                          static_cast<int>(at), descs, AttributesWith());
    };
    const auto desc = join();
    std::vector<Argument> arguments;
    for (size_t i = 0; i < operands.size(); ++i) {
      const int name = DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i);
      arguments.push_back(maker->Bind(name, operands[i], descs[i]));
    }
    arguments.push_back(maker->Output(DNNL_ARG_DST, desc.dst_desc(), first.dtype, shape));
    maker->Add(desc, std::move(arguments));
  });
}

namespace {

algorithm ReductionOf(const std::string& kind) {
  struct Named {
    const char* kind;
    algorithm alg;
  };
  static constexpr Named kKinds[] = {{"sum", algorithm::reduction_sum},
                                     {"mean", algorithm::reduction_mean},
                                     {"max", algorithm::reduction_max},
                                     {"min", algorithm::reduction_min},
                                     {"prod", algorithm::reduction_mul}};
  for (const Named& named : kKinds) {
    if (kind == named.kind) return named.alg;
  }
  MXNET_THROW("ValueError") << "kind: expected one of sum, mean, max, min, prod, got '" << kind
                            << "'";
}

}  // namespace

Primitive MakeReduction(const GivenOperand& given_x, const std::string& kind, const GivenInts& axes,
                        const GivenPostOps& post_ops) {
  return Make("reduction", [&](Maker* maker) {
    const Operand x(given_x, "x");
    CheckFloat(x.dtype, x.name);
    const algorithm alg = ReductionOf(kind);
    Dims shape = x.shape;
    if (!axes) std::fill(shape.begin(), shape.end(), 1);
    for (const int64_t axis : axes.value_or(std::vector<int64_t>())) {
      shape[AxisOf(axis, x.ndim(), "axes")] = 1;
    }
    const PostOps posts(post_ops, shape);
    if (shape == x.shape) {
      // Of single elements, which oneDNN does not reduce.
      const dnnl::eltwise_forward::primitive_desc copy(Engine(), dnnl::prop_kind::forward_inference,
                                                       algorithm::eltwise_linear, x.Offered(),
                                                       x.Offered(), 1.0f, 0.0f, posts.Attributes());
      std::vector<Argument> arguments{maker->Bind(DNNL_ARG_SRC, x, x.Offered())};
      const Argument output = maker->Output(DNNL_ARG_DST, copy.dst_desc(), x.dtype, shape);
      maker->AllowInPlace(arguments.front(), output);
      arguments.push_back(output);
      posts.Bind(copy, output, maker, &arguments);
      return maker->Add(copy, std::move(arguments));
    }
    const auto desc = BestOf(x, [&](const Desc& layout) {
      const Desc result = IsPlain(layout) ? PlainDesc(shape, x.type) : AnyDesc(shape, x.type);
      return dnnl::reduction::primitive_desc(Engine(), alg, layout, result, 0.0f, 0.0f,
                                             posts.Attributes());
    });
    std::vector<Argument> arguments{maker->Bind(DNNL_ARG_SRC, x, desc.src_desc())};
    const Argument output = maker->Output(DNNL_ARG_DST, desc.dst_desc(), x.dtype, shape);
    arguments.push_back(output);
    posts.Bind(desc, output, maker, &arguments);
    maker->Add(desc, std::move(arguments));
  });
}

Primitive MakeResampling(const GivenOperand& given_x, const std::vector<int64_t>& extents,
                         const std::string& kind, const GivenPostOps& post_ops) {
  return Make("resampling", [&](Maker* maker) {
    const Operand x(given_x, "x");
    CheckFloat(x.dtype, x.name);
    CheckAxes(x, 3, 5);
    if (kind != "nearest" && kind != "linear") {
      MXNET_THROW("ValueError") << "kind: expected 'nearest' or 'linear', got '" << kind << "'";
    }
    if (extents.size() + 2 != x.shape.size() ||
        std::any_of(extents.begin(), extents.end(), [](int64_t n) { return n < 1; })) {
      MXNET_THROW("ValueError") << "extents: expected " << x.ndim() - 2
                                << " integers of 1 or more, got " << Text(extents);
    }
    Dims shape{x.shape[0], x.shape[1]};
    shape.insert(shape.end(), extents.begin(), extents.end());
    const PostOps posts(post_ops, shape);
    const algorithm alg =
        kind == "nearest" ? algorithm::resampling_nearest : algorithm::resampling_linear;
    const auto desc = BestOf(x, [&](const Desc& layout) {
      const Desc result = IsPlain(layout) ? PlainDesc(shape, x.type) : AnyDesc(shape, x.type);
      return dnnl::resampling_forward::primitive_desc(Engine(), dnnl::prop_kind::forward_inference,
                                                      alg, layout, result, posts.Attributes());
    });
    std::vector<Argument> arguments{maker->Bind(DNNL_ARG_SRC, x, desc.src_desc())};
    const Argument output = maker->Output(DNNL_ARG_DST, desc.dst_desc(), x.dtype, shape);
    arguments.push_back(output);
    posts.Bind(desc, output, maker, &arguments);
    maker->Add(desc, std::move(arguments));
  });
}

Primitive MakePrelu(const GivenOperand& given_x, const GivenOperand& given_slope) {
  return Make("prelu", [&](Maker* maker) {
    const Operand x(given_x, "x");
    const Operand slope(given_slope, "slope");
    CheckFloat(x.dtype, x.name);
    CheckSameType(slope, x);
    Dims seen = slope.shape;
    bool fits = seen.size() <= x.shape.size();
    if (fits) seen.insert(seen.begin(), x.shape.size() - seen.size(), 1);
    for (size_t i = 0; fits && i < seen.size(); ++i) fits = seen[i] == 1 || seen[i] == x.shape[i];
    if (!fits) {
      MXNET_THROW("ValueError") << "slope: expected a shape that broadcasts to " << Text(x.shape)
                                << ", got " << Text(slope.shape);
    }
    const bool is_whole = seen == x.shape;
    const dnnl::prelu_forward::primitive_desc desc(
        Engine(), dnnl::prop_kind::forward_inference, x.Offered(),
        is_whole || slope.is_constant() ? AnyDesc(seen, x.type) : PlainDesc(seen, x.type),
        x.Offered(), AttributesWith());
    std::vector<Argument> arguments{
        maker->Bind(DNNL_ARG_SRC, x, desc.src_desc()),
        maker->Bind(DNNL_ARG_WEIGHTS, slope, slope.Offered().reshape(seen), desc.weights_desc())};
    arguments.push_back(maker->Output(DNNL_ARG_DST, desc.dst_desc(), x.dtype, x.shape));
    maker->AllowInPlace(arguments[0], arguments[2]);
    maker->Add(desc, std::move(arguments));
  });
}

Primitive MakeShuffle(const GivenOperand& given_x, int64_t groups, int64_t axis) {
  return Make("shuffle", [&](Maker* maker) {
    const Operand x(given_x, "x");
    const size_t at = AxisOf(axis, x.ndim(), "axis");
    if (groups < 1 || x.shape[at] % groups != 0) {
      MXNET_THROW("ValueError") << "groups: expected a divisor of " << x.shape[at] << ", got "
                                << groups;
    }
    const dnnl::shuffle_forward::primitive_desc desc(
        Engine(), dnnl::prop_kind::forward_inference, x.Offered(), x.Offered(),
        static_cast<int>(at), static_cast<int>(x.shape[at] / groups), AttributesWith());
    std::vector<Argument> arguments{maker->Bind(DNNL_ARG_SRC, x, desc.src_desc())};
    arguments.push_back(maker->Output(DNNL_ARG_DST, desc.dst_desc(), x.dtype, x.shape));
    maker->Add(desc, std::move(arguments));
  });
}

namespace {}  // namespace
}  // namespace onednn
}  // namespace mxnet
