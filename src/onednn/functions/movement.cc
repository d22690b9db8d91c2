#include "onednn/functions/classes.h"

namespace mxnet {
namespace onednn {
namespace python {
namespace {

MXNET_REGISTER_API("mx.onednn.concat")
    .describe("Arrays one behind the other along an axis, in the layouts that they come in.")
    .arg("inputs", "Of one type, and of shapes that differ along the axis only.")
    .arg("axis", "Along which they are joined.")
    .name_errors()
    .release_gil()
    .set_body_typed([](const std::vector<Operand>& inputs, int64_t axis) {
      return Told(MakeConcat(Given(inputs), axis));
    });

MXNET_REGISTER_API("mx.onednn.reduction")
    .describe("The sum, the mean, the product or an extreme over axes, whose extent becomes 1.")
    .arg("x", "Of any shape.")
    .arg("kind", "'sum', 'mean', 'max', 'min' or 'prod'.")
    .arg("axes", nullptr, "Which; all of them where None.")
    .arg("post_ops", nullptr, "What is done to the result.")
    .name_errors()
    .release_gil()
    .set_body_typed([](const Operand& x, const std::string& kind,
                       const std::optional<std::vector<int64_t>>& axes, const PostOps& post_ops) {
      return Told(MakeReduction(Given(x), kind, axes, Given(post_ops)));
    });

MXNET_REGISTER_API("mx.onednn.resampling")
    .describe(
        "Enlarges or reduces x along the spatial axes.\n\n"
        "Its elements are seen as squares: the middle of the first is half an element from the "
        "edge.")
    .arg("x", "Of the shape (n, channels, ...).")
    .arg("extents", "Of the result, along the spatial axes.")
    .arg("kind", "'nearest' or 'linear'.")
    .arg("post_ops", nullptr, "What is done to the result.")
    .name_errors()
    .release_gil()
    .set_body_typed([](const Operand& x, const std::vector<int64_t>& extents,
                       const std::string& kind, const PostOps& post_ops) {
      return Told(MakeResampling(Given(x), extents, kind, Given(post_ops)));
    });

MXNET_REGISTER_API("mx.onednn.prelu")
    .describe("x where it is positive, x * slope elsewhere; in x's layout.")
    .arg("x", "Of any shape.")
    .arg("slope", "Broadcasts to x.")
    .name_errors()
    .release_gil()
    .set_body_typed([](const Operand& x, const Operand& slope) {
      return Told(MakePrelu(Given(x), Given(slope)));
    });

MXNET_REGISTER_API("mx.onednn.shuffle")
    .describe("Sees an axis as (groups, rest), and makes it (rest, groups); in x's layout.")
    .arg("x", "Of any shape.")
    .arg("groups", "A divisor of the axis.")
    .arg("axis", 1, "Which.")
    .name_errors()
    .release_gil()
    .set_body_typed([](const Operand& x, int64_t groups, int64_t axis) {
      return Told(MakeShuffle(Given(x), groups, axis));
    });

}  // namespace
}  // namespace python
}  // namespace onednn
}  // namespace mxnet
