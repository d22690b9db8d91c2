#include "onednn/functions/classes.h"

namespace mxnet {
namespace onednn {
namespace python {
namespace {

MXNET_REGISTER_API("mx.onednn.recurrent")
    .describe("A recurrent layer over all of a sequence: its results, the last h, and of lstm c.")
    .arg("x", "Of the shape (length, batch, inputs).")
    .arg("weight",
         "(directions, gates * hidden, inputs); gates are in ONNX's order: of lstm iofc, "
         "of both kinds of gru zrh. A constant.")
    .arg("recurrent", "(directions, gates * hidden, hidden). A constant.")
    .arg("bias", nullptr, "(directions, 2 * gates * hidden): of x, then of h. A constant.")
    .arg("initial_h", nullptr, "(directions, batch, hidden); 0 where None.")
    .arg("initial_c", nullptr, "The same of lstm's c.")
    .arg("peephole", nullptr, "(directions, 3 * hidden): of the gates i, o and f. A constant.")
    .arg("kind", "lstm", "'lstm', 'gru', 'lbr_gru' (linear before reset), 'tanh' or 'relu'.")
    .arg("direction", "forward", "'forward', 'reverse' or 'bidirectional'.")
    .name_errors()
    .release_gil()
    .set_body_typed([](Operand x, Operand weight, Operand recurrent, std::optional<Operand> bias,
                       std::optional<Operand> initial_h, std::optional<Operand> initial_c,
                       std::optional<Operand> peephole, std::string kind, std::string direction) {
      return Told(MakeRecurrent({Given(x), Given(weight), Given(recurrent), Given(bias),
                                 Given(initial_h), Given(initial_c), Given(peephole),
                                 std::move(kind), std::move(direction)}));
    });

}  // namespace
}  // namespace python
}  // namespace onednn
}  // namespace mxnet
