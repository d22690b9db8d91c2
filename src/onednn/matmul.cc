/*!
 * \file matmul.cc
 * \brief Products of matrices.
 */
#include <algorithm>
#include <numeric>

#include "onednn/makers.h"

namespace mxnet {
namespace onednn {
namespace {

/*! \brief An operand with further axes in front, and transposed where asked for. */
struct Matrices {
  Matrices(const Operand& operand, bool transpose, size_t ndim) {
    Dims extended = operand.shape;
    extended.insert(extended.begin(), ndim - extended.size(), 1);
    lies = operand.Offered().reshape(extended);
    if (!transpose) return;
    std::vector<int> order(ndim);
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[ndim - 1], order[ndim - 2]);
    lies = lies.permute_axes(order);
  }

  int64_t rows() const { return *(lies.get_dims().end() - 2); }
  int64_t columns() const { return lies.get_dims().back(); }

  Desc lies;
};

/*! \brief The shape of the product; ValueError where the operands do not go together. */
Dims ProductShape(const Operand& a, const Matrices& first, const Operand& b,
                  const Matrices& second) {
  const Dims left = first.lies.get_dims();
  const Dims right = second.lies.get_dims();
  Dims shape = left;
  bool fits = first.columns() == second.rows();
  for (size_t i = 0; i + 2 < shape.size(); ++i) {
    fits = fits && (left[i] == right[i] || left[i] == 1 || right[i] == 1);
    shape[i] = std::max(left[i], right[i]);
  }
  if (!fits) {
    MXNET_THROW("ValueError") << "a and b: expected (..., m, k) and (..., k, n) after transposing, "
                              << "got the shapes " << Text(a.shape) << " and " << Text(b.shape);
  }
  shape.back() = second.columns();
  return shape;
}

}  // namespace

Primitive MakeMatMul(const GivenOperand& given_a, const GivenOperand& given_b,
                     const std::optional<GivenOperand>& given_bias, bool transpose_a,
                     bool transpose_b, double alpha, const GivenPostOps& post_ops, bool pack_b,
                     const std::optional<DLDataType>& dtype) {
  return Make("matmul", [&](Maker* maker) {
    const Operand a(given_a, "a");
    const Operand b(given_b, "b");
    const std::optional<Operand> bias = OperandOf(given_bias, "bias");
    const Operand& data = a.is_constant() ? b : a;
    CheckFloat(data.dtype, data.name);
    CheckAxes(a, 2, DNNL_MAX_NDIMS);
    CheckAxes(b, 2, DNNL_MAX_NDIMS);
    CheckSameType(a, data);
    CheckSameType(b, data);
    const DLDataType result = dtype.value_or(data.dtype);
    CheckFloat(result, "dtype");
    const auto ndim = static_cast<size_t>(std::max(a.ndim(), b.ndim()));
    Matrices first(a, transpose_a, ndim);
    Matrices second(b, transpose_b, ndim);
    const Dims shape = ProductShape(a, first, b, second);
    const int64_t columns = shape.back();
    Dims seen = shape;
    PostOps posts(post_ops, shape);
    // Matrices that are all multiplied by the same one are the rows of a single one.
    const bool is_one = SizeOf(b.shape) == second.rows() * second.columns();
    if (ndim > 2 && is_one && !transpose_a && a.is_plain() && posts.IsJoinable()) {
      seen = {SizeOf(shape) / columns, columns};
      first.lies = first.lies.reshape({seen[0], first.columns()});
      second.lies = second.lies.reshape({second.rows(), columns});
      posts.Join(seen[0]);
    }
    Desc bias_desc;
    if (bias) {
      CheckFloat(bias->dtype, bias->name);
      CheckShape(*bias, {columns});
      if (alpha == 1) {
        Dims extended(seen.size(), 1);
        extended.back() = columns;
        bias_desc = PlainDesc(extended, bias->is_constant() ? DType::f32 : bias->type);
      } else {
        posts.Prepend(algorithm::binary_add, *bias);
      }
    }
    if (alpha != 1) posts.Prepend(Eltwise{algorithm::eltwise_linear, static_cast<float>(alpha), 0});
    const auto wished = [&](const Operand& operand, const Desc& lies) {
      return operand.is_constant() ? AnyDesc(lies.get_dims(), data.type) : lies;
    };
    const Desc left = wished(a, first.lies);
    const Desc right = pack_b ? AnyDesc(second.lies.get_dims(), data.type) : wished(b, second.lies);
    const Desc product = PlainDesc(seen, TypeOf(result, "dtype"));
    maker->Expect(
        TimeOfProducts(static_cast<double>(SizeOf(shape)) * static_cast<double>(first.columns())));
    const dnnl::primitive_attr attributes = posts.Attributes();
    const bool has_bias = bias && alpha == 1;
    const auto desc =
        has_bias
            ? dnnl::matmul::primitive_desc(Engine(), left, right, bias_desc, product, attributes)
            : dnnl::matmul::primitive_desc(Engine(), left, right, product, attributes);
    std::vector<Argument> arguments{
        maker->Bind(DNNL_ARG_SRC, a, first.lies, desc.src_desc()),
        maker->Bind(DNNL_ARG_WEIGHTS, b, second.lies, desc.weights_desc())};
    if (has_bias) {
      const Desc lies = bias->Offered().reshape(bias_desc.get_dims());
      arguments.push_back(maker->Bind(DNNL_ARG_BIAS, *bias, lies, bias_desc));
    }
    const Argument output = maker->Output(DNNL_ARG_DST, desc.dst_desc(), result, shape);
    arguments.push_back(output);
    posts.Bind(desc, output, maker, &arguments);
    maker->Add(desc, std::move(arguments));
  });
}

Primitive MakeInnerProduct(const GivenOperand& given_x, const GivenOperand& given_weight,
                           const std::optional<GivenOperand>& given_bias,
                           const GivenPostOps& post_ops) {
  return Make("inner_product", [&](Maker* maker) {
    const Operand x(given_x, "x");
    const Operand weight(given_weight, "weight");
    const std::optional<Operand> bias = OperandOf(given_bias, "bias");
    CheckFloat(x.dtype, x.name);
    CheckAxes(x, 2, 5);
    CheckAxes(weight, 2, 2);
    CheckSameType(weight, x);
    const int64_t columns = SizeOf(x.shape) / x.shape[0];
    CheckShape(weight, {weight.shape[0], columns});
    const Dims shape{x.shape[0], weight.shape[0]};
    const PostOps posts(post_ops, shape);
    maker->Expect(
        TimeOfProducts(static_cast<double>(SizeOf(shape)) * static_cast<double>(columns)));
    Dims extended = x.shape;
    extended[0] = weight.shape[0];
    Desc bias_desc;
    if (bias) {
      CheckFloat(bias->dtype, bias->name);
      CheckShape(*bias, {shape[1]});
      bias_desc = PlainDesc({shape[1]}, bias->is_constant() ? DType::f32 : bias->type);
    }
    const dnnl::inner_product_forward::primitive_desc desc(
        Engine(), dnnl::prop_kind::forward_inference, x.Wished(),
        weight.is_constant() ? AnyDesc(extended, x.type) : PlainDesc(extended, x.type), bias_desc,
        PlainDesc(shape, x.type), posts.Attributes());
    std::vector<Argument> arguments{
        maker->Bind(DNNL_ARG_SRC, x, desc.src_desc()),
        maker->Bind(DNNL_ARG_WEIGHTS, weight, weight.Offered().reshape(extended),
                    desc.weights_desc())};
    if (bias) arguments.push_back(maker->Bind(DNNL_ARG_BIAS, *bias, bias_desc));
    const Argument output = maker->Output(DNNL_ARG_DST, desc.dst_desc(), x.dtype, shape);
    arguments.push_back(output);
    posts.Bind(desc, output, maker, &arguments);
    maker->Add(desc, std::move(arguments));
  });
}

namespace {}  // namespace
}  // namespace onednn
}  // namespace mxnet
