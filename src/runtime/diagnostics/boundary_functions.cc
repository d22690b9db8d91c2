/*!
 * \file boundary_functions.cc
 * \brief Functions that pass values and errors to C++ and back, to see what becomes of them.
 */
#include <mxnet/runtime/registry.h>

namespace mxnet {
namespace runtime {
namespace {

MXNET_REGISTER_API("ffi.echo")
    .describe("Returns its first argument.")
    .add_argument("value", "Any", "What comes back.")
    .add_variadic("args", "Any", "Ignored.")
    .returns("Any")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) { *ret = args[0]; });

MXNET_REGISTER_API("ffi.call")
    .describe("Calls a function from C++ and returns its result.")
    .add_argument("func", "Callable[..., Any]", "What is called.")
    .add_variadic("args", "Any", "Its arguments.")
    .returns("Any")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const auto func = args[0].As<FunctionView>();
      func.CallPacked(args.values + 1, args.type_codes + 1, args.size() - 1, ret);
    });

}  // namespace
}  // namespace runtime
}  // namespace mxnet
