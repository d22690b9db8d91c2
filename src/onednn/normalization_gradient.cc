/*!
 * \file normalization_gradient.cc
 * \brief Normalization by the statistics of the batch, and what it is differentiated by.
 */
#include "onednn/makers.h"

namespace mxnet {
namespace onednn {
namespace {

using dnnl::normalization_flags;

const auto kFlags = normalization_flags::use_scale | normalization_flags::use_shift;

/*! \brief An operand of one float32 a channel. */
Argument BindChannels(int name, const GivenOperand& given, const char* argument, const Operand& x,
                      Maker* maker) {
  const Operand operand(given, argument);
  CheckShape(operand, {x.shape[1]});
  if (operand.type != DType::f32) {
    MXNET_THROW("TypeError") << argument << ": expected float32, got "
                             << runtime::DataTypeName(operand.dtype);
  }
  return maker->Bind(name, operand, PlainDesc({x.shape[1]}, DType::f32));
}

Argument OutputOfChannels(int name, const Operand& x, Maker* maker) {
  const Dims shape{x.shape[1]};
  return maker->Output(name, PlainDesc(shape, DType::f32), runtime::kFloat32, shape);
}

/*! \brief In the same layout forwards and backwards: that of blocks, where one comes so. */
dnnl::batch_normalization_forward::primitive_desc Forward(const Desc& layout, double epsilon) {
  return {Engine(),        dnnl::prop_kind::forward_training, layout,
          layout,          static_cast<float>(epsilon),       kFlags,
          AttributesWith()};
}

void CheckBatch(const Operand& x) {
  CheckFloat(x.dtype, x.name);
  CheckAxes(x, 2, 5);
}

}  // namespace

Primitive MakeBatchNormalizationTraining(const GivenOperand& given_x, const GivenOperand& scale,
                                         const GivenOperand& shift, double epsilon) {
  return Make("batch_normalization_training", [&](Maker* maker) {
    const Operand x(given_x, "x");
    CheckBatch(x);
    maker->Expect(TimeOfElements(2 * SizeOf(x.shape)));
    const auto desc = BestOf(x, [&](const Desc& layout) { return Forward(layout, epsilon); });
    std::vector<Argument> arguments{maker->Bind(DNNL_ARG_SRC, x, desc.src_desc())};
    arguments.push_back(BindChannels(DNNL_ARG_SCALE, scale, "scale", x, maker));
    arguments.push_back(BindChannels(DNNL_ARG_SHIFT, shift, "shift", x, maker));
    arguments.push_back(maker->Output(DNNL_ARG_DST, desc.dst_desc(), x.dtype, x.shape));
    arguments.push_back(OutputOfChannels(DNNL_ARG_MEAN, x, maker));
    arguments.push_back(OutputOfChannels(DNNL_ARG_VARIANCE, x, maker));
    maker->Add(desc, std::move(arguments));
  });
}

Primitive MakeBatchNormalizationGradient(const GivenOperand& given_dy, const GivenOperand& given_x,
                                         const GivenOperand& scale, const GivenOperand& mean,
                                         const GivenOperand& inv_std) {
  return Make("batch_normalization_gradient", [&](Maker* maker) {
    const Operand dy(given_dy, "dy");
    const Operand x(given_x, "x");
    CheckBatch(x);
    CheckSameType(dy, x);
    CheckShape(dy, x.shape);
    maker->Expect(TimeOfElements(3 * SizeOf(x.shape)));
    const auto make = [&](const Desc& layout) {
      // Its epsilon is in inv_std already.
      return dnnl::batch_normalization_backward::primitive_desc(
          Engine(), dnnl::prop_kind::backward, layout, layout, layout, 0.0f, kFlags,
          Forward(layout, 0), AttributesWith());
    };
    const auto desc = BestOf(x.is_plain() ? dy : x, make);
    const Argument gradient = maker->Bind(DNNL_ARG_DIFF_DST, dy, desc.diff_dst_desc());
    const Argument source = maker->Bind(DNNL_ARG_SRC, x, desc.src_desc());
    const Argument factor = BindChannels(DNNL_ARG_SCALE, scale, "scale", x, maker);
    const Argument means = BindChannels(DNNL_ARG_MEAN, mean, "mean", x, maker);
    const Argument inverse = BindChannels(DNNL_ARG_SRC, inv_std, "inv_std", x, maker);
    const dnnl::eltwise_forward::primitive_desc square(Engine(), dnnl::prop_kind::forward_inference,
                                                       algorithm::eltwise_pow, inverse.desc,
                                                       inverse.desc, 1.0f, -2.0f, AttributesWith());
    const Argument variance = maker->Temporary(DNNL_ARG_VARIANCE, inverse.desc);
    maker->steps()->Add(square, {inverse, {DNNL_ARG_DST, variance.desc, variance.location}});
    const Argument result =
        maker->Output(DNNL_ARG_DIFF_SRC, desc.diff_src_desc(), x.dtype, x.shape);
    const Argument scales = OutputOfChannels(DNNL_ARG_DIFF_SCALE, x, maker);
    const Argument shifts = OutputOfChannels(DNNL_ARG_DIFF_SHIFT, x, maker);
    maker->Add(desc, {gradient, source, factor, means, variance, result, scales, shifts});
  });
}

}  // namespace onednn
}  // namespace mxnet
