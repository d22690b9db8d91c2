/*!
 * \file functions.cc
 * \brief Functions that measure and test the boundary itself.
 */
#include <mxnet/runtime/registry.h>

#include <cstring>

namespace testing {
namespace {

using namespace mxnet::runtime;  // NOLINT(build/namespaces): tests of all of it

MXNET_REGISTER_API("testing.nop")
    .describe("Does nothing with any arguments.")
    .add_variadic("args", "Any", "Ignored.")
    .returns("None")
    .set_body([](MXNetArgs, MXNetRetValue*) {});

MXNET_REGISTER_API("testing.keywords")
    .describe("Takes arguments by position or keyword and returns them as a tuple.")
    .add_argument("a", "int", "Required.")
    .add_argument("b", "int", 2, "Optional.")
    .add_argument("c", "int", 3, "Optional.")
    .add_argument("d", "Any", nullptr, "Optional.")
    .returns("tuple[Any, ...]")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      std::vector<Any> items;
      for (int i = 0; i < args.size(); ++i) items.push_back(args[i].As<Any>());
      *ret = Tuple(std::move(items));
    });

MXNET_REGISTER_API("testing.keywords_nop")
    .describe("Takes arguments by position or keyword and does nothing.")
    .add_argument("a", "int", "Required.")
    .add_argument("b", "int", 2, "Optional.")
    .add_argument("c", "int", 3, "Optional.")
    .add_argument("d", "Any", nullptr, "Optional.")
    .returns("None")
    .set_body([](MXNetArgs, MXNetRetValue*) {});

MXNET_REGISTER_API("testing.throw_error")
    .describe("Throws a C++ exception.")
    .add_argument("kind", "str", "Name of the exception class.")
    .add_argument("message", "str", "Its text.")
    .set_body([](MXNetArgs args, MXNetRetValue*) {
      const auto kind = args[0].As<std::string>();
      MXNET_THROW(kind.c_str()) << args[1].As<std::string_view>();
    });

MXNET_REGISTER_API("testing.return_error")
    .describe("Fails by error code, without a C++ exception.")
    .add_argument("kind", "str", "Name of the exception class.")
    .add_argument("message", "str", "Its text.")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      *ret = Error(args[0].As<std::string>(), args[1].As<std::string>());
    });

MXNET_REGISTER_API("testing.same_object")
    .describe("Whether two arguments are the same object for C++.")
    .add_argument("a", "Any", "An object.")
    .add_argument("b", "Any", "Another.")
    .returns("bool")
    .set_body_typed([](ObjectRef a, ObjectRef b) { return a.same_as(b); });

MXNET_REGISTER_API("testing.register_function")
    .describe("Registers a function from C++.")
    .add_argument("name", "str", "The name that it gets.")
    .add_argument("func", "Callable[..., Any]", "What is registered.")
    .set_body_typed([](String name, PackedFunc func) {
      MXNET_CHECK_CALL(MXNetFuncRegisterGlobal(name.data(), func.get(), 0));
    });

MXNET_REGISTER_API("testing.dtype")
    .describe("Returns the element type it was given.")
    .add_argument("dtype", "DTypeLike", "Anything that names an element type.")
    .returns("dtype")
    .set_body_typed([](DLDataType dtype) { return dtype; });

MXNET_REGISTER_API("testing.fill_bytes")
    .describe("Sets every byte of a contiguous array.")
    .add_argument("array", "ndarray", "What is written.")
    .add_argument("byte", "int", "Its new content, 0 to 255.")
    .returns("None")
    .set_body_typed([](DLTensor* array, uint8_t byte) {
      if (!IsContiguous(*array)) MXNET_THROW("ValueError") << "the array is not contiguous";
      int64_t bytes = ItemSize(array->dtype);
      for (int i = 0; i < array->ndim; ++i) bytes *= array->shape[i];
      if (bytes > 0) std::memset(TensorData(*array), byte, static_cast<size_t>(bytes));
    });

MXNET_REGISTER_API("testing.join")
    .describe("Joins texts, which are read where they lie.")
    .add_argument("texts", "list[str]", "What is joined.")
    .returns("str")
    .set_body_typed([](std::vector<std::string_view> texts) {
      std::string joined;
      for (std::string_view text : texts) joined += text;
      return joined;
    });

MXNET_REGISTER_API("testing.type_code")
    .describe("Returns the name of the kind of value that reached C++.")
    .add_argument("value", "Any", "The value.")
    .returns("str")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) { *ret = args[0].type_name(); });

}  // namespace
}  // namespace testing
