/*!
 * \file normalization.cc
 * \brief Normalizations by channel, of rows, and of a neighbourhood; softmax.
 */
#include "onednn/makers.h"

namespace mxnet {
namespace onednn {
namespace {

using dnnl::normalization_flags;

/*! \brief Scale, shift and the like: float32, whatever the data is. */
Argument BindVector(int name, const Operand& operand, int64_t size, Maker* maker) {
  CheckFloat(operand.dtype, operand.name);
  if (SizeOf(operand.shape) != size) {
    MXNET_THROW("ValueError") << operand.name << ": expected " << size
                              << " elements, got the shape " << Text(operand.shape);
  }
  if (!operand.is_constant() && operand.type != DType::f32) {
    MXNET_THROW("TypeError") << operand.name << ": expected float32, got "
                             << runtime::DataTypeName(operand.dtype);
  }
  return maker->Bind(name, operand, operand.Offered().reshape({size}),
                     PlainDesc({size}, DType::f32));
}

/*! \brief Adds the primitive, which reads x and the vectors, and its result in x's layout. */
template <typename PrimitiveDesc>
void Finish(const PrimitiveDesc& desc, const Operand& x, std::vector<Argument> arguments,
            const PostOps& posts, Maker* maker) {
  const Argument output = maker->Output(DNNL_ARG_DST, desc.dst_desc(), x.dtype, x.shape);
  maker->AllowInPlace(arguments.front(), output);
  arguments.push_back(output);
  posts.Bind(desc, output, maker, &arguments);
  maker->Add(desc, std::move(arguments));
}

}  // namespace

Primitive MakeBatchNormalization(const GivenOperand& given_x, const GivenOperand& scale,
                                 const GivenOperand& shift, const GivenOperand& mean,
                                 const GivenOperand& variance, double epsilon,
                                 const GivenPostOps& post_ops) {
  return Make("batch_normalization", [&](Maker* maker) {
    const Operand x(given_x, "x");
    CheckFloat(x.dtype, x.name);
    CheckAxes(x, 2, 5);
    const PostOps posts(post_ops, x.shape);
    const auto desc = BestOf(x, [&](const Desc& layout) {
      return dnnl::batch_normalization_forward::primitive_desc(
          Engine(), dnnl::prop_kind::forward_inference, layout, layout, static_cast<float>(epsilon),
          normalization_flags::use_global_stats | normalization_flags::use_scale |
              normalization_flags::use_shift,
          posts.Attributes());
    });
    std::vector<Argument> arguments{maker->Bind(DNNL_ARG_SRC, x, desc.src_desc())};
    const auto bind = [&](int name, const GivenOperand& given, const char* argument) {
      arguments.push_back(BindVector(name, Operand(given, argument), x.shape[1], maker));
    };
    bind(DNNL_ARG_SCALE, scale, "scale");
    bind(DNNL_ARG_SHIFT, shift, "shift");
    bind(DNNL_ARG_MEAN, mean, "mean");
    bind(DNNL_ARG_VARIANCE, variance, "variance");
    Finish(desc, x, std::move(arguments), posts, maker);
  });
}

Primitive MakeLayerNormalization(const GivenOperand& given_x,
                                 const std::optional<GivenOperand>& given_scale,
                                 const std::optional<GivenOperand>& given_shift, int64_t axis,
                                 double epsilon, const GivenPostOps& post_ops) {
  return Make("layer_normalization", [&](Maker* maker) {
    const Operand x(given_x, "x");
    const std::optional<Operand> scale = OperandOf(given_scale, "scale");
    const std::optional<Operand> shift = OperandOf(given_shift, "shift");
    CheckFloat(x.dtype, x.name);
    int64_t columns = 1;
    for (size_t i = AxisOf(axis, x.ndim(), "axis"); i < x.shape.size(); ++i) columns *= x.shape[i];
    const int64_t rows = SizeOf(x.shape) / columns;
    maker->Expect(TimeOfElements(SizeOf(x.shape)));
    PostOps posts(post_ops, x.shape);
    if (!posts.IsJoinable()) {
      MXNET_THROW("NotImplementedError") << "post_ops: expected operands of all elements";
    }
    posts.Join(rows);
    // Row-major, which all implementations that are fast want.
    const Desc plain = PlainDesc({rows, columns}, x.type);
    auto flags = normalization_flags::none;
    if (scale) flags = flags | normalization_flags::use_scale;
    if (shift) flags = flags | normalization_flags::use_shift;
    const dnnl::layer_normalization_forward::primitive_desc desc(
        Engine(), dnnl::prop_kind::forward_inference, plain, plain, static_cast<float>(epsilon),
        flags, posts.Attributes());
    const Desc lies = x.is_plain() ? plain : x.Offered();
    std::vector<Argument> arguments{maker->Bind(DNNL_ARG_SRC, x, lies, plain)};
    if (scale) arguments.push_back(BindVector(DNNL_ARG_SCALE, *scale, columns, maker));
    if (shift) arguments.push_back(BindVector(DNNL_ARG_SHIFT, *shift, columns, maker));
    Finish(desc, x, std::move(arguments), posts, maker);
  });
}

Primitive MakeSoftmax(const GivenOperand& given_x, int64_t axis, bool is_log,
                      const GivenPostOps& post_ops) {
  return Make("softmax", [&](Maker* maker) {
    const Operand x(given_x, "x");
    CheckFloat(x.dtype, x.name);
    maker->Expect(TimeOfElements(SizeOf(x.shape)));
    const auto at = static_cast<int>(AxisOf(axis, x.ndim(), "axis"));
    const PostOps posts(post_ops, x.shape);
    const auto desc = BestOf(x, [&](const Desc& layout) {
      return dnnl::softmax_forward::primitive_desc(
          Engine(), dnnl::prop_kind::forward_inference,
          is_log ? algorithm::softmax_log : algorithm::softmax_accurate, layout, layout, at,
          posts.Attributes());
    });
    Finish(desc, x, {maker->Bind(DNNL_ARG_SRC, x, desc.src_desc())}, posts, maker);
  });
}

Primitive MakeLrn(const GivenOperand& given_x, int64_t size, double alpha, double beta, double k) {
  return Make("lrn", [&](Maker* maker) {
    const Operand x(given_x, "x");
    CheckFloat(x.dtype, x.name);
    CheckAxes(x, 3, 5);
    if (size < 1) MXNET_THROW("ValueError") << "size: expected 1 or more, got " << size;
    const auto desc = BestOf(x, [&](const Desc& layout) {
      return dnnl::lrn_forward::primitive_desc(Engine(), dnnl::prop_kind::forward_inference,
                                               algorithm::lrn_across_channels, layout, layout, size,
                                               static_cast<float>(alpha), static_cast<float>(beta),
                                               static_cast<float>(k), AttributesWith());
    });
    std::vector<Argument> arguments{maker->Bind(DNNL_ARG_SRC, x, desc.src_desc())};
    arguments.push_back(maker->Output(DNNL_ARG_DST, desc.dst_desc(), x.dtype, x.shape));
    maker->Add(desc, std::move(arguments));
  });
}

namespace {}  // namespace
}  // namespace onednn
}  // namespace mxnet
