/*!
 * \file pooling.cc
 * \brief The largest element or the mean of windows.
 */
#include <algorithm>

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

}  // namespace

Primitive MakePooling(const GivenOperand& given_x, const PoolingArguments& given,
                      const GivenPostOps& post_ops) {
  return Make("pooling", [&](Maker* maker) {
    const Operand x(given_x, "x");
    CheckFloat(x.dtype, x.name);
    CheckAxes(x, 3, 5);
    const algorithm alg = AlgorithmOf(given);
    const Dims extents = given.kernel.value_or(Dims(x.shape.begin() + 2, x.shape.end()));
    if (extents.size() + 2 != x.shape.size() ||
        std::any_of(extents.begin(), extents.end(), [](int64_t n) { return n < 1; })) {
      MXNET_THROW("ValueError") << "kernel: expected " << x.ndim() - 2
                                << " integers of 1 or more, got " << Text(extents);
    }
    Window window(extents, given.strides, given.pads, given.dilations);
    const Dims asked = window.end;
    Dims shape = window.Slide(x.shape, given.ceil_mode);
    for (size_t i = 0; i < window.ndim(); ++i) {
      if (alg == algorithm::pooling_avg_include_padding && window.end[i] > asked[i]) {
        MXNET_THROW("NotImplementedError")
            << "count_include_pad: oneDNN would count what ceil_mode adds to the padding";
      }
    }
    shape.insert(shape.begin(), {x.shape[0], x.shape[1]});
    const PostOps posts(post_ops, shape);
    maker->Expect(TimeOfElements(SizeOf(x.shape)));
    const dnnl::pooling_forward::primitive_desc desc(Engine(), dnnl::prop_kind::forward_inference,
                                                     alg, x.Offered(), AnyDesc(shape, x.type),
                                                     window.strides, window.kernel, window.dilation,
                                                     window.begin, window.end, posts.Attributes());
    const Argument input = maker->Bind(DNNL_ARG_SRC, x, desc.src_desc());
    const Argument output = maker->Output(DNNL_ARG_DST, desc.dst_desc(), x.dtype, shape);
    std::vector<Argument> arguments{input, output};
    posts.Bind(desc, output, maker, &arguments);
    maker->Add(desc, std::move(arguments));
  });
}

namespace {}  // namespace
}  // namespace onednn
}  // namespace mxnet
