#include "onednn/functions/classes.h"

namespace mxnet {
namespace onednn {
namespace python {
namespace {

MXNET_REGISTER_API("mx.onednn.pooling")
    .describe("The largest element or the mean of windows, in the layout that x comes in.")
    .arg("x", "Of the shape (n, channels, ...).")
    .arg("kind", "'max' or 'avg'.")
    .arg("kernel", nullptr, "Extents of the window; all of x where None.")
    .arg("strides", nullptr, "By axis; 1 where None.")
    .arg("pads", nullptr, "What surrounds x: the beginnings of all axes, then the ends.")
    .arg("dilations", nullptr, "By axis; 1 where None.")
    .arg("ceil_mode", false, "Whether the last window may lie partly outside.")
    .arg("count_include_pad", false, "Whether means count the padding.")
    .arg("post_ops", nullptr, "What is done to the result.")
    .name_errors()
    .release_gil()
    .set_body_typed([](const Operand& x, std::string kind, GivenInts kernel, GivenInts strides,
                       GivenInts pads, GivenInts dilations, bool ceil_mode, bool count_include_pad,
                       const PostOps& post_ops) {
      return Told(MakePooling(Given(x),
                              {std::move(kind), std::move(kernel), std::move(strides),
                               std::move(pads), std::move(dilations), ceil_mode, count_include_pad},
                              Given(post_ops)));
    });

}  // namespace
}  // namespace python
}  // namespace onednn
}  // namespace mxnet
