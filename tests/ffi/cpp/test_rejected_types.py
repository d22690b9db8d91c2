"""What the compiler, or the registration, says of C++ types that are not converted."""

import os
import re
import shlex
import subprocess

import pytest

import ffi
from tests.native import INCLUDE, compile_library

# By the body, part of the advice that its compilation ends with.
REJECTED = {
    "void f(std::map<int, int>) {}": "mxnet/runtime/stl.h",
    "void f(const std::tuple<int, int>&) {}": "mxnet/runtime/stl.h",
    "void f(std::function<int(int)>) {}": "mxnet/runtime/stl.h",
    "std::pair<int, int> f() { return {}; }": "mxnet/runtime/stl.h",
    "void f(std::vector<std::array<int, 2>>) {}": "mxnet/runtime/stl.h",
    "void f(std::shared_ptr<int>) {}": "take a Ref<T>",
    "void f(std::filesystem::path) {}": "a std::string",
    "void f(DLTensor) {}": "a DLTensor by value: take a const DLTensor*",
    "const DLTensor* f(const DLTensor* x) { return x; }": "return an NDArray",
    "void f(PackedFunc g, const DLTensor* x) { g(x); }": "take it as an NDArray",
    "void f(NDArray&) {}": "take it by value or as const T&",
    "void f(std::string&) {}": "take it by value or as const T&",
    "void f(Plain*) {}": "of a class T take T&, const T& or Ref<T>",
    "void f(std::vector<Plain>) {}": "take Ref<T>, std::vector<Ref<T>>",
    "int* f() { return nullptr; }": "of a class T pass a T or a Ref<T>",
}
HEAD = """
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <mxnet/runtime/class.h>
using namespace mxnet::runtime;
struct Plain {};
"""


@pytest.fixture(scope="module")
def messages(tmp_path_factory):
    """What the compiler says of all of them at once, by the namespace of each."""
    source = tmp_path_factory.mktemp("rejected") / "rejected.cc"
    bodies = [
        f'namespace case{number} {{ {body} MXNET_REGISTER_API("f").set_body_typed(f); }}\n'
        for number, body in enumerate(REJECTED)
    ]
    source.write_text(HEAD + "".join(bodies))
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    command = [*compiler, "-std=c++17", "-fsyntax-only", f"-I{INCLUDE}", str(source)]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}
    )
    assert done.returncode != 0
    return done.stderr


@pytest.mark.parametrize("body", REJECTED)
def test_the_compiler_gives_advice(messages, body):
    assert re.search(f"static assertion failed.*{re.escape(REJECTED[body])}", messages), messages


UNREGISTERED = """
#include <mxnet/runtime/class.h>
#include <mxnet/runtime/enum.h>
namespace plain {
struct Thing {};
enum class Kind {};
}  // namespace plain
MXNET_REGISTER_API("unregistered.takes").set_body_typed([](const plain::Thing&) {});
MXNET_REGISTER_API("unregistered.gives").set_body_typed([] { return plain::Thing(); });
MXNET_REGISTER_API("unregistered.kind").set_body_typed([](plain::Kind) {});
"""


def test_an_unregistered_class_is_an_error_of_the_registration(tmp_path):
    library = compile_library(tmp_path, "unregistered", UNREGISTERED, "-O0", suffix=".cc")
    with pytest.raises(ImportError) as caught:
        ffi.load_library(library)
    text = str(caught.value)
    assert text.count("the C++ class plain::Thing is used before MXNET_REGISTER_CLASS") == 2, text
    assert "the C++ enum plain::Kind is used before MXNET_REGISTER_ENUM registers it" in text
