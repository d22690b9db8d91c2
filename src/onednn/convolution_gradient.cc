/*!
 * \file convolution_gradient.cc
 * \brief What convolutions are differentiated by: their data and their weights.
 */
#include <algorithm>
#include <string>

#include "onednn/filters.h"
#include "onednn/makers.h"

namespace mxnet {
namespace onednn {
namespace {

/*! \brief The convolution whose gradient is asked for: x, of that shape, with a weight gives dy. */
struct Differentiated {
  Differentiated(const Dims& x, const Dims& weights, const Operand& dy,
                 const ConvolutionGradientArguments& given)
      : weight(weights),
        grouped(Grouped(weights, given.groups)),
        window(Spatial(weights), given.strides, given.pads, given.dilations) {
    const int64_t groups = given.groups;
    const bool fits = groups >= 1 && weight[0] % groups == 0 && weight[1] * groups == x[1];
    if (!fits) {
      MXNET_THROW("ValueError") << "weight: expected the shape (out channels, in channels / "
                                << "groups, ...), of " << groups << " groups, for x of shape "
                                << Text(x) << ", got " << Text(weight);
    }
    Dims image = window.Slide(x);
    image.insert(image.begin(), {x[0], weight[0]});
    CheckShape(dy, image);
  }

  dnnl::convolution_forward::primitive_desc Forward(const Desc& x, const Desc& y) const {
    return {Engine(),
            dnnl::prop_kind::forward_training,
            algorithm::convolution_direct,
            x,
            AnyDesc(grouped, x.get_data_type()),
            y,
            window.strides,
            window.dilation,
            window.begin,
            window.end,
            AttributesWith()};
  }

  Dims weight;
  Dims grouped;
  Window window;
};

void CheckExtents(const Dims& shape, int ndim, const char* argument) {
  bool fits = static_cast<int>(shape.size()) == ndim;
  for (const int64_t extent : shape) fits = fits && extent >= 1;
  if (fits) return;
  MXNET_THROW("ValueError") << argument << ": expected " << ndim << " extents of 1 or more, got "
                            << Text(shape);
}

/*! \brief The order of axes, the outermost first, in which a result of `shape` lies. */
Dims OrderOf(const GivenInts& given, const Dims& shape) {
  Dims usual(shape.size());
  for (size_t axis = 0; axis < usual.size(); ++axis) usual[axis] = static_cast<int64_t>(axis);
  if (!given) return usual;
  Dims sorted = *given;
  std::sort(sorted.begin(), sorted.end());
  if (sorted == usual) return *given;
  MXNET_THROW("ValueError") << "order: expected each of " << usual.size() << " axes once, got "
                            << Text(*given);
}

/*! \brief Weights whose axes lie in that order, with their groups as an axis of its own. */
Desc OrderedDesc(const Dims& weight, const Dims& grouped, const Dims& order, DType type) {
  Dims strides(weight.size());
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0; stride *= weight[order[i]]) strides[order[i]] = stride;
  if (grouped.size() > weight.size()) strides.insert(strides.begin(), strides[0] * grouped[1]);
  return Desc(grouped, type, strides);
}

void CheckImages(const Operand& images) {
  CheckFloat(images.dtype, images.name);
  CheckAxes(images, 3, 5);
}

}  // namespace

Primitive MakeConvolutionDataGradient(const GivenOperand& given_dy,
                                      const GivenOperand& given_weight,
                                      const ConvolutionGradientArguments& given) {
  return Make("convolution_data_gradient", [&](Maker* maker) {
    const Operand dy(given_dy, "dy");
    const Operand weight(given_weight, "weight");
    CheckImages(dy);
    CheckAxes(weight, dy.ndim(), dy.ndim());
    CheckSameType(weight, dy);
    CheckExtents(given.shape, dy.ndim(), "shape");
    const Differentiated of(given.shape, weight.shape, dy, given);
    ExpectProducts(weight.shape, dy.shape, maker);
    const Desc x = AnyDesc(given.shape, dy.type);
    const auto make = [&](const Desc& y) {
      return dnnl::convolution_backward_data::primitive_desc(
          Engine(), algorithm::convolution_direct, x, AnyDesc(of.grouped, dy.type), y,
          of.window.strides, of.window.dilation, of.window.begin, of.window.end, of.Forward(x, y),
          AttributesWith());
    };
    // In the blocks that it comes in, where that is fast: other layouts gain less than they cost.
    auto desc = make(dy.is_plain() ? dy.Wished() : dy.Offered());
    if (!dy.is_plain() && IsReference(desc.impl_info_str())) desc = make(dy.Wished());
    const Argument gradient = maker->Bind(DNNL_ARG_DIFF_DST, dy, desc.diff_dst_desc());
    const Argument packed = maker->BindPacked(
        DNNL_ARG_WEIGHTS, weight, weight.Offered().reshape(of.grouped), desc.weights_desc());
    const Argument result =
        maker->Output(DNNL_ARG_DIFF_SRC, desc.diff_src_desc(), dy.dtype, given.shape);
    maker->TrustReference();
    maker->Add(desc, {gradient, packed, result});
  });
}

Primitive MakeConvolutionWeightGradient(const GivenOperand& given_x, const GivenOperand& given_dy,
                                        const ConvolutionGradientArguments& given,
                                        const GivenInts& given_order) {
  return Make("convolution_weight_gradient", [&](Maker* maker) {
    const Operand x(given_x, "x");
    const Operand dy(given_dy, "dy");
    CheckImages(x);
    CheckAxes(dy, x.ndim(), x.ndim());
    CheckSameType(dy, x);
    CheckExtents(given.shape, x.ndim(), "shape");
    const Differentiated of(x.shape, given.shape, dy, given);
    ExpectProducts(given.shape, dy.shape, maker);
    const dnnl::convolution_backward_weights::primitive_desc desc(
        Engine(), algorithm::convolution_direct, x.Wished(), AnyDesc(of.grouped, x.type),
        dy.Wished(), of.window.strides, of.window.dilation, of.window.begin, of.window.end,
        of.Forward(x.Wished(), dy.Wished()), AttributesWith());
    const Argument source = maker->Bind(DNNL_ARG_SRC, x, desc.src_desc());
    const Argument gradient = maker->Bind(DNNL_ARG_DIFF_DST, dy, desc.diff_dst_desc());
    // Without blocks, as whoever updates the weights has them.
    const Dims order = OrderOf(given_order, given.shape);
    Dims shape;
    for (const int64_t axis : order) shape.push_back(given.shape[axis]);
    Argument result =
        maker->Output(DNNL_ARG_DIFF_WEIGHTS, PlainDesc(shape, x.type), x.dtype, shape);
    result.desc = OrderedDesc(given.shape, of.grouped, order, x.type);
    const Desc made = desc.diff_weights_desc();
    const bool is_plain = made == result.desc;
    const Argument packed = is_plain ? result : maker->Temporary(DNNL_ARG_DIFF_WEIGHTS, made);
    maker->TrustReference();
    maker->Add(desc, {source, gradient, packed});
    if (!is_plain) maker->Copy(packed, result);
  });
}

}  // namespace onednn
}  // namespace mxnet
