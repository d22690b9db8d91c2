"""load_library: what it returns, and every reason for which it rejects."""

import os
import pickle
import pydoc
import re
import rlcompleter
import shutil
import threading
from pathlib import Path

import pytest

import ffi
from tests.native import INCLUDE, compile_library

# A library in plain C; BODY runs in its initialiser, with `add` to register its function.
C_LIBRARY = """
#include <mxnet/runtime/c_runtime_api.h>

static int answer(void* resource, const MXNetValue* args, const int* codes, int count,
                  MXNetValue* ret, int* ret_code) {
  (void)resource, (void)args, (void)codes, (void)count;
  ret->v_int64 = 42;
  *ret_code = kMXNetInt;
  return 0;
}

static int add_described(const char* name, int abi_major) {
  MXNetFunctionHandle func;
  if (MXNetFuncCreateFromCFunc(&answer, NULL, NULL, &func) != 0) return -1;
  MXNetFuncInfo info = {0};
  info.struct_size = sizeof(info);
  info.abi_major = abi_major;
  info.abi_minor = 3;
  info.name = name;
  int status = MXNetFuncSetInfo(func, &info);
  if (status == 0) status = MXNetFuncRegisterGlobal(name, func, 0);
  MXNetFuncFree(func);
  return status;
}

static int add(const char* name) { return add_described(name, MXNET_RUNTIME_ABI_MAJOR); }

int MXNetLibraryInit(void) {
  (void)add, (void)add_described;
  BODY
}
"""

FAIL = """
  MXNetErrorInfo error = {sizeof(error), "KeyError", {"no such key", 11}, NULL, 0, NULL};
  return MXNetSetLastError(&error);
"""

CXX_REGISTRATIONS = """
#include <mxnet/runtime/registry.h>
MXNET_REGISTER_API("first.twice").set_body_typed([](int x) { return 2 * x; });
MXNET_REGISTER_API("testing.nop").set_body_typed([](int x) { return x; });
MXNET_REGISTER_API("ffi.echo").set_body_typed([](int x) { return x; });
"""

THROWING = """
#include <stdexcept>
extern "C" __attribute__((visibility("default"))) int MXNetLibraryInit() {
  throw std::runtime_error("boom");
}
"""


def c_library(body: str) -> str:
    return C_LIBRARY.replace("BODY", body)


def registering(*names: str) -> str:
    """A library in C that registers functions of these names."""
    calls = " || ".join(f'add("{name}") != 0' for name in names) or "0"
    return c_library(f"return {calls} ? -1 : 0;")


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("libraries")


@pytest.fixture(scope="session")
def library(folder):
    """The path of a library with three functions, two of one last part."""
    return compile_library(folder, "good", registering("good.one", "good.a.two", "good.b.two"))


def test_a_module(library):
    module = ffi.load_library(library)
    assert module.one() == 42
    assert module["good.a.two"]() == 42
    assert list(module) == ["good.a.two", "good.b.two", "good.one"]
    assert len(module) == 3
    assert "good.one" in module and "one" not in module
    assert "one" in dir(module) and "two" not in dir(module)
    assert module.__name__ == "good" and module.__file__ == str(library)
    assert repr(module) == f"<ffi.Module 'good' from '{library}', 3 names>"
    assert pickle.loads(pickle.dumps(module)) is module
    assert module.one.same_as(ffi.get_global_func("good.one"))


@pytest.mark.parametrize(
    ("access", "error", "message"),
    [
        (lambda m: m.two, AttributeError, "'two' is .* several names .*good.a.two, good.b.two"),
        (lambda m: m.four, AttributeError, "'good' object has no attribute 'four'"),
        (
            lambda m: m["one"],
            KeyError,
            "libgood.so has registered nothing as 'one'; it has .*good.a",
        ),
        (lambda m: m[1], KeyError, "libgood.so has registered nothing as 1"),
    ],
)
def test_what_a_module_lacks(library, access, error, message):
    with pytest.raises(error, match=message):
        access(ffi.load_library(library))


def test_completion_in_a_module(library):
    module = ffi.load_library(library)
    found = rlcompleter.Completer({"module": module}).attr_matches("module.")
    assert "module.one(" in found
    assert module._ipython_key_completions_() == list(module)
    assert "libgood.so has registered" in pydoc.plain(pydoc.render_doc(module))


