#include "onednn/functions/classes.h"

namespace mxnet {
namespace onednn {
namespace python {
namespace {

MXNET_REGISTER_API("mx.onednn.matmul")
    .describe("alpha * (a @ b) + bias, for all matrices of the first axes, which broadcast.")
    .arg("a", "Of the shape (..., m, k).")
    .arg("b", "Of the shape (..., k, n); packed where it is a constant.")
    .arg("bias", nullptr, "(n).")
    .arg("transpose_a", false, "Whether a has the shape (..., k, m).")
    .arg("transpose_b", false, "Whether b has the shape (..., n, k).")
    .arg("alpha", 1.0, "What the product is multiplied by.")
    .arg("post_ops", nullptr, "What is done to the result.")
    .arg("pack_b", false, "Whether b, which is no constant, has to come in the layout liked best.")
    .arg("dtype", nullptr, "Of the result; that of a, or b where a is a constant, by default.")
    .name_errors()
    .release_gil()
    .set_body_typed([](const Operand& a, const Operand& b, const std::optional<Operand>& bias,
                       bool transpose_a, bool transpose_b, double alpha, const PostOps& post_ops,
                       bool pack_b, const std::optional<DLDataType>& dtype) {
      return Told(MakeMatMul(Given(a), Given(b), Given(bias), transpose_a, transpose_b, alpha,
                             Given(post_ops), pack_b, dtype));
    });

MXNET_REGISTER_API("mx.onednn.inner_product")
    .describe("x @ weight.T + bias, where x is seen as a matrix; it may come in blocks.")
    .arg("x", "Of the shape (n, ...), with k elements behind the first axis.")
    .arg("weight", "Of the shape (m, k); packed where it is a constant.")
    .arg("bias", nullptr, "(m).")
    .arg("post_ops", nullptr, "What is done to the result.")
    .name_errors()
    .release_gil()
    .set_body_typed([](const Operand& x, const Operand& weight, const std::optional<Operand>& bias,
                       const PostOps& post_ops) {
      return Told(MakeInnerProduct(Given(x), Given(weight), Given(bias), Given(post_ops)));
    });

}  // namespace
}  // namespace python
}  // namespace onednn
}  // namespace mxnet
