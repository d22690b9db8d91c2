#include "onednn/functions/classes.h"

namespace mxnet {
namespace onednn {
namespace python {
namespace {

MXNET_REGISTER_API("mx.onednn.eltwise")
    .describe("A function of each element, in the layout that x comes in.")
    .arg("x", "Of any shape.")
    .arg("kind", "'relu', 'clip', 'gelu_erf', ...")
    .arg("alpha", nullptr, "The first number of the kind; its usual value where None.")
    .arg("beta", nullptr, "The second number of the kind.")
    .arg("post_ops", nullptr, "What is done to the result.")
    .name_errors()
    .release_gil()
    .set_body_typed([](const Operand& x, const std::string& kind, std::optional<double> alpha,
                       std::optional<double> beta, const PostOps& post_ops) {
      return Told(MakeEltwise(Given(x), kind, alpha, beta, Given(post_ops)));
    });

MXNET_REGISTER_API("mx.onednn.binary")
    .describe("A function of two elements; shapes broadcast as in NumPy.")
    .arg("a", "Of any shape.")
    .arg("b", "Of any shape that goes with a's.")
    .arg("kind", "'add', 'sub', 'mul', 'div', 'max', 'min', 'greater', ...; comparisons give bool.")
    .arg("post_ops", nullptr, "What is done to the result.")
    .name_errors()
    .release_gil()
    .set_body_typed([](const Operand& a, const Operand& b, const std::string& kind,
                       const PostOps& post_ops) {
      return Told(MakeBinary(Given(a), Given(b), kind, Given(post_ops)));
    });

}  // namespace
}  // namespace python
}  // namespace onednn
}  // namespace mxnet
