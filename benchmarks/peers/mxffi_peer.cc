// Functions of a library outside the package. The untyped ones have the bodies that the functions
// of the same names have in the tests' library ("testing.nop", ...), to compare them with those.
#include <mxnet/runtime/registry.h>

#include <cmath>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#endif

namespace {

using namespace mxnet::runtime;  // NOLINT: as an op author would

MXNET_REGISTER_API("benchmarks.nop")
    .describe("Does nothing with any arguments.")
    .add_variadic("args", "Any", "Ignored.")
    .returns("None")
    .set_body([](MXNetArgs, MXNetRetValue*) {});

MXNET_REGISTER_API("benchmarks.echo")
    .describe("Returns its first argument.")
    .add_argument("value", "Any", "What comes back.")
    .add_variadic("args", "Any", "Ignored.")
    .returns("Any")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) { *ret = args[0]; });

MXNET_REGISTER_API("benchmarks.keywords_nop")
    .describe("Takes arguments by position or keyword and does nothing.")
    .add_argument("a", "int", "Required.")
    .add_argument("b", "int", 2, "Optional.")
    .add_argument("c", "int", 3, "Optional.")
    .add_argument("d", "Any", nullptr, "Optional.")
    .returns("None")
    .set_body([](MXNetArgs, MXNetRetValue*) {});

MXNET_REGISTER_API("benchmarks.typed_zeros")
    .describe("Converts the arguments of zeros and does nothing.")
    .add_argument("shape", "int | tuple[int, ...]", "Extents.")
    .add_argument("dtype", "DTypeLike", "Element type.")
    .add_argument("ctx", "Context | str", "Where.")
    .set_body_typed([](ShapeView, DLDataType, Context) {});

MXNET_REGISTER_API("benchmarks.work")
    .describe("Computes for a while, in registers and with the GIL released.")
    .arg("steps", "How long.")
    .set_body_typed([](int64_t steps) {
      double x = 1;
      for (int64_t i = 0; i < steps; ++i) x = std::sqrt(x + 1);
      return x;
    })
    .release_gil();

#ifdef CALLGRIND_DUMP_STATS
MXNET_REGISTER_API("benchmarks.mark")
    .describe("Has callgrind write down what it has counted since the last mark.")
    .set_body_typed([] { CALLGRIND_DUMP_STATS; });
#endif

}  // namespace
