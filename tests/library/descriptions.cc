/*!
 * \file descriptions.cc
 * \brief Functions whose descriptions come from their C++ signatures.
 */
#include <mxnet/runtime/enum.h>
#include <mxnet/runtime/overload.h>
#include <mxnet/runtime/stl.h>

#include "numbers.h"

namespace testing {
namespace {

using namespace mxnet::runtime;  // NOLINT(build/namespaces): tests of all of it

MXNET_REGISTER_API("testing.typed")
    .describe("Has a parameter of each kind whose type its C++ signature tells.")
    .arg("shape", "Extents.")
    .arg("names", "Names by number.")
    .arg("scale", 1.0, "Factor.")
    .arg("mode", "fast", "How.")
    .arg("dtype", "Element type.")
    .set_body_typed([](Shape shape, Map<int64_t, std::string> names, double scale,
                       std::string_view mode, std::optional<DLDataType> dtype) {
      return Tuple(std::vector<Any>{details::ToAny(shape), details::ToAny(names.size()),
                                    details::ToAny(scale), details::ToAny(mode),
                                    details::ToAny(dtype.has_value())});
    });

MXNET_REGISTER_API("testing.total")
    .describe("Adds numbers up.")
    .arg("first", "Where the sum starts.")
    .arg("others", "What is added.")
    .set_body_typed([](int64_t first, Variadic<int64_t> others) {
      for (int64_t other : others) first = CheckedSum(first, other);
      return first;
    });

enum class Mode { kFast = 1, kExact = 2, kSlow = -3 };
enum Color : uint8_t { kRed, kGreen };

MXNET_REGISTER_ENUM(Mode, "testing.Mode")
    .describe("How a result is rounded.")
    .value("FAST", Mode::kFast, "To the next number below.")
    .value("EXACT", Mode::kExact, "To the nearest number.")
    .value("SLOW", Mode::kSlow);

MXNET_REGISTER_ENUM(Color, "testing.Color").value("RED", kRed).value("GREEN", kGreen);

MXNET_REGISTER_API("testing.mode")
    .describe("Returns the member it is given.")
    .arg("mode", Mode::kExact, "Member, name or value.")
    .set_body_typed([](Mode mode) { return mode; });

MXNET_REGISTER_API("testing.modes")
    .describe("Returns the members it is given.")
    .arg("modes", "Members, names or values.")
    .set_body_typed([](std::vector<Mode> modes) { return modes; });

MXNET_REGISTER_API("testing.keyword_only")
    .describe("Has parameters that are taken by name only.")
    .arg("a", "By position or by name.")
    .keyword_only()
    .arg("scale", 2, "By name.")
    .arg("offset", "By name.")
    .arg("rest", "By position.")
    .set_body_typed([](int64_t a, int64_t scale, std::optional<int64_t> offset,
                       Variadic<int64_t> rest) {
      std::vector<Any> items{details::ToAny(a), details::ToAny(scale), details::ToAny(offset)};
      for (int64_t item : rest) items.push_back(details::ToAny(item));
      return Tuple(std::move(items));
    });

MXNET_REGISTER_API("testing.roles")
    .describe("Returns what its arguments are, of which one is described as an array.")
    .add_argument("array", ParamType{"Any", kMXNetRoleArray}, "What is an array by its role.")
    .add_argument("text", "Literal['ArrayLike']", "What is none, for all that its type says.")
    .returns("tuple[str, ...]")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      *ret = Tuple({details::ToAny(std::string(args[0].type_name())),
                    details::ToAny(std::string(args[1].type_name()))});
    });

MXNET_REGISTER_API("testing.arrays")
    .describe("Returns the types of arrays that it is given one by one.")
    .arg("first", "An array.")
    .arg("second", "An array or None.")
    .arg("third", "An array or text.")
    .arg("others", "Arrays.")
    .set_body_typed([](const DLTensor* first, std::optional<NDArray> second,
                       const std::variant<std::string, NDArray>& third, Variadic<NDArray> others) {
      std::vector<Any> names{details::ToAny(DataTypeName(first->dtype))};
      const auto add = [&](const NDArray& array) {
        names.push_back(details::ToAny(DataTypeName(array.dtype())));
      };
      if (second) add(*second);
      if (const auto* array = std::get_if<NDArray>(&third)) add(*array);
      for (const NDArray& array : others) add(array);
      return Tuple(std::move(names));
    });

MXNET_REGISTER_API("testing.sequence")
    .describe("Returns how many arrays a sequence has.")
    .arg("arrays", "The arrays.")
    .set_body_typed([](const std::vector<NDArray>& arrays) { return arrays.size(); });

MXNET_REGISTER_API("testing.overloaded")
    .describe("Returns the text of which overload was called, and with what.")
    .arg("a", "A number.")
    .arg("b", 1, "Another.")
    .overload([](int64_t a, int64_t b) { return "int " + std::to_string(CheckedSum(a, b)); },
              "Adds integers.")
    .arg("x", "A number.")
    .overload([](double x) { return "float " + std::to_string(CheckedInt(x)); },
              "Truncates a number.")
    .arg("text", "Some text.")
    .arg("sep", ", ", "What comes between.")
    .arg("others", "More text.")
    .overload(
        [](std::string text, std::string sep, Variadic<std::string> others) {
          for (const std::string& other : others) text += sep + other;
          return "str " + text;
        },
        "Joins text.")
    .arg("values", "Numbers.")
    .overload([](std::vector<double> values) { return "floats " + std::to_string(values.size()); })
    .arg("mode", "A mode.")
    .arg("flag", "A switch.")
    .overload([](Mode, std::optional<bool> flag) {
      return "mode " + std::to_string(flag.value_or(false));
    });

}  // namespace
}  // namespace testing
