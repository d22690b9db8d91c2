"""ffi.cpp: what it compiles, when it does so again, and what it says where it cannot."""

import inspect
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import ffi
from ffi.cpp import BuildError, build, load_inline
from ffi.cpp._exports import find

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


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    """A cache folder of the tests' own."""
    folder = tmp_path_factory.mktemp("cache")
    former = os.environ.get("MXFFI_CACHE_DIR")
    os.environ["MXFFI_CACHE_DIR"] = str(folder)
    yield folder
    if former is None:
        del os.environ["MXFFI_CACHE_DIR"]
    else:
        os.environ["MXFFI_CACHE_DIR"] = former


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


def test_compiled_once(many, cache):
    files = {path: path.stat().st_mtime_ns for path in cache.rglob("*")}
    names = dict(DOCS, unnamed="", keyword="", fails="")
    assert load_inline("many", MANY, names) is many
    assert {path: path.stat().st_mtime_ns for path in cache.rglob("*")} == files
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o022 == 0 for path in files if path.is_dir())


# In plain C, which compiles at once.
C_SOURCE = """
#include <mxnet/runtime/c_runtime_api.h>
#include "value.h"

#ifndef NAME
#define NAME "value.f"
#endif

static int value(void* resource, const MXNetValue* args, const int* codes, int count,
                 MXNetValue* ret, int* ret_code) {
  (void)resource, (void)args, (void)codes, (void)count;
  ret->v_int64 = VALUE;
  *ret_code = kMXNetInt;
  return 0;
}

int MXNetLibraryInit(void) {
  MXNetFunctionHandle func;
  if (MXNetFuncCreateFromCFunc(&value, NULL, NULL, &func) != 0) return -1;
  const int status = MXNetFuncRegisterGlobal(NAME, func, 0);
  MXNetFuncFree(func);
  return status;
}
"""


@pytest.fixture
def c_source(tmp_path):
    (tmp_path / "value.h").write_text("#define VALUE 1\n")
    path = tmp_path / "value.c"
    path.write_text(C_SOURCE)
    old = time.time() - 60
    for file in tmp_path.iterdir():
        os.utime(file, (old, old))
    return path


def flags(name: str, *more: str) -> dict:
    return {"extra_cflags": [f'-DNAME="{name}"', *more]}


@pytest.mark.parametrize(
    ("change", "again"),
    [
        (lambda source: None, False),
        (lambda source: source.with_name("value.h").write_text("#define VALUE 2\n"), True),
        (lambda source: source.write_text(C_SOURCE + "// changed\n"), True),
        (lambda source: source.with_name("other.h").write_text("#define VALUE 2\n"), False),
    ],
    ids=["nothing", "header", "source", "another file"],
)
def test_compiled_again_where_an_input_has_changed(c_source, change, again):
    first = build("inputs", c_source, **flags("inputs.f"))
    assert build("inputs", c_source, **flags("inputs.f")) == first
    change(c_source)
    assert (build("inputs", c_source, **flags("inputs.f")) != first) == again
    assert first.exists()


FIRST = "#if __has_include(<extra.h>)\n#include <extra.h>\n#endif\n#include <value.h>\n"


def same_size_and_time(second):
    """Another header in the place of the former, as `cp -p` puts it there."""
    header = second / "value.h"
    before = header.stat()
    (second / "new.h").write_text("#define VALUE 2\n")
    os.utime(second / "new.h", ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace(second / "new.h", header)


def archive(folder, value):
    (folder / "part.c").write_text(f"int part(void) {{ return {value}; }}\n")
    subprocess.run(["cc", "-fPIC", "-c", "part.c", "-o", "part.o"], cwd=folder, check=True)
    subprocess.run(["ar", "rcs", "libpart.a", "part.o"], cwd=folder, check=True)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda first, second: None, 11),
        (lambda first, second: (first / "value.h").write_text("#define VALUE 2\n"), 12),
        (lambda first, second: (second / "extra.h").write_text("#define EXTRA 20\n"), 21),
        (lambda first, second: same_size_and_time(second), 12),
        (lambda first, second: archive(second, 30), 31),
        (lambda first, second: archive(first, 30), 31),
    ],
    ids=["nothing", "header before", "has_include", "same time", "library", "library before"],
)
def test_compiled_again_for_what_would_be_read_now(tmp_path, monkeypatch, change, expected):
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    (second / "value.h").write_text("#define VALUE 1\n")
    archive(second, 10)
    source = tmp_path / "value.c"
    text = C_SOURCE.replace(
        '#include "value.h"\n', FIRST + "#ifndef EXTRA\n#define EXTRA part()\n#endif\n"
    )
    source.write_text(
        text.replace("= VALUE", "= EXTRA + VALUE").replace(
            "#ifndef NAME", "int part(void);\n#ifndef NAME"
        )
    )
    asked = {
        "extra_include_paths": [first, second],
        "extra_ldflags": [f"-L{first}", "-L", str(second), "-lpart"],
    }
    monkeypatch.setenv("MXFFI_CACHE_DIR", str(tmp_path / "cache"))
    built = build("later", source, **flags("later.f"), **asked)
    change(first, second)
    again = build("later", source, **flags("later.f"), **asked)
    assert (again == built) == (expected == 11)
    script = "import ctypes, sys, ffi\nprint(ffi.load_library(sys.argv[1]).f())"
    done = subprocess.run(
        [sys.executable, "-c", script, again], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) == expected


