// Functions with parameters whose rejections name what is inside; compiled by test_messages.py.
#include <mxnet/runtime/class.h>

#include <exception>
#include <optional>
#include <string>
#include <vector>

using namespace mxnet::runtime;  // NOLINT: as an op author would

namespace {

MXNET_REGISTER_API("inside.floats").arg("x").set_body_typed([](std::vector<double> x) {
  return x.size();
});
MXNET_REGISTER_API("inside.bytes").arg("x").set_body_typed([](Array<int8_t> x) {
  return x.size();
});
MXNET_REGISTER_API("inside.shape").arg("x").set_body_typed([](Shape x) { return x.size(); });
MXNET_REGISTER_API("inside.nested")
    .arg("x")
    .set_body_typed([](std::vector<std::vector<std::string>> x) { return x.size(); });
MXNET_REGISTER_API("inside.table").arg("x").set_body_typed([](Map<String, Array<int64_t>> x) {
  return x.size();
});
MXNET_REGISTER_API("inside.maybe").arg("x").set_body_typed([](std::optional<std::vector<float>> x) {
  return x ? x->size() : 0;
});
MXNET_REGISTER_API("inside.float").arg("x").set_body_typed([](float x) { return x; });
MXNET_REGISTER_API("inside.double").arg("x").set_body_typed([](double x) { return x; });
MXNET_REGISTER_API("inside.half").arg("f").set_body_typed([](PackedFunc f) {
  return TypedPackedFunc<double(double)>(f)(2) / 2;
});
MXNET_REGISTER_API("inside.values").arg("f").set_body_typed([](PackedFunc f) {
  return TypedPackedFunc<std::vector<double>()>(f)().size();
});
MXNET_REGISTER_API("inside.rest")
    .arg("first")
    .arg("rest")
    .set_body_typed([](int first, Variadic<int> rest) {
      return first + static_cast<int>(rest.size());
    });

class Silent : public std::exception {
 public:
  const char* what() const noexcept override { return nullptr; }
};
MXNET_REGISTER_API("inside.silent").set_body_typed([] { throw Silent(); });

struct Scale {
  double by;
};
MXNET_REGISTER_CLASS(Scale, "inside.Scale")
    .def_init<double>()
    .arg("by")
    .def(
        "apply", [](const Scale& self, double x, int times) { return self.by * x * times; }, "")
    .arg("x")
    .arg("times");

}  // namespace
