/*!
 * \file makers.h
 * \brief The makers of kernels: of operands, constants and attributes each makes a Primitive.
 *
 * What they are told is checked: ValueError, TypeError or NotImplementedError, naming the argument,
 * for what oneDNN has no way for. What attributes mean stands in functions/, where Python gets
 * them.
 */
#ifndef MXNET_SRC_ONEDNN_MAKERS_H_
#define MXNET_SRC_ONEDNN_MAKERS_H_

#include <optional>
#include <string>
#include <vector>

#include "onednn/post_ops.h"
#include "onednn/window.h"

namespace mxnet {
namespace onednn {

/*! \brief Of both kinds of convolution; none of what is optional is what is usual. */
struct ConvolutionArguments {
  GivenOperand x;
  GivenOperand weight;
  std::optional<GivenOperand> bias;
  GivenInts strides;
  GivenInts pads;
  GivenInts dilations;
  int64_t groups;
  GivenPostOps post_ops;
  std::optional<DLDataType> dtype{}; /*!< of the result; that of x by default */
};

/*! \brief Of what a convolution is differentiated by; shape is that of the result. */
struct ConvolutionGradientArguments {
  std::vector<int64_t> shape;
  GivenInts strides;
  GivenInts pads;
  GivenInts dilations;
  int64_t groups;
};

struct PoolingArguments {
  std::string kind; /*!< "max" or "avg" */
  GivenInts kernel;
  GivenInts strides;
  GivenInts pads;
  GivenInts dilations;
  bool ceil_mode;
  bool count_include_pad;
};

struct RecurrentArguments {
  GivenOperand x;
  GivenOperand weight;
  GivenOperand recurrent;
  std::optional<GivenOperand> bias;
  std::optional<GivenOperand> initial_h;
  std::optional<GivenOperand> initial_c;
  std::optional<GivenOperand> peephole;
  std::string kind;
  std::string direction;
};

Primitive MakeReorder(const GivenOperand& x, const MaybeLayout& to,
                      const std::optional<DLDataType>& dtype);
Primitive MakeEltwise(const GivenOperand& x, const std::string& kind, std::optional<double> alpha,
                      std::optional<double> beta, const GivenPostOps& post_ops);
Primitive MakeBinary(const GivenOperand& a, const GivenOperand& b, const std::string& kind,
                     const GivenPostOps& post_ops);
Primitive MakePrelu(const GivenOperand& x, const GivenOperand& slope);

Primitive MakeConvolution(const ConvolutionArguments& given);
Primitive MakeDeconvolution(const ConvolutionArguments& given, const GivenInts& output_padding);
Primitive MakeMatMul(const GivenOperand& a, const GivenOperand& b,
                     const std::optional<GivenOperand>& bias, bool transpose_a, bool transpose_b,
                     double alpha, const GivenPostOps& post_ops, bool pack_b = false,
                     const std::optional<DLDataType>& dtype = std::nullopt);
Primitive MakeInnerProduct(const GivenOperand& x, const GivenOperand& weight,
                           const std::optional<GivenOperand>& bias, const GivenPostOps& post_ops);
Primitive MakeRecurrent(const RecurrentArguments& given);

Primitive MakePooling(const GivenOperand& x, const PoolingArguments& given,
                      const GivenPostOps& post_ops);
Primitive MakeReduction(const GivenOperand& x, const std::string& kind, const GivenInts& axes,
                        const GivenPostOps& post_ops);
Primitive MakeBatchNormalization(const GivenOperand& x, const GivenOperand& scale,
                                 const GivenOperand& shift, const GivenOperand& mean,
                                 const GivenOperand& variance, double epsilon,
                                 const GivenPostOps& post_ops);
Primitive MakeLayerNormalization(const GivenOperand& x, const std::optional<GivenOperand>& scale,
                                 const std::optional<GivenOperand>& shift, int64_t axis,
                                 double epsilon, const GivenPostOps& post_ops);
Primitive MakeSoftmax(const GivenOperand& x, int64_t axis, bool is_log,
                      const GivenPostOps& post_ops);
Primitive MakeLrn(const GivenOperand& x, int64_t size, double alpha, double beta, double k);

/* ---- training: results that gradients need, and gradients ---- */

Primitive MakeConvolutionDataGradient(const GivenOperand& dy, const GivenOperand& weight,
                                      const ConvolutionGradientArguments& given);
/*! \brief The result is transposed: its axis i is axis order[i] of the weight. */
Primitive MakeConvolutionWeightGradient(const GivenOperand& x, const GivenOperand& dy,
                                        const ConvolutionGradientArguments& given,
                                        const GivenInts& order);
/*! \brief at is what the function was given or, where of_result, what it gave. */
Primitive MakeEltwiseGradient(const GivenOperand& dy, const GivenOperand& at,
                              const std::string& kind, std::optional<double> alpha,
                              std::optional<double> beta, bool of_result);
Primitive MakeMeanPoolingGradient(const GivenOperand& dy, const std::vector<int64_t>& shape,
                                  const PoolingArguments& given);

/* ---- movement ---- */

Primitive MakeConcat(const std::vector<GivenOperand>& inputs, int64_t axis);
Primitive MakeResampling(const GivenOperand& x, const std::vector<int64_t>& extents,
                         const std::string& kind, const GivenPostOps& post_ops);
Primitive MakeShuffle(const GivenOperand& x, int64_t groups, int64_t axis);

}  // namespace onednn
}  // namespace mxnet

#endif  // MXNET_SRC_ONEDNN_MAKERS_H_
