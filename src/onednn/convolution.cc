/*!
 * \file convolution.cc
 * \brief Convolutions over one to three axes, and their transposes.
 */
#include <algorithm>
#include <string>
#include <utility>

#include "onednn/filters.h"
#include "onednn/makers.h"

namespace mxnet {
namespace onednn {
namespace {

/*! \brief Checks what both have in common. channels_axis is that of the weight, which `groups`
 * divides. */
void CheckWeight(const Operand& x, const Operand& weight, int64_t groups, int64_t channels,
                 const char* expected) {
  CheckFloat(x.dtype, x.name);
  CheckAxes(x, 3, 5);
  CheckAxes(weight, x.ndim(), x.ndim());
  CheckSameType(weight, x);
  if (groups < 1 || weight.shape[0] % groups != 0 || x.shape[1] != channels) {
    MXNET_THROW("ValueError") << "weight: expected the shape " << expected << ", of " << groups
                              << " groups, for x of shape " << Text(x.shape) << ", got "
                              << Text(weight.shape);
  }
}

/*! \brief Of float32 also where data is of 16 bits, as what is added up is. */
Desc BiasDesc(const std::optional<Operand>& bias, int64_t channels) {
  if (!bias) return Desc();
  CheckFloat(bias->dtype, bias->name);
  CheckShape(*bias, {channels});
  return PlainDesc({channels}, bias->is_constant() ? DType::f32 : bias->type);
}

/*! \brief Binds what the primitive reads and writes, and adds it. */
template <typename PrimitiveDesc>
void Finish(const PrimitiveDesc& desc, const Operand& x, const Operand& weight,
            const Desc& weight_lies, const std::optional<Operand>& bias, const PostOps& posts,
            const Dims& shape, DLDataType dtype, Maker* maker) {
  std::vector<Argument> arguments{
      maker->Bind(DNNL_ARG_SRC, x, desc.src_desc()),
      maker->BindPacked(DNNL_ARG_WEIGHTS, weight, weight_lies, desc.weights_desc())};
  if (bias) arguments.push_back(maker->Bind(DNNL_ARG_BIAS, *bias, desc.bias_desc()));
  const Argument output = maker->Output(DNNL_ARG_DST, desc.dst_desc(), dtype, shape);
  arguments.push_back(output);
  posts.Bind(desc, output, maker, &arguments);
  maker->Add(desc, std::move(arguments));
}

/*! \brief Any layout for a weight, which is packed: once where it is a constant, else by each run.
 * That takes longer than what it saves where few positions of an image are multiplied. */
Desc WishedWeight(const Operand& weight, const Dims& grouped, const Dims& image, DType type) {
  constexpr int64_t kFew = 8;
  const bool is_reused = SizeOf(image) / image[1] >= kFew;
  return weight.is_constant() || is_reused ? AnyDesc(grouped, type) : PlainDesc(grouped, type);
}

/*! \brief The result with its channels side by side, as the innermost axis. */
Desc ChannelsLast(const Dims& shape, DType type) {
  Dims strides(shape.size());
  strides[1] = 1;
  int64_t stride = shape[1];
  for (size_t axis = shape.size() - 1; axis > 1; stride *= shape[axis--]) strides[axis] = stride;
  strides[0] = stride;
  return Desc(shape, type, strides);
}

/*! \brief Whether at least half of what lies so are channels that only fill a block. */
bool IsMostlyPadding(const Desc& desc) {
  return desc.get_padded_dims()[1] >= 2 * desc.get_dims()[1];
}

/*! \brief Whether x comes in the layout. */
bool IsOffered(const Operand& x, const Desc& desc) {
  return desc == x.Offered() || (x.is_plain() && IsPlain(desc));
}

}  // namespace

Primitive MakeConvolution(const ConvolutionArguments& given) {
  return Make("convolution", [&](Maker* maker) {
    const Operand x(given.x, "x");
    const Operand weight(given.weight, "weight");
    const std::optional<Operand> bias = OperandOf(given.bias, "bias");
    CheckWeight(x, weight, given.groups, weight.ndim() > 1 ? weight.shape[1] * given.groups : 0,
                "(out channels, in channels / groups, ...)");
    Window window(Spatial(weight.shape), given.strides, given.pads, given.dilations);
    Dims shape = window.Slide(x.shape);
    shape.insert(shape.begin(), {x.shape[0], weight.shape[0]});
    const PostOps posts(given.post_ops, shape);
    const Dims grouped = Grouped(weight.shape, given.groups);
    const Desc bias_desc = BiasDesc(bias, weight.shape[0]);
    ExpectProducts(weight.shape, shape, maker);
    // A weight that changes is one that is trained: in layouts that gradients like as well.
    const auto kind = weight.is_constant() ? dnnl::prop_kind::forward_inference
                                           : dnnl::prop_kind::forward_training;
    const DLDataType dtype = given.dtype.value_or(x.dtype);
    CheckFloat(dtype, "dtype");
    const DType type = TypeOf(dtype, "dtype");
    const auto make = [&](const Desc& output) {
      return dnnl::convolution_forward::primitive_desc(
          Engine(), kind, algorithm::convolution_direct, x.Wished(),
          WishedWeight(weight, grouped, shape, x.type), bias_desc, output, window.strides,
          window.dilation, window.begin, window.end, posts.Attributes());
    };
    auto desc = make(AnyDesc(shape, type));
    if (IsMostlyPadding(desc.dst_desc())) {
      // Whoever reads it would copy it without the padding, or compute with that.
      auto unpadded = make(ChannelsLast(shape, type));
      const std::string implementation = desc.impl_info_str();
      if (implementation == unpadded.impl_info_str() && IsOffered(x, unpadded.src_desc())) {
        desc = std::move(unpadded);
      }
    }
    Finish(desc, x, weight, weight.Offered().reshape(grouped), bias, posts, shape, dtype, maker);
  });
}

Primitive MakeDeconvolution(const ConvolutionArguments& given, const GivenInts& output_padding) {
  return Make("deconvolution", [&](Maker* maker) {
    const Operand x(given.x, "x");
    const Operand weight(given.weight, "weight");
    const std::optional<Operand> bias = OperandOf(given.bias, "bias");
    CheckWeight(x, weight, given.groups, weight.shape[0],
                "(in channels, out channels / groups, ...)");
    const Window window(Spatial(weight.shape), given.strides, given.pads, given.dilations);
    const Dims more = output_padding.value_or(Dims(window.ndim(), 0));
    if (more.size() != window.ndim()) {
      MXNET_THROW("ValueError") << "output_padding: expected " << window.ndim() << " integers, got "
                                << Text(more);
    }
    Dims shape{x.shape[0], weight.shape[1] * given.groups};
    Dims end = window.end;
    for (size_t i = 0; i < window.ndim(); ++i) {
      end[i] -= more[i];
      const int64_t extent =
          (x.shape[2 + i] - 1) * window.strides[i] + window.Reach(i) - window.begin[i] - end[i];
      if (extent < 1) {
        MXNET_THROW("ValueError") << "pads: leave nothing of an axis of "
                                  << extent + window.begin[i] + end[i] << " elements";
      }
      shape.push_back(extent);
    }
    const PostOps posts(given.post_ops, shape);
    // oneDNN has the channels of the result first.
    const Dims grouped = Grouped(weight.shape, given.groups);
    std::vector<int> order(grouped.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    const size_t first = given.groups == 1 ? 0 : 1;
    std::swap(order[first], order[first + 1]);
    Dims swapped = grouped;
    std::swap(swapped[first], swapped[first + 1]);
    const Desc lies = weight.Offered().reshape(grouped).permute_axes(order);
    const Desc bias_desc = BiasDesc(bias, shape[1]);
    ExpectProducts(weight.shape, x.shape, maker);
    const dnnl::deconvolution_forward::primitive_desc desc(
        Engine(), dnnl::prop_kind::forward_inference, algorithm::deconvolution_direct, x.Wished(),
        weight.is_constant() ? AnyDesc(swapped, x.type) : lies, bias_desc, AnyDesc(shape, x.type),
        window.strides, window.dilation, window.begin, end, posts.Attributes());
    Finish(desc, x, weight, lies, bias, posts, shape, x.dtype, maker);
  });
}

namespace {}  // namespace
}  // namespace onednn
}  // namespace mxnet