def test_a_function_of_a_module_can_be_replaced_for_a_test(library, monkeypatch):
    module = ffi.load_library(library)
    original = module.one
    with monkeypatch.context() as patch:
        patch.setattr(module, "one", lambda: 43)
        assert module.one() == 43 and "one" in dir(module)
    assert module.one == original and module.one() == 42


@pytest.fixture(scope="session")
def special(folder):
    """A library whose names mean something to Python."""
    names = ("special.__call__", "special.__len__", "special.class", "special.mro", "special")
    return ffi.load_library(compile_library(folder, "special", registering(*names)))


def test_names_that_mean_something_to_python(special):
    assert len(special) == 5 and not callable(special)
    assert special["special.__call__"]() == special["special.__len__"]() == 42
    assert getattr(special, "class")() == special.mro() == special.special() == 42


def test_modules_come_from_load_library_only():
    with pytest.raises(TypeError, match="come from load_library"):
        ffi.Module()


@pytest.fixture(scope="session")
def own(folder):
    """A library with a function of two arguments."""
    text = "#include <mxnet/runtime/registry.h>\n"
    text += 'MXNET_REGISTER_API("own.f").arg("first").arg("second")'
    text += ".set_body_typed([](int a, int b) { return 10 * a + b; });\n"
    return ffi.load_library(compile_library(folder, "own", text, suffix=".cc"))


@pytest.mark.parametrize("call", ["m.f({})", "(lambda g: g({}))(m.f)", "type(m).f({})"])
@pytest.mark.parametrize("arguments", ["1, 2", "1, second=2", "first=1, second=2", "*(1, 2)"])
def test_a_function_of_a_module_gets_its_own_arguments(own, call, arguments):
    """However it is called, the module is not among them, although it is a method of its class."""
    assert eval(call.format(arguments), {"m": own}) == 12
    with pytest.raises(TypeError, match="own.f: .*expected .*got"):
        eval(call.format("1, 'text'"), {"m": own})


@pytest.mark.parametrize("spelling", [str, os.fsencode, Path, os.path.relpath, "through a link"])
def test_loading_twice_is_one_library(library, folder, spelling):
    if spelling == "through a link":
        path = folder / "link.so"
        if not path.exists():
            path.symlink_to(library)
    else:
        path = spelling(library)
    assert ffi.load_library(path) is ffi.load_library(library)


def test_a_library_that_was_built_again(tmp_path):
    path = compile_library(tmp_path, "again", registering("again.f"))
    module = ffi.load_library(path)
    other = compile_library(tmp_path, "other", registering("again.g"))
    other.replace(path)
    with pytest.warns(RuntimeWarning, match=f"{path} has changed since it was loaded") as caught:
        assert ffi.load_library(path) is module
    assert caught[0].filename == __file__
    assert list(module) == ["again.f"]


def test_threads_get_one_module(folder):
    path = compile_library(folder, "shared", registering("shared.one"))
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(ffi.load_library(path))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and len(set(map(id, found))) == 1


def test_a_library_that_came_with_another(folder):
    used = compile_library(folder, "used", registering("used.one"))
    text = "#include <mxnet/runtime/registry.h>\n"
    text += 'MXNET_REGISTER_API("user.one").set_body_typed([](int x) { return x; });\n'
    flags = ["-Wl,--no-as-needed", f"-L{folder}", "-lused", f"-Wl,-rpath,{folder}"]
    user = ffi.load_library(compile_library(folder, "user", text, *flags, suffix=".cc"))
    # used's initialiser is its own: nobody has called it yet.
    assert list(user) == ["user.one"]
    assert list(ffi.load_library(used)) == ["used.one"]


def test_a_library_that_was_in_the_process_before(run_python):
    # In another process, because a Module keeps the functions of its library alive.
    path = str(Path(ffi.__file__).parent / "lib" / "libmxnet_runtime.so")
    done = run_python(f"import ffi; print(ffi.load_library({path!r})['ffi.echo']('text'))")
    assert (done.stdout, done.stderr) == ("text\n", "")


CLASS = """
#include <mxnet/runtime/class.h>
struct Point { int x; };
MXNET_REGISTER_CLASS(Point, "classes.Point")
    .def_init([](int x) { return Point{x}; }).arg("x")
    .def_readwrite("x", &Point::x);
MXNET_REGISTER_API("classes.moved").set_body_typed([](const Point& p) { return Point{p.x + 1}; });
"""
FAILING = '\nMXNET_REGISTER_API("testing.nop").set_body_typed([] { return 1; });\n'


