#include "onednn/functions/classes.h"

namespace mxnet {
namespace onednn {
namespace python {
namespace {

MXNET_REGISTER_API("mx.onednn.convolution")
    .describe("A convolution over one to three axes.")
    .arg("x", "Of the shape (n, in channels, ...).")
    .arg("weight", "(out channels, in channels / groups, ...); packed where it is a constant.")
    .arg("bias", nullptr, "(out channels).")
    .arg("strides", nullptr, "By axis; 1 where None.")
    .arg("pads", nullptr, "Zeros before and behind x: the beginnings of all axes, then the ends.")
    .arg("dilations", nullptr, "By axis; 1 where None.")
    .arg("groups", 1, "Into which channels are divided.")
    .arg("post_ops", nullptr, "What is done to the result.")
    .arg("dtype", nullptr, "Of the result; that of x by default.")
    .name_errors()
    .release_gil()
    .set_body_typed([](Operand x, Operand weight, std::optional<Operand> bias, GivenInts strides,
                       GivenInts pads, GivenInts dilations, int64_t groups, PostOps post_ops,
                       const std::optional<DLDataType>& dtype) {
      return Told(
          MakeConvolution({Given(x), Given(weight), Given(bias), std::move(strides),
                           std::move(pads), std::move(dilations), groups, Given(post_ops), dtype}));
    });

MXNET_REGISTER_API("mx.onednn.deconvolution")
    .describe("The transpose of a convolution over one to three axes.")
    .arg("x", "Of the shape (n, in channels, ...).")
    .arg("weight", "(in channels, out channels / groups, ...); packed where it is a constant.")
    .arg("bias", nullptr, "(out channels).")
    .arg("strides", nullptr, "By axis; 1 where None.")
    .arg("pads", nullptr, "What is cut off: the beginnings of all axes, then the ends.")
    .arg("dilations", nullptr, "By axis; 1 where None.")
    .arg("groups", 1, "Into which channels are divided.")
    .arg("output_padding", nullptr, "By how much less is cut off at the ends.")
    .arg("post_ops", nullptr, "What is done to the result.")
    .name_errors()
    .release_gil()
    .set_body_typed([](Operand x, Operand weight, std::optional<Operand> bias, GivenInts strides,
                       GivenInts pads, GivenInts dilations, int64_t groups,
                       GivenInts output_padding, PostOps post_ops) {
      return Told(MakeDeconvolution(
          {Given(x), Given(weight), Given(bias), std::move(strides), std::move(pads),
           std::move(dilations), groups, Given(post_ops), std::nullopt},
          output_padding));
    });

}  // namespace
}  // namespace python
}  // namespace onednn
}  // namespace mxnet
