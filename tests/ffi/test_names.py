"""Names that Python cannot write, or that stand for two things, are rejected when registered."""

import keyword

import pytest

import ffi
from tests.native import compile_library

SOURCE = """
#include <mxnet/runtime/class.h>
#include <mxnet/runtime/enum.h>

using namespace mxnet::runtime;

struct Thing {
  int value = 0;
  int Get() const { return value; }
};
struct Named {};
enum class Kind { kA, kB };
enum class Other { kA };
enum class Special { kA };

MXNET_REGISTER_API("names.twice").arg("a").arg("b").arg("a").set_body_typed([](int, int, int) {});
MXNET_REGISTER_API("names.keyword").arg("class").set_body_typed([](int) {});
MXNET_REGISTER_API("names.spaced").arg("a b").set_body_typed([](int) {});
MXNET_REGISTER_API("names.empty").arg("").set_body_typed([](int) {});
MXNET_REGISTER_API("names.digit").add_argument("1st", "int", "").set_body(
    [](MXNetArgs, MXNetRetValue*) {});
MXNET_REGISTER_CLASS(Thing, "names.Thing")
    .def_readonly("value", &Thing::value)
    .def("f", [](const Thing&) { return 1; })
    .def("f", [](const Thing&, int) { return 2; });
MXNET_REGISTER_CLASS(Named, "names.Named").def_init<>().def("def", [](const Named&) { return 1; });
MXNET_REGISTER_ENUM(Kind, "names.Kind").value("A", Kind::kA).value("A", Kind::kB);
MXNET_REGISTER_ENUM(Other, "names.Other").value("None", Other::kA);
MXNET_REGISTER_ENUM(Special, "names.Special").value("mro", Special::kA);
"""
REJECTIONS = [
    "names.twice: two parameters have the name 'a'",
    "names.keyword: a parameter has the name 'class', which is a keyword of Python",
    "names.spaced: a parameter has the name 'a b', which is no identifier",
    "names.empty: a parameter has the name '', which is no identifier",
    "names.digit: a parameter has the name '1st', which is no identifier",
    "names.Thing: 'f' is defined twice; a method, __init__ too, has no overloads",
    "names.Named: a field or method has the name 'def', which is a keyword of Python",
    "names.Kind: two members have the name 'A'",
    "names.Other: a member has the name 'None', which is a keyword of Python",
    "names.Special: a member cannot be called 'mro': Python's enums have that name for something "
    "else",
]


@pytest.fixture(scope="module")
def error(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    library = compile_library(folder, "names", SOURCE, "-O0", suffix=".cc")
    with pytest.raises(ImportError) as caught:
        ffi.load_library(library)
    return str(caught.value)


@pytest.mark.parametrize("rejection", REJECTIONS)
def test_rejected(error, rejection):
    assert f"ValueError: {rejection}" in error.splitlines()[1:][REJECTIONS.index(rejection)]


TWICE = """
#include <mxnet/runtime/class.h>
struct Twice { Twice(int) {} Twice(int, int) {} };
MXNET_REGISTER_CLASS(Twice, "twice.Twice").def_init<int>().def_init<int, int>();
"""


def test_a_second_constructor(tmp_path):
    library = compile_library(tmp_path, "twice", TWICE, "-O0", suffix=".cc")
    with pytest.raises(ImportError, match="twice.Twice: '__init__' is defined twice"):
        ffi.load_library(library)


SET_INFO = """
#include <mxnet/runtime/registry.h>
static const char* all[] = {KEYWORDS};
MXNET_REGISTER_API("keywords.accepted").set_body_typed([]() {
  int accepted = 0;
  for (const char* name : all) {
    MXNetParamInfo param{name, "int", "", kMXNetParamRequired, 0, {}};
    accepted += MXNetFuncCompleteParams("f", &param, 1, nullptr, 0) == 0;
  }
  return accepted;
});
"""


@pytest.mark.parametrize(("names", "accepted"), [(keyword.kwlist, 0), (keyword.softkwlist, None)])
def test_all_keywords_of_python_are_known(tmp_path, names, accepted):
    texts = ", ".join(f'"{name}"' for name in names)
    name = f"keywords{len(names)}"
    source = SET_INFO.replace("KEYWORDS", texts).replace("keywords.", f"{name}.")
    library = ffi.load_library(compile_library(tmp_path, name, source, "-O0", suffix=".cc"))
    # Words that are keywords in some contexts only are fine.
    assert library.accepted() == (len(names) if accepted is None else accepted)
