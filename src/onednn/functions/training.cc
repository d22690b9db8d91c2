#include "onednn/functions/classes.h"

namespace mxnet {
namespace onednn {
namespace python {
namespace {

MXNET_REGISTER_API("mx.onednn.convolution_data_gradient")
    .describe("What a convolution's data is differentiated by.")
    .arg("dy", "The gradient of its result.")
    .arg("weight", "(out channels, in channels / groups, ...).")
    .arg("shape", "Of the data.")
    .arg("strides", nullptr, "By axis; 1 where None.")
    .arg("pads", nullptr, "Zeros before and behind x: the beginnings of all axes, then the ends.")
    .arg("dilations", nullptr, "By axis; 1 where None.")
    .arg("groups", 1, "Into which channels are divided.")
    .name_errors()
    .release_gil()
    .set_body_typed([](const Operand& dy, const Operand& weight, std::vector<int64_t> shape,
                       GivenInts strides, GivenInts pads, GivenInts dilations, int64_t groups) {
      return Told(MakeConvolutionDataGradient(
          Given(dy), Given(weight),
          {std::move(shape), std::move(strides), std::move(pads), std::move(dilations), groups}));
    });

MXNET_REGISTER_API("mx.onednn.convolution_weight_gradient")
    .describe("What a convolution's weight is differentiated by, row-major.")
    .arg("x", "The data.")
    .arg("dy", "The gradient of its result.")
    .arg("shape", "Of the weight.")
    .arg("strides", nullptr, "By axis; 1 where None.")
    .arg("pads", nullptr, "Zeros before and behind x: the beginnings of all axes, then the ends.")
    .arg("dilations", nullptr, "By axis; 1 where None.")
    .arg("groups", 1, "Into which channels are divided.")
    .arg("order", nullptr, "The axes of the weight in the order that the result has them in.")
    .name_errors()
    .release_gil()
    .set_body_typed([](const Operand& x, const Operand& dy, std::vector<int64_t> shape,
                       GivenInts strides, GivenInts pads, GivenInts dilations, int64_t groups,
                       GivenInts order) {
      return Told(MakeConvolutionWeightGradient(
          Given(x), Given(dy),
          {std::move(shape), std::move(strides), std::move(pads), std::move(dilations), groups},
          order));
    });

MXNET_REGISTER_API("mx.onednn.eltwise_gradient")
    .describe("What the data of a function of each element is differentiated by.")
    .arg("dy", "The gradient of its result.")
    .arg("at", "The data or, where of_result, the result.")
    .arg("kind", "'relu', 'clip', 'gelu_erf', ...")
    .arg("alpha", nullptr, "The first number of the kind; its usual value where None.")
    .arg("beta", nullptr, "The second number of the kind.")
    .arg("of_result", false, "Whether `at` is the result.")
    .name_errors()
    .release_gil()
    .set_body_typed([](const Operand& dy, const Operand& at, const std::string& kind,
                       std::optional<double> alpha, std::optional<double> beta, bool of_result) {
      return Told(MakeEltwiseGradient(Given(dy), Given(at), kind, alpha, beta, of_result));
    });

MXNET_REGISTER_API("mx.onednn.mean_pooling_gradient")
    .describe("What the data of a pool that takes means is differentiated by.")
    .arg("dy", "The gradient of its result.")
    .arg("shape", "Of the data.")
    .arg("kernel", nullptr, "Extents of the window; all of the data where None.")
    .arg("strides", nullptr, "By axis; 1 where None.")
    .arg("pads", nullptr, "What surrounds x: the beginnings of all axes, then the ends.")
    .arg("dilations", nullptr, "By axis; 1 where None.")
    .arg("ceil_mode", false, "Whether the last window may lie partly outside.")
    .arg("count_include_pad", false, "Whether means count the padding.")
    .name_errors()
    .release_gil()
    .set_body_typed([](const Operand& dy, const std::vector<int64_t>& shape, GivenInts kernel,
                       GivenInts strides, GivenInts pads, GivenInts dilations, bool ceil_mode,
                       bool count_include_pad) {
      return Told(
          MakeMeanPoolingGradient(Given(dy), shape,
                                  {"avg", std::move(kernel), std::move(strides), std::move(pads),
                                   std::move(dilations), ceil_mode, count_include_pad}));
    });

}  // namespace
}  // namespace python
}  // namespace onednn
}  // namespace mxnet