@pytest.mark.parametrize("name", ["o'brien", 'a "b"', "back\\slash", "a b#c$d", "é"])
def test_any_name_of_a_folder(tmp_path, monkeypatch, c_source, name):
    folder = tmp_path / name
    folder.mkdir()
    for file in (c_source, c_source.with_name("value.h")):
        shutil.copy2(file, folder)
    monkeypatch.setenv("MXFFI_CACHE_DIR", str(folder / "cache"))
    built = build("quoted", folder / "value.c", **flags("quoted.f"))
    assert build("quoted", folder / "value.c", **flags("quoted.f")) == built
    (folder / "value.h").write_text("#define VALUE 2\n")
    assert build("quoted", folder / "value.c", **flags("quoted.f")) != built


@pytest.mark.parametrize("what", ["flags", "name", "compiler"])
def test_compiled_apart_for_another(c_source, monkeypatch, tmp_path, what):
    first = build("apart", c_source, **flags("apart.f"))
    wrapper = tmp_path / "compiler"
    wrapper.write_text('#!/bin/sh\nexec cc "$@"\n')
    wrapper.chmod(0o755)
    if what == "compiler":
        monkeypatch.setenv("CC", str(wrapper))
    name = "else" if what == "name" else "apart"
    more = ["-DMORE"] if what == "flags" else []
    assert build(name, c_source, **flags("apart.f", *more)).parent != first.parent


def test_a_changed_source_replaces_what_it_had_registered(c_source):
    module = load_inline("changing", c_source, **flags("changing.f"))
    assert module.f() == 1
    c_source.with_name("value.h").write_text("#define VALUE 2\n")
    changed = load_inline("changing", c_source, **flags("changing.f"))
    assert (changed.f(), module.f(), ffi.get_global_func("changing.f")()) == (2, 1, 2)
    with pytest.raises(ImportError, match="'changing.f' is registered already"):
        load_inline("another", c_source, **flags("changing.f"))


CLASS = """
#include <mxnet/runtime/class.h>
struct Counter { int value = START; };
MXNET_REGISTER_CLASS(Counter, "counting.Counter")
    .def_init<>()
    .def_readwrite("value", &Counter::value);
"""


def test_a_changed_class_replaces_the_former_one():
    former, changed = (
        load_inline("counting", CLASS, extra_cflags=[f"-DSTART={start}", "-O0"]) for start in (1, 2)
    )
    kept = ffi.get_class("counting.Counter")()
    assert (former.Counter().value, changed.Counter().value, kept.value) == (2, 2, 2)
    assert former is not changed


ENUM = """
#include <mxnet/runtime/enum.h>
enum class Mode { kFirst = 1, kSecond = SECOND };
MXNET_REGISTER_ENUM(Mode, "modal.Mode").value("FIRST", Mode::kFirst).value(NAME, Mode::kSecond);
MXNET_REGISTER_API("modal.second").set_body_typed([](Mode mode) { return Mode::kSecond; });
"""


def load_enum(library, name, second, more="", prefix=None):
    source = ENUM.replace("modal.", f"{prefix or library}.")
    flags = [f'-DNAME="{name}"', f"-DSECOND={second}", "-O0"]
    return load_inline(library, source + more, extra_cflags=flags)


def test_a_changed_enum_replaces_the_former_one():
    former = load_enum("modal", "SECOND", 2)
    kept = former.Mode
    assert former.second(kept.FIRST) is kept.SECOND
    changed = load_enum("modal", "OTHER", 3)
    assert [member.name for member in changed.Mode] == ["FIRST", "OTHER"]
    assert ffi.get_enum("modal.Mode") is changed.Mode is not kept
    assert changed.second("FIRST") is changed.Mode.OTHER
    # A member from before counts by its value.
    assert changed.second(kept.FIRST) is changed.Mode.OTHER
    with pytest.raises(ValueError, match="modal.Mode has no member with the value 2"):
        changed.second(kept.SECOND)


def test_an_enum_of_another_library_stays():
    load_enum("modal_one", "SECOND", 2)
    with pytest.raises(ImportError, match="enum 'modal_one.Mode' is registered already.*load_inl"):
        load_enum("modal_two", "SECOND", 2, prefix="modal_one")


def test_an_enum_comes_back_where_a_changed_library_fails():
    load_enum("restored", "SECOND", 4)
    fails = 'MXNET_REGISTER_API("testing.nop").set_body_typed([] {});'
    with pytest.raises(ImportError, match="'testing.nop' is registered already"):
        load_enum("restored", "LOST", 5, fails)
    assert [member.name for member in ffi.get_enum("restored.Mode")] == ["FIRST", "SECOND"]


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
def test_refuses(name, sources, functions, error, message):
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
def test_refuses_what_is_no_list(function, name, given, message):
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


