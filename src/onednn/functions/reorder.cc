#include "onednn/functions/classes.h"

namespace mxnet {
namespace onednn {
namespace python {
namespace {

MXNET_REGISTER_API("mx.onednn.reorder")
    .describe("Brings data to another layout, or to another element type.")
    .arg("x", "In the layout that it is offered in.")
    .arg("to", nullptr, "The layout that is wanted; row-major where None.")
    .arg("dtype", nullptr, "The element type where to is None; that of x where both are.")
    .name_errors()
    .release_gil()
    .set_body_typed([](const Operand& x, const MaybeLayout& to,
                       const std::optional<DLDataType>& dtype) {
      return Told(MakeReorder(Given(x), Given(to), dtype));
    });

MXNET_REGISTER_API("mx.onednn.has_bfloat16")
    .describe("Whether the processor multiplies bfloat16 numbers, and oneDNN has it do so.")
    .set_body_typed([]() {
      const auto wanted = static_cast<int>(dnnl::cpu_isa::avx512_core_bf16);
      return (static_cast<int>(dnnl::get_effective_cpu_isa()) & wanted) == wanted;
    });

}  // namespace
}  // namespace python
}  // namespace onednn
}  // namespace mxnet
