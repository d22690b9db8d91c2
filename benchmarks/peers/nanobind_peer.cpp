// The measured functions as nanobind offers them: typed parameters, nb::handle, and nb::args.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace nb = nanobind;
using nb::literals::operator""_a;

NB_MODULE(nanobind_peer, m) {
  m.def("variadic", [](nb::args) {});
  m.def("typed0", []() {});
  m.def("typed3", [](int64_t, int64_t, int64_t) {});
  m.def("typed_str", [](const char*) {});
  m.def("typed_shape", [](const std::vector<int64_t>&) {});
  m.def("typed_zeros", [](const std::vector<int64_t>&, const char*, const char*) {});
  m.def("handle1", [](nb::handle) {});
  m.def("handle3", [](nb::handle, nb::handle, nb::handle) {});
  m.def(
      "keywords", [](int64_t, int64_t, int64_t, nb::handle) {}, "a"_a, "b"_a = 2, "c"_a = 3,
      "d"_a = nb::none());
  m.def("array", [](nb::ndarray<> array) { return array.ndim(); });
  m.def("echo", [](const char* text) { return text; });
  m.def("apply_callable", [](nb::callable callback) { callback(); });
  m.def("apply_function", [](const std::function<void()>& callback) { callback(); });
  m.def("throw_error", [](const char* message) { throw nb::value_error(message); });
  m.def("return_error", [](const char* message) {
    PyErr_SetString(PyExc_ValueError, message);
    throw nb::python_error();
  });
}
