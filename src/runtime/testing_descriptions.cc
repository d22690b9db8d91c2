/*!
 * \file testing_descriptions.cc
 * \brief Functions whose descriptions come from their C++ signatures; always registered.
 */
#include <mxnet/runtime/registry.h>

namespace mxnet {
namespace runtime {
namespace {

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
      for (int64_t other : others) first += other;
      return first;
    });

}  // namespace
}  // namespace runtime
}  // namespace mxnet
