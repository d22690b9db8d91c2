#include "onednn/functions/classes.h"

namespace mxnet {
namespace onednn {
namespace python {
namespace {

MXNET_REGISTER_API("mx.onednn.batch_normalization")
    .describe("(x - mean) / sqrt(variance + epsilon) * scale + shift, by channel; in x's layout.")
    .arg("x", "Of the shape (n, channels, ...).")
    .arg("scale", "(channels).")
    .arg("shift", "(channels).")
    .arg("mean", "(channels).")
    .arg("variance", "(channels).")
    .arg("epsilon", 1e-5)
    .arg("post_ops", nullptr, "What is done to the result.")
    .name_errors()
    .release_gil()
    .set_body_typed([](const Operand& x, const Operand& scale, const Operand& shift,
                       const Operand& mean, const Operand& variance, double epsilon,
                       const PostOps& post_ops) {
      return Told(MakeBatchNormalization(Given(x), Given(scale), Given(shift), Given(mean),
                                         Given(variance), epsilon, Given(post_ops)));
    });

MXNET_REGISTER_API("mx.onednn.layer_normalization")
    .describe("(x - mean) / sqrt(variance + epsilon) * scale + shift, over the axes from one on.")
    .arg("x", "Of any shape.")
    .arg("scale", nullptr, "With the axes that are normalized; 1 where None.")
    .arg("shift", nullptr, "With the axes that are normalized; 0 where None.")
    .arg("axis", -1, "The first of the axes that are normalized.")
    .arg("epsilon", 1e-5)
    .arg("post_ops", nullptr, "What is done to the result.")
    .name_errors()
    .release_gil()
    .set_body_typed([](const Operand& x, const std::optional<Operand>& scale,
                       const std::optional<Operand>& shift, int64_t axis, double epsilon,
                       const PostOps& post_ops) {
      return Told(MakeLayerNormalization(Given(x), Given(scale), Given(shift), axis, epsilon,
                                         Given(post_ops)));
    });

MXNET_REGISTER_API("mx.onednn.softmax")
    .describe("exp(x) / sum(exp(x)) along an axis, or its logarithm; in x's layout.")
    .arg("x", "Of any shape.")
    .arg("axis", -1, "Along which results add up to 1.")
    .arg("is_log", false, "Whether the logarithm is taken.")
    .arg("post_ops", nullptr, "What is done to the result.")
    .name_errors()
    .release_gil()
    .set_body_typed([](const Operand& x, int64_t axis, bool is_log, const PostOps& post_ops) {
      return Told(MakeSoftmax(Given(x), axis, is_log, Given(post_ops)));
    });

MXNET_REGISTER_API("mx.onednn.lrn")
    .describe("x / (k + alpha / size * sum of squares of neighbouring channels) ** beta.")
    .arg("x", "Of the shape (n, channels, ...).")
    .arg("size", "How many channels are added up.")
    .arg("alpha", 1e-4)
    .arg("beta", 0.75)
    .arg("k", 1.0)
    .name_errors()
    .release_gil()
    .set_body_typed([](const Operand& x, int64_t size, double alpha, double beta, double k) {
      return Told(MakeLrn(Given(x), size, alpha, beta, k));
    });

}  // namespace
}  // namespace python
}  // namespace onednn
}  // namespace mxnet
