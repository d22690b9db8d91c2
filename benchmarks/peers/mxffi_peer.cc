// A typed function in this project; the untyped ones are always registered ("testing.nop", ...).
#include <mxnet/runtime/registry.h>

namespace {

using mxnet::runtime::Context;
using mxnet::runtime::ShapeView;

MXNET_REGISTER_API("benchmarks.typed_zeros")
    .describe("Converts the arguments of zeros and does nothing.")
    .add_argument("shape", "int | tuple[int, ...]", "Extents.")
    .add_argument("dtype", "DTypeLike", "Element type.")
    .add_argument("ctx", "Context | str", "Where.")
    .set_body_typed([](ShapeView, DLDataType, Context) {});

}  // namespace