@pytest.fixture(scope="session")
def with_class(folder):
    """A library with a class, after one that failed to register the same."""
    path = compile_library(folder, "failing", CLASS + FAILING, suffix=".cc")
    with pytest.raises(ImportError, match="'testing.nop' is registered already"):
        ffi.load_library(path)
    with pytest.raises(KeyError, match="classes.Point"):
        ffi.get_class("classes.Point")
    return ffi.load_library(compile_library(folder, "classes", CLASS, suffix=".cc"))


def test_classes_are_in_the_module(with_class):
    assert list(with_class) == ["classes.Point", "classes.moved"]
    assert with_class.Point is with_class["classes.Point"] is ffi.get_class("classes.Point")
    assert "Point" in dir(with_class) and "__names__" not in dir(with_class)
    moved = with_class.moved(with_class.Point(2))
    assert type(moved) is with_class.Point and moved.x == 3


def test_a_class_that_python_registers_replaces_it(with_class):
    @ffi.register_class("classes.Point")
    class Mine(ffi.Object):
        def twice(self):
            return 2 * self.x

    assert with_class.Point is with_class["classes.Point"] is Mine
    assert with_class.moved(Mine(1)).twice() == 4


def linked_with_a_lost_library(folder):
    lost = compile_library(folder, "lost", "int lost(void) { return 1; }", "-fvisibility=default")
    text = "int lost(void); int f(void) { return lost(); }"
    flags = ["-Wl,--no-as-needed", f"-L{folder}", "-llost"]
    path = compile_library(folder, "loser", text, *flags)
    lost.unlink()
    return path


def of_another_machine(folder):
    path = compile_library(folder, "foreign", "int f(void) { return 1; }")
    content = bytearray(path.read_bytes())
    content[18] = 8  # e_machine: MIPS
    path.write_bytes(content)
    return path


def written(name: str, content: bytes):
    def make(folder):
        (folder / name).write_bytes(content)
        return folder / name

    return make


def compiled(name: str, source: str, suffix: str = ".c"):
    return lambda folder: compile_library(folder, name, source, suffix=suffix)


def cut(size: int):
    """A library of which only the first bytes are there, as after a download that failed."""

    def make(folder):
        path = compiled(f"cut{size}", "int f(void) { return 1; }")(folder)
        os.truncate(path, size)
        return path

    return make


ABI_MAJOR, ABI_MINOR = (
    int(number)
    for number in re.findall(
        r"^#define MXNET_RUNTIME_ABI_M\w+ (\d+)$",
        (INCLUDE / "mxnet" / "runtime" / "c_runtime_api.h").read_text(),
        re.M,
    )
)
ABI = r"version 9\.3 of the function ABI, this runtime has version \d+\.\d+"


def undefined(name: str, symbol: str):
    source = f'int f(void) __asm__("{symbol}"); __attribute__((visibility("default"))) '
    return compiled(name, source + "int g(void) { return f(); }")


REJECTED = {
    "no such file": (lambda f: f / "none.so", FileNotFoundError, "there is no such file"),
    "a folder": (lambda folder: folder, IsADirectoryError, "it is a folder"),
    "a device": (lambda folder: "/dev/null", ImportError, "not a regular file"),
    "empty": (written("empty.so", b""), ImportError, "not a shared library: the file is empty"),
    "text": (written("text.so", b"int f;"), ImportError, "not a shared library: it is no ELF"),
    "cut short": (written("cut.so", b"\x7fELF"), ImportError, "it is no ELF"),
    "head alone": (cut(64), ImportError, "the file ends before the library does"),
    "first page": (cut(4096), ImportError, "the file ends before the library does"),
    "archive": (written("a.a", b"!<arch>\nmore"), ImportError, "it is a static archive"),
    "architecture": (of_another_machine, ImportError, r"built for ELF machine 8 \(64 bits, .*on "),
    "C symbol": (undefined("undefined1", "nowhere"), ImportError, "undefined symbol 'nowhere': "),
    "C++ symbol": (
        undefined("undefined2", "_ZN4demo5twiceEi"),
        ImportError,
        r"undefined symbol 'demo::twice\(int\)' \(_ZN4demo5twiceEi\): neither it",
    ),
    "newer runtime": (
        undefined("undefined3", "MXNetFuncOfTheFuture"),
        ImportError,
        "'MXNetFuncOfTheFuture': either the library is not linked .* newer release",
    ),
    "dependency": (linked_with_a_lost_library, ImportError, "it needs liblost.so, which is not"),
    "ABI in C": (
        compiled("abi", c_library('return add_described("abi.f", 9);')),
        ImportError,
        "MXNetLibraryInit failed: the library was built against " + ABI,
    ),
    "name taken": (
        compiled("taken", registering("taken.f", "testing.nop")),
        ImportError,
        "MXNetLibraryInit failed: ValueError: function 'testing.nop' is registered already",
    ),
    "initialiser fails": (
        compiled("fails", c_library('add("fails.f");' + FAIL)),
        ImportError,
        "its MXNetLibraryInit failed: KeyError: no such key",
    ),
    "initialiser says nothing": (
        compiled("silent", c_library("return 3;")),
        ImportError,
        "RuntimeError: it returned 3 without MXNetSetLastError",
    ),
    "initialiser throws": (
        compiled("throws", THROWING, ".cc"),
        ImportError,
        "its MXNetLibraryInit failed: RuntimeError: boom",
    ),
    "registrations": (
        compiled("registrations", CXX_REGISTRATIONS, ".cc"),
        ImportError,
        "2 of its registrations failed\n  ValueError: function 'testing.nop' is .*\n"
        "  ValueError: function 'ffi.echo' is registered already",
    ),
}


