"""ffi.cpp: what it compiles, and what it says where it cannot."""

import inspect
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ffi.cpp import BuildError, build, load_inline
from ffi.cpp._exports import find

from .inline import flags

pytestmark = pytest.mark.usefixtures("cache")

# One source for what the functions of a text may look like: each compilation takes a second.
MANY = """
#include <optional>
#include <string>
#include <vector>

int add(int a, int b);  // declared first: add(1, 2) is used below
static const int three = add(1, 2);
int add(int a, int b) { return a + b; }

double scaled(double value, double factor = 2.5, bool negative = false) {
  return negative ? -value * factor : value * factor;
}

std::string text(const std::string& head, const std::string& tail = ", \\"(quoted)\\"") noexcept {
  return head + tail;
}

namespace inner {
int sum(std::vector<int> numbers, std::optional<int> from = std::nullopt) {
  int total = from.value_or(0);
  for (int number : numbers) total += number;
  return total;
}
}  // namespace inner

int unnamed(int, int b) { return b; }
int keyword(int lambda) { return lambda; }
int fails(int x) { MXNET_THROW("KeyError") << "no " << x; }
MXNET_REGISTER_API("many.own").set_body_typed([] { return three; });
"""
DOCS = {"add": 'Adds.\n\nWithout "overflow"?\\', "scaled": "", "text": "", "inner::sum": ""}


@pytest.fixture(scope="session")
def many(cache):
    names = dict(DOCS, unnamed="", keyword="", fails="")
    return load_inline("many", MANY, names)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda m: m.add(1, 2), 3),
        (lambda m: m.add(b=1, a=2), 3),
        (lambda m: m.scaled(2), 5.0),
        (lambda m: m.scaled(2, negative=True), -5.0),
        (lambda m: m.text("a"), 'a, "(quoted)"'),
        (lambda m: m.text("a", tail="b"), "ab"),
        (lambda m: m.sum([1, 2, 3]), 6),
        (lambda m: m.sum([1, 2, 3], 4), 10),
        (lambda m: m.unnamed(1, 2), 2),
        (lambda m: m.keyword(lambda_=1), 1),
        (lambda m: m.own(), 3),
        (lambda m: m.add.__doc__.splitlines()[:3], ["Adds.", "", 'Without "overflow"?\\']),
        (lambda m: m["many.sum"].info.params[1].optional, True),
        (lambda m: list(inspect.signature(m.scaled).parameters), ["value", "factor", "negative"]),
    ],
)
def test_functions(many, call, expected):
    assert call(many) == expected
    assert many.__name__ == "many"


def test_an_error_names_the_source_of_the_function(many):
    with pytest.raises(KeyError, match="no 7") as caught:
        many.fails(7)
    last = caught.traceback[-1]
    assert Path(last.path).name == "many.cc"
    assert "MXNET_THROW" in Path(last.path).read_text().splitlines()[last.lineno]


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        ("int f(int a, int b)", "a b"),
        ("int f(void)", ""),
        ("int\nf ( int a )", "a"),
        ("std::vector<int> f(std::map<int, int> a, int (&b)[3])", None),
        ("int* f(const char* a, unsigned long b)", "a b"),
        ("auto f(int a) -> int", "a"),
        ("int f(int a, /* not, int c */ int b = 3)", "a b=3"),
        ("int f(char a = ',', const char* b = \")\")", 'a b=")"'),
        ("int f(double a = -1.5e3, bool b = true, int c = g(1, 2))", "a=-1.5e3 b=true c"),
        ("int f(std::optional<int> a = std::nullopt)", "a=nullptr"),
        ("int f(int)", None),
        ("int f(unsigned int)", None),
        ("int f(const Foo)", None),
        ("int f(ns::Foo)", None),
        ("int f(int in)", "in_"),
        ("inline int space::f(int a)", "a"),
    ],
)
@pytest.mark.parametrize("before", ["", "// f(int x) {\n", "int g() { return f(1, 2); }\n"])
def test_parameters_read_from_the_source(declaration, expected, before):
    found = find(before + declaration + " { return 1; }", "f")
    names = None
    if found.parameters is not None:
        names = " ".join(p.name + (f"={p.default}" if p.default else "") for p in found.parameters)
    assert names == expected
    assert found.line == before.count("\n") + 1 + declaration[: declaration.index("f")].count("\n")


def test_what_is_compiled_is_loaded_with_few_imports(run_python, tmp_path):
    script = """
import sys, ffi
before = set(sys.modules)
ffi.cpp.load_inline("few", "int f() { return 1; }", "f")
print({name for name in sys.modules if name not in before and not name.startswith("ffi.")})
"""
    outputs = [run_python(script, MXFFI_CACHE_DIR=str(tmp_path)).stdout for _ in range(2)]
    assert "'re'" in outputs[0]
    assert outputs[1] in ("{'_blake2'}\n", "set()\n")


def test_several_sources(tmp_path):
    (tmp_path / "twice.h").write_text("#pragma once\nint twice(int x);\n")
    (tmp_path / "twice.cc").write_text('#include "twice.h"\nint twice(int x) { return 2 * x; }\n')
    texts = ["#include <twice.h>\nint four_times(int x) { return twice(twice(x)); }\n"]
    texts.append("int eight_times(int x) { return 2 * four_times(x); }\n")
    module = load_inline(
        "several",
        [*texts, tmp_path / "twice.cc"],
        ["four_times", "eight_times"],
        extra_include_paths=[tmp_path],
    )
    assert (module.four_times(x=1), module.eight_times(x=1)) == (4, 8)


BAD = "int bad(int a) {\n  return a +;\n}\n"
BORROWED = """
#include <mxnet/runtime/registry.h>
mxnet::runtime::TypedPackedFunc<std::optional<std::string_view>()> dangling;
"""


