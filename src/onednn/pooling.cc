/*!
 * \file pooling.cc
 * \brief The largest element or the mean of windows, and the gradient of means.
 */
#include <algorithm>
#include <numeric>

#include "onednn/makers.h"

namespace mxnet {
namespace onednn {
namespace {

algorithm AlgorithmOf(const PoolingArguments& given) {
  if (given.kind == "max") return algorithm::pooling_max;
  if (given.kind != "avg") {
    MXNET_THROW("ValueError") << "kind: expected 'max' or 'avg', got '" << given.kind << "'";
  }
  return given.count_include_pad ? algorithm::pooling_avg_include_padding
                                 : algorithm::pooling_avg_exclude_padding;
}

/*! \brief The windows of a pool over x. */
struct Pool {
  Pool(const Dims& x, const PoolingArguments& given)
      : alg(AlgorithmOf(given)),
        window(Extents(x, given), given.strides, given.pads, given.dilations) {
    const Dims asked = window.end;
    result = window.Slide(x, given.ceil_mode);
    for (size_t i = 0; i < window.ndim(); ++i) {
      if (alg == algorithm::pooling_avg_include_padding && window.end[i] > asked[i]) {
        MXNET_THROW("NotImplementedError")
            << "count_include_pad: oneDNN would count what ceil_mode adds to the padding";
      }
    }
    result.insert(result.begin(), {x[0], x[1]});
  }

  static Dims Extents(const Dims& x, const PoolingArguments& given) {
    const Dims extents = given.kernel.value_or(Dims(x.begin() + 2, x.end()));
    if (extents.size() + 2 != x.size() ||
        std::any_of(extents.begin(), extents.end(), [](int64_t n) { return n < 1; })) {
      MXNET_THROW("ValueError") << "kernel: expected " << x.size() - 2
                                << " integers of 1 or more, got " << Text(extents);
    }
    return extents;
  }

  dnnl::pooling_forward::primitive_desc Forward(dnnl::prop_kind kind, const Desc& x, const Desc& y,
                                                const dnnl::primitive_attr& attributes) const {
    return {Engine(),        kind,         alg,        x,         y, window.strides, window.kernel,
            window.dilation, window.begin, window.end, attributes};
  }

  algorithm alg;
  Window window;
  Dims result; /*!< its shape */
};

/*! \brief The layout of a desc, for another shape; row-major for one in other blocks than those of
 * channels. */
Desc LayoutLike(const Desc& desc, const Dims& shape) {
  const DType type = desc.get_data_type();
  const Dims blocks = desc.get_inner_blks();
  if (blocks.empty()) {
    Dims strides = desc.get_strides();
    std::vector<size_t> order(shape.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return strides[a] < strides[b]; });
    int64_t stride = 1;
    for (const size_t axis : order) {
      strides[axis] = stride;
      stride *= shape[axis];
    }
    return Desc(shape, type, strides);
  }
  constexpr Tag kSixteen[] = {Tag::aBc16b, Tag::aBcd16b, Tag::aBcde16b};
  constexpr Tag kEight[] = {Tag::aBc8b, Tag::aBcd8b, Tag::aBcde8b};
  const bool is_of_channels = blocks.size() == 1 && desc.get_inner_idxs()[0] == 1;
  const size_t axes = shape.size() - 3;
  if (is_of_channels && blocks[0] == 16) return Desc(shape, type, kSixteen[axes]);
  if (is_of_channels && blocks[0] == 8) return Desc(shape, type, kEight[axes]);
  return PlainDesc(shape, type);
}

}  // namespace

Primitive MakePooling(const GivenOperand& given_x, const PoolingArguments& given,
                      const GivenPostOps& post_ops) {
  return Make("pooling", [&](Maker* maker) {
    const Operand x(given_x, "x");
    CheckFloat(x.dtype, x.name);
    CheckAxes(x, 3, 5);
    const Pool pool(x.shape, given);
    const PostOps posts(post_ops, pool.result);
    maker->Expect(TimeOfElements(SizeOf(x.shape)));
    const auto desc = pool.Forward(dnnl::prop_kind::forward_inference, x.Offered(),
                                   AnyDesc(pool.result, x.type), posts.Attributes());
    const Argument input = maker->Bind(DNNL_ARG_SRC, x, desc.src_desc());
    const Argument output = maker->Output(DNNL_ARG_DST, desc.dst_desc(), x.dtype, pool.result);
    std::vector<Argument> arguments{input, output};
    posts.Bind(desc, output, maker, &arguments);
    maker->Add(desc, std::move(arguments));
  });
}

Primitive MakeMeanPoolingGradient(const GivenOperand& given_dy, const std::vector<int64_t>& shape,
                                  const PoolingArguments& given) {
  return Make("mean_pooling_gradient", [&](Maker* maker) {
    const Operand dy(given_dy, "dy");
    CheckFloat(dy.dtype, dy.name);
    CheckAxes(dy, 3, 5);
    if (static_cast<int>(shape.size()) != dy.ndim()) {
      MXNET_THROW("ValueError") << "shape: expected " << dy.ndim() << " extents, got "
                                << Text(shape);
    }
    const Pool pool(shape, given);
    CheckShape(dy, pool.result);
    maker->Expect(TimeOfElements(SizeOf(shape)));
    const Desc x = LayoutLike(dy.Offered(), shape);
    const Desc y = LayoutLike(dy.Offered(), dy.shape);
    const Window& window = pool.window;
    const dnnl::pooling_backward::primitive_desc desc(
        Engine(), pool.alg, x, y, window.strides, window.kernel, window.dilation, window.begin,
        window.end, pool.Forward(dnnl::prop_kind::forward_training, x, y, AttributesWith()),
        AttributesWith());
    const Argument gradient = maker->Bind(DNNL_ARG_DIFF_DST, dy, desc.diff_dst_desc());
    const Argument result = maker->Output(DNNL_ARG_DIFF_SRC, desc.diff_src_desc(), dy.dtype, shape);
    maker->TrustReference();
    maker->Add(desc, {gradient, result});
  });
}

}  // namespace onednn
}  // namespace mxnet