@pytest.mark.parametrize(("make", "error", "message"), REJECTED.values(), ids=REJECTED.keys())
def test_rejects(folder, capfd, make, error, message):
    path = make(folder)
    before = ffi.list_global_func_names()
    for _ in range(2):
        with pytest.raises(error, match=message) as caught:
            ffi.load_library(path)
        assert str(caught.value).startswith(f"cannot load {path}: ")
        if error is ImportError:
            assert caught.value.path == str(path)
    assert ffi.list_global_func_names() == before
    assert capfd.readouterr().err == ""
    assert ffi.get_global_func("ffi.echo")("text") == "text"


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        (3, TypeError, r"load_library: argument 0 \('path'\) expected str or os.PathLike, got int"),
        ("a\0b", ValueError, r"argument 0 \('path'\) contains a NUL character"),
    ],
)
def test_rejects_what_is_no_path(path, error, message):
    with pytest.raises(error, match=message):
        ffi.load_library(path)


def version_macros(major: int, minor: int) -> list[tuple[str, str]]:
    """Changes of the C header, which let it say that it is of another version."""
    return [
        (r"(?<=MXNET_RUNTIME_ABI_MAJOR )\d+", str(major)),
        (r"(?<=MXNET_RUNTIME_ABI_MINOR )\d+", str(minor)),
    ]


def changed_headers(folder: Path, changes: list[tuple[str, str]]) -> Path:
    """The headers, with changes of the C header: regular expressions and what replaces them."""
    headers = folder / "include"
    shutil.copytree(INCLUDE, headers)
    header = headers / "mxnet" / "runtime" / "c_runtime_api.h"
    text = header.read_text()
    for pattern, replacement in changes:
        text, count = re.subn(pattern, replacement, text)
        assert count > 0, pattern
    header.write_text(text)
    return headers


# Half of a number; of an odd one, and of none, an error.
HALF = {
    ".c": """
#include <mxnet/runtime/c_runtime_api.h>
static int half(void* resource, const MXNetValue* args, const int* codes, int count,
                MXNetValue* ret, int* ret_code) {
  (void)resource, (void)codes, (void)count;
  if (args[0].v_int64 % 2 != 0) {
    MXNetErrorFrame frame = {"half.c", "half", 7};
    MXNetErrorInfo error = {.struct_size = sizeof(error), .kind = "ValueError",
                            .message = {"it is odd", 9}, .frames = &frame, .num_frames = 1};
    return MXNetSetLastError(&error);
  }
  ret->v_int64 = args[0].v_int64 / 2;
  *ret_code = kMXNetInt;
  return 0;
}
int MXNetLibraryInit(void) {
  MXNetFunctionHandle func;
  MXNetParamInfo param = {.name = "number", .type = "int"};
  MXNetFuncInfo info = {.struct_size = sizeof(info), .abi_major = MXNET_RUNTIME_ABI_MAJOR,
                        .abi_minor = MXNET_RUNTIME_ABI_MINOR, .name = "NAME", .described = 1,
                        .params = &param, .num_params = 1};
  if (MXNetFuncCreateFromCFunc(&half, NULL, NULL, &func) != 0) return -1;
  int status = MXNetFuncSetInfo(func, &info);
  if (status == 0) status = MXNetFuncRegisterGlobal("NAME", func, 0);
  MXNetFuncFree(func);
  return status;
}
""",
    ".cc": """
#include <mxnet/runtime/class.h>
struct Point { int x; };
MXNET_REGISTER_CLASS(Point, "NAME.Point").def_readwrite("x", &Point::x);
MXNET_REGISTER_API("NAME").arg("number").set_body_typed([](int64_t number) {
  if (number % 2 != 0) MXNET_THROW("ValueError") << "it is odd";
  return number / 2;
});
""",
}
# A header that came before a member, and one of a later release.
OLDER = [
    (r"  /\*!\n(?:   \*[^\n]*\n)+  const struct MXNetFuncInfo\* const\* overloads;(?:.|\n)*?"
     r"(?=\} MXNetFuncInfo;)", "")
]  # fmt: skip
NEWER = [
    *version_macros(ABI_MAJOR, ABI_MINOR + 3),
    (r"(?=\} MXNet(?:FuncInfo|TypeInfo|ErrorInfo);)", "  void* of_the_future[4];\n"),
    (r"(?=MXNET_DLL int MXNetFuncFree)", "MXNET_DLL int MXNetFuncOfTheFuture(void);\n"),
    (r"(?=  kMXNetExtEnd = 128)", "  kMXNetOfTheFuture = 100,\n"),
]