@pytest.mark.parametrize(
    ("opened", "told"),
    [
        ("cache/open", "everybody may write to .*/open,.*somebody else's code. Remove .*/open and"),
        ("cache", "everybody may write to .*/cache,"),
        ("cache/open/*", "everybody may write to .*/value-"),
        ("cache/open/*/manifest.txt", "everybody may write to .*manifest.txt"),
        ("cache/open/*/*.so", "everybody may write to .*libvalue-"),
    ],
)
def test_a_cache_that_others_may_write_to(monkeypatch, tmp_path, c_source, opened, told):
    monkeypatch.setenv("MXFFI_CACHE_DIR", str(tmp_path / "cache" / "open"))
    built = build("value", c_source)
    (place,) = tmp_path.glob(opened)
    place.chmod(place.stat().st_mode | 0o022)
    with pytest.raises(PermissionError, match=told):
        build("value", c_source)
    monkeypatch.setenv("MXFFI_CACHE_TRUSTED", "1")
    if place != built:
        assert build("value", c_source) == built


def moved_here(entry):
    """An entry that was made for another key."""
    manifest = entry / "manifest.txt"
    _, rest = manifest.read_text().split("\n", 1)
    manifest.write_text(f"value-0123\n{rest}")


def on_library(change):
    return lambda entry: change(next(entry.glob("*.so")))


@pytest.mark.parametrize(
    "spoil",
    [
        moved_here,
        on_library(lambda library: os.truncate(library, library.stat().st_size // 2)),
        on_library(lambda library: library.write_bytes(bytes(library.stat().st_size))),
        on_library(Path.unlink),
        lambda entry: (entry / "manifest.txt").write_text(""),
        lambda entry: (entry / "manifest.txt").write_text("a\nb\nc"),
    ],
    ids=["of another key", "cut", "zeroed", "lost", "empty manifest", "other manifest"],
)
def test_a_spoiled_entry_is_made_anew(c_source, monkeypatch, tmp_path, spoil):
    monkeypatch.setenv("MXFFI_CACHE_DIR", str(tmp_path / "cache"))
    content = build("value", c_source).read_bytes()
    spoil(next((tmp_path / "cache").iterdir()))
    assert build("value", c_source).read_bytes() == content


@pytest.mark.parametrize(
    ("folder", "error"),
    [
        ("{0}/file", FileExistsError),
        ("{0}/file/below", NotADirectoryError),
        ("/proc/none", FileNotFoundError),
    ],
)
def test_a_cache_that_cannot_be_made(monkeypatch, tmp_path, folder, error):
    (tmp_path / "file").touch()
    monkeypatch.setenv("MXFFI_CACHE_DIR", folder.format(tmp_path))
    with pytest.raises(error, match="another place in the variable MXFFI_CACHE_DIR"):
        build("f", "int f();")


def test_the_error_is_named_as_users_find_it():
    assert f"{BuildError.__module__}.{BuildError.__qualname__}" == "ffi.cpp.BuildError"


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"MXFFI_CACHE_DIR": "{0}/own"}, "own"),
        ({"XDG_CACHE_HOME": "{0}/xdg"}, "xdg/mxffi"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "{0}"}, ".cache/mxffi"),
        ({"HOME": "{0}"}, ".cache/mxffi"),
    ],
)
def test_where_the_cache_is(monkeypatch, tmp_path, variables, expected):
    from ffi.cpp._cache import cache_dir

    for name in ("MXFFI_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(tmp_path))
    assert Path(cache_dir()) == tmp_path / expected
    assert stat.S_IMODE(Path(cache_dir()).stat().st_mode) == 0o700


# A compiler that notes each run, and takes a while.
SLOW = '#!/bin/sh\necho run >>"{log}"\nsleep {seconds}\nexec cc "$@"\n'


@pytest.fixture
def slow_compiler(tmp_path, monkeypatch):
    """Makes CC a slow compiler; returns the file of its notes."""

    def install(seconds):
        path, log = tmp_path / "slow", tmp_path / "log"
        path.write_text(SLOW.format(log=log, seconds=seconds))
        path.chmod(0o755)
        monkeypatch.setenv("CC", str(path))
        return log

    return install


def test_many_threads_compile_once(slow_compiler, c_source):
    log, found = slow_compiler(0.3), []
    target = lambda: found.append(build("threads", c_source, **flags("threads.f")))  # noqa: E731
    threads = [threading.Thread(target=target) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and len(set(found)) == 1
    assert log.read_text() == "run\n"


def test_many_processes_compile_once(slow_compiler, c_source):
    log = slow_compiler(0.5)
    script = "import pathlib, sys, ffi.cpp\n"
    script += "print(ffi.cpp.build('processes', pathlib.Path(sys.argv[1])))\n"
    running = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(c_source)], stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    assert len({process.communicate()[0] for process in running}) == 1
    assert all(process.returncode == 0 for process in running)
    assert log.read_text() == "run\n"


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
    script = (
        f"import pathlib, ffi.cpp\nffi.cpp.build('interrupted', pathlib.Path({str(c_source)!r}))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(c_source)],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
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