@pytest.mark.parametrize(
    ("name", "sources", "functions", "error", "message"),
    [
        ("bad", BAD, "bad", BuildError, r"(?s)bad.cc:2:\d+: error: .*the command was: "),
        ("view", BORROWED, None, BuildError, "TypedPackedFunc cannot be borrowed"),
        ("lost", "int lost();\nint f() { return lost(); }", "f", BuildError, "lost"),
        ("none", "int f() { return 1; }", "g", ValueError, "names 'g', which no source text has"),
        ("part", "int gg, g_g, _g, g1, ég, gg;", "g", ValueError, "names 'g', which no source"),
        ("a b", "int f();", None, ValueError, r"\('name'\) must be a name .* got 'a b'"),
        ("../up", "int f();", None, ValueError, "must be a name"),
        (3, "int f();", None, TypeError, r"\('name'\) expected str, got int"),
        ("f", "f.cc", None, ValueError, r"a file's name, not C\+\+; pass pathlib.Path\('f.cc'\)"),
        ("f", Path("none.cc"), None, FileNotFoundError, "none.cc, which is no file"),
        ("f", Path(__file__), None, ValueError, "ends in none of .c, .cc"),
        ("f", [], None, ValueError, r"\('sources'\) is empty"),
        ("f", [3], None, TypeError, r"\('sources'\) expected source text or paths, got int"),
        (
            "f",
            "int f();",
            "f()",
            ValueError,
            r"\('functions'\) has 'f\(\)', which is no function's",
        ),
        ("f", "int f();", [3], TypeError, r"\('functions'\) expected names .* got int in it"),
        ("f", "int f();", [["f"]], TypeError, r"\('functions'\) expected names .* got list in it"),
        ("f", "int f();", 3, TypeError, r"\('functions'\) expected names of functions, got int"),
        ("f", "int f();", {"f": 3}, TypeError, r"\('functions'\) expected .* got int in it"),
        ("f", None, None, TypeError, r"\('sources'\) expected source text or paths, got NoneType"),
        ("f", b"int f();", None, TypeError, r"\('sources'\) expected .* paths, got bytes"),
    ],
)
def test_rejects(name, sources, functions, error, message):
    with pytest.raises(error, match=message):
        load_inline(name, sources, functions)


def test_an_error_shows_no_frames_of_the_threads_that_compile():
    with pytest.raises(BuildError) as caught:
        build("bad", BAD, "bad")
    assert caught.value.__cause__ is None and caught.value.__suppress_context__
    assert not [frame for frame in caught.traceback if "concurrent" in str(frame.path)]


@pytest.mark.parametrize("function", [build, load_inline])
@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("extra_cflags", "-O3", "a list of flags, got str"),
        ("extra_cflags", None, "a list of flags, got NoneType"),
        ("extra_ldflags", ["-lm", 3], "a list of flags, got int as item 1"),
        ("extra_include_paths", "include", "a list of paths, got str"),
        ("extra_include_paths", Path("include"), "a list of paths, got PosixPath"),
        ("extra_include_paths", [b"include"], "a list of paths, got bytes as item 0"),
    ],
)
def test_rejects_what_is_no_list(function, name, given, message):
    with pytest.raises(TypeError) as caught:
        function("f", "int f();", **{name: given})
    assert str(caught.value) == f"{function.__name__}: argument '{name}' expected {message}"


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("CXX", "no-such-compiler -x", "the compiler 'no-such-compiler', which CXX names, is not"),
        ("PATH", "/nowhere", r"no compiler is installed, none of c\+\+, g\+\+, clang\+\+"),
        ("CXX", "false", "the compiler failed"),
    ],
)
def test_a_compiler_that_is_missing(monkeypatch, variable, value, message):
    if variable == "PATH":
        monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv(variable, value)
    with pytest.raises(BuildError, match=message):
        build("missing", "int f() { return 1; }")


def test_the_error_is_named_as_users_find_it():
    assert f"{BuildError.__module__}.{BuildError.__qualname__}" == "ffi.cpp.BuildError"


def is_running(program):
    """Whether a process has the program in its command line."""
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if program.encode() in process.read_bytes():
                return True
        except OSError:  # it has ended meanwhile
            continue
    return False


def test_what_the_compiler_leaves_running_is_not_waited_for(tmp_path, monkeypatch, c_source):
    # As the server of a cache of compilations is: with the output of the one that started it.
    path, pid = tmp_path / "leaving", tmp_path / "pid"
    path.write_text(f'#!/bin/sh\nsleep 600 &\necho $! >"{pid}"\nexec cc "$@"\n')
    path.chmod(0o755)
    monkeypatch.setenv("CC", str(path))
    build("leaving", c_source, **flags("leaving.f"))
    os.kill(int(pid.read_text()), signal.SIGKILL)


def test_an_interrupt_ends_the_compiler(slow_compiler, c_source):
    log = slow_compiler(60)
    # A job in the background, as tests may be, has the signal ignored.
    script = (
        "import pathlib, signal, ffi.cpp\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"ffi.cpp.build('interrupted', pathlib.Path({str(c_source)!r}))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(c_source)], stderr=subprocess.PIPE, text=True
    )
    while not log.exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in process.communicate(timeout=20)[1]
    assert not is_running(str(log.with_name("slow")))


def test_progress_and_warnings_are_shown(capfd):
    text = "int f(int x) { int unused; return x; }"
    build("warned", text, extra_cflags=["-Wall"], verbose=True)
    told = capfd.readouterr().err
    assert re.search(r"ffi.cpp: compiling warned with \S+", told)
    assert "unused" in told
    assert re.search(r"ffi.cpp: compiled warned in \d+\.\d s", told)
