/*!
 * \file eltwise_gradient.cc
 * \brief What functions of single elements are differentiated by.
 */
#include "onednn/makers.h"

namespace mxnet {
namespace onednn {
namespace {

/*! \brief A function whose slope follows from its value. */
struct OfResult {
  algorithm of_x;
  algorithm of_y;
};
constexpr OfResult kOfResult[] = {
    {algorithm::eltwise_relu, algorithm::eltwise_relu_use_dst_for_bwd},
    {algorithm::eltwise_logistic, algorithm::eltwise_logistic_use_dst_for_bwd},
    {algorithm::eltwise_tanh, algorithm::eltwise_tanh_use_dst_for_bwd},
    {algorithm::eltwise_elu, algorithm::eltwise_elu_use_dst_for_bwd},
    {algorithm::eltwise_sqrt, algorithm::eltwise_sqrt_use_dst_for_bwd},
    {algorithm::eltwise_exp, algorithm::eltwise_exp_use_dst_for_bwd},
    {algorithm::eltwise_clip_v2, algorithm::eltwise_clip_v2_use_dst_for_bwd},
};

algorithm OfResultOf(algorithm of_x) {
  for (const OfResult& one : kOfResult) {
    if (one.of_x == of_x) return one.of_y;
  }
  MXNET_THROW("NotImplementedError") << "of_result: the slope does not follow from the result";
}

}  // namespace

Primitive MakeEltwiseGradient(const GivenOperand& given_dy, const GivenOperand& given_at,
                              const std::string& kind, std::optional<double> alpha,
                              std::optional<double> beta, bool of_result) {
  return Make("eltwise_gradient", [&](Maker* maker) {
    const Operand dy(given_dy, "dy");
    const Operand at(given_at, "at");
    CheckFloat(dy.dtype, dy.name);
    CheckSameType(at, dy);
    CheckShape(at, dy.shape);
    const Eltwise eltwise = EltwiseOf(kind, alpha, beta, "kind");
    maker->Expect(TimeOfElements(2 * SizeOf(dy.shape)));
    // In blocks, where one comes so.
    const Desc layout = dy.is_plain() ? at.Offered() : dy.Offered();
    const algorithm alg = of_result ? OfResultOf(eltwise.alg) : eltwise.alg;
    const dnnl::eltwise_forward::primitive_desc forward(Engine(), dnnl::prop_kind::forward_training,
                                                        alg, layout, layout, eltwise.alpha,
                                                        eltwise.beta, AttributesWith());
    const dnnl::eltwise_backward::primitive_desc desc(Engine(), alg, layout, layout, layout,
                                                      eltwise.alpha, eltwise.beta, forward,
                                                      AttributesWith());
    const Argument gradient = maker->Bind(DNNL_ARG_DIFF_DST, dy, layout);
    const Argument point = maker->Bind(of_result ? DNNL_ARG_DST : DNNL_ARG_SRC, at, layout);
    const Argument result = maker->Output(DNNL_ARG_DIFF_SRC, layout, dy.dtype, dy.GivenShape());
    maker->AllowInPlace(gradient, result);
    maker->Add(desc, {gradient, point, result});
  });
}

}  // namespace onednn
}  // namespace mxnet
