/*!
 * \file operators.cc
 * \brief Operators that no other does as, and calls of operators as C makes them.
 */
#include <mxnet/op/operator.h>

namespace testing {
namespace {

using namespace mxnet::runtime;  // NOLINT(build/namespaces): tests of all of it
using namespace mxnet::op;       // NOLINT(build/namespaces): the same

void InferSame(const InferCall& call, const NoAttributes&) {
  SetSpec(call.in[0].dtype, ShapeOf(call.in[0]), call.out);
}

/*! \brief Writes the first element, and leaves the others as they are placed. */
void RunFirst(const RunCall& call, const NoAttributes&) {
  *static_cast<uint8_t*>(call.out[0].data) = 7;
}

MXNetViewKind NoView(const ViewCall&, const NoAttributes&) { return kMXNetViewNone; }

MXNET_REGISTER_OPERATOR("testing.zeroed_view", NoAttributes)
    .describe("A copy of which only the first element is written, and which is placed as zeros.")
    .version(2)
    .input("a", "An array of int8.")
    .properties(kMXNetOpZeroed)
    .infer(&InferSame)
    .view(&NoView)
    .run(&RunFirst);

void PromoteNothing(MXNetTensorSpec*, int, const NoAttributes&) {}

MXNET_REGISTER_API("testing.register_promote")
    .describe("Registers an operator with a rule of its own, and names another.")
    .add_argument("name", "str", "Its name.")
    .set_body_typed([](const std::string& name) {
      OperatorRegistry<NoAttributes>(name, __FILE__, __LINE__)
          .input("a", "An array.")
          .types(&PromoteNothing)
          .types(kMXNetTypesCommon)
          .infer(&InferSame)
          .run(&RunFirst)
          .Commit();
    });

MXNET_REGISTER_API("testing.call_operator")
    .describe("Calls an operator by MXNetOperatorCall, and asks it by MXNetOperatorInfer.")
    .add_argument("func", "ffi.Function", "The operator.")
    .add_argument("argument", "Any", "Its only argument.")
    .returns("tuple[Any, ...]")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const auto func = args[0].As<PackedFunc>();
      MXNetValue value{};
      int type_code = kMXNetNull;
      const int called = MXNetOperatorCall(func.get(), args.values + 1, args.type_codes + 1, 1,
                                           &value, &type_code);
      std::string message;
      if (called != 0) {
        const MXNetByteArray& text = MXNetGetLastError()->message;
        message = std::string(text.data, text.size);
      }
      int count = 0;
      const int inferred =
          MXNetOperatorInfer(func.get(), args.values + 1, args.type_codes + 1, 1, nullptr, &count);
      *ret = Tuple(std::vector<Any>{mxnet::runtime::details::ToAny(called),
                                    mxnet::runtime::details::ToAny(message),
                                    mxnet::runtime::details::ToAny(inferred)});
    });

}  // namespace
}  // namespace testing