@pytest.mark.parametrize(
    ("changes", "suffix"),
    [(OLDER, ".c"), (NEWER, ".c"), (NEWER, ".cc")],
    ids=["older_c", "newer_c", "newer_cxx"],
)
def test_a_library_of_other_headers(tmp_path, request, changes, suffix):
    name = "half." + re.sub(r"\W", "", request.node.callspec.id)
    headers = changed_headers(tmp_path, changes)
    source = HALF[suffix].replace("NAME", name)
    module = ffi.load_library(
        compile_library(tmp_path, "half", source, f"-I{headers}", suffix=suffix)
    )
    half = module[name]
    assert half(8) == 4 and half(number=6) == 3
    with pytest.raises(ValueError, match="it is odd"):
        half(3)
    with pytest.raises(TypeError, match=rf"{name}: missing argument 0 \('number'\)"):
        half()


OTHER_VERSIONS = {
    "MAJOR above": (
        version_macros(9, 3),
        "MXNET_RUNTIME_ABI_MAJOR",
        rf"version 9\.3 of the function ABI, this runtime has version {ABI_MAJOR}\.{ABI_MINOR}",
    ),
    "MAJOR below": (
        version_macros(0, 7),
        "MXNET_RUNTIME_ABI_MAJOR",
        rf"version 0\.7 of the function ABI, this runtime has version {ABI_MAJOR}\.{ABI_MINOR}",
    ),
    "a function of the future": (
        NEWER,
        "MXNetFuncOfTheFuture()",
        "undefined symbol 'MXNetFuncOfTheFuture': .* built with the headers of a newer release",
    ),
}


@pytest.mark.parametrize(
    ("changes", "used", "message"), OTHER_VERSIONS.values(), ids=OTHER_VERSIONS.keys()
)
def test_rejects_a_library_of_other_headers(tmp_path, changes, used, message):
    text = "#include <mxnet/runtime/registry.h>\n"
    text += f'MXNET_REGISTER_API("other.f").set_body_typed([](int x) {{ return x + {used}; }});\n'
    headers = changed_headers(tmp_path, changes)
    path = compile_library(tmp_path, "other", text, f"-I{headers}", suffix=".cc")
    with pytest.raises(ImportError, match=message):
        ffi.load_library(path)
    assert ffi.get_global_func("other.f", allow_missing=True) is None


def test_an_exception_in_a_static_initialiser_is_named(folder, run_python):
    text = (
        '#include <stdexcept>\nstatic int x = [] { throw std::runtime_error("boom"); return 1; }();'
    )
    path = compile_library(folder, "dying", text + "\nint* use() { return &x; }", suffix=".cc")
    done = run_python(f"import ffi; ffi.load_library({str(path)!r})")
    assert done.returncode < 0
    assert f"cannot load {path}: an exception left one of its static initialisers" in done.stderr
    assert "boom" in done.stderr


def test_a_path_that_is_no_text(tmp_path):
    folder = os.path.join(os.fsencode(tmp_path), b"\xff\xfe")
    os.mkdir(folder)
    made = compile_library(tmp_path, "bytes", "int bytes_answer(void) { return 42; }", suffix=".c")
    moved = os.path.join(folder, b"lib\xff.so")
    os.rename(made, moved)
    assert list(ffi.load_library(os.fsdecode(moved))) == []
