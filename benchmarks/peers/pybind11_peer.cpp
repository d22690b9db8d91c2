// The measured functions as pybind11 offers them: typed parameters, py::handle, and py::args.
#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace py = pybind11;
using py::literals::operator""_a;

PYBIND11_MODULE(pybind11_peer, m) {
  m.def("variadic", [](const py::args&) {});
  m.def("typed0", []() {});
  m.def("typed3", [](int64_t, int64_t, int64_t) {});
  m.def("typed_str", [](const char*) {});
  m.def("typed_shape", [](const std::vector<int64_t>&) {});
  m.def("typed_zeros", [](const std::vector<int64_t>&, const char*, const char*) {});
  m.def("handle1", [](py::handle) {});
  m.def("handle3", [](py::handle, py::handle, py::handle) {});
  m.def(
      "keywords", [](int64_t, int64_t, int64_t, py::handle) {}, "a"_a, "b"_a = 2, "c"_a = 3,
      "d"_a = py::none());
  m.def("array", [](const py::array& array) { return array.ndim(); });
  m.def("array_float", [](const py::array_t<float>& array) { return array.ndim(); });
  m.def("buffer", [](const py::buffer& buffer) { return buffer.request().ndim; });
  m.def("echo", [](const char* text) { return text; });
  m.def("apply_callable", [](const py::function& callback) { callback(); });
  m.def("apply_function", [](const std::function<void()>& callback) { callback(); });
  m.def("throw_error", [](const char* message) { throw py::value_error(message); });
  m.def("return_error", [](const char* message) {
    PyErr_SetString(PyExc_ValueError, message);
    throw py::error_already_set();
  });
}
