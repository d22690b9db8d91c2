"""load_library: what it returns, and every reason for which it refuses."""

import os
import pickle
import re
import threading
from pathlib import Path

import pytest

import ffi
from tests.native import compile_library

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
MXNET_REGISTER_API("testing.echo").set_body_typed([](int x) { return x; });
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
        (lambda m: m.four, AttributeError, "no 'four'; it has registered good.a.two, "),
        (lambda m: m.__four__, AttributeError, "module 'good' has no attribute '__four__'"),
        (lambda m: m["one"], KeyError, "libgood.so has registered nothing as 'one'"),
    ],
)
def test_what_a_module_lacks(library, access, error, message):
    with pytest.raises(error, match=message):
        access(ffi.load_library(library))


@pytest.mark.parametrize("spelling", [str, os.fsencode, Path, os.path.relpath, "through a link"])
def test_loading_twice_is_one_library(library, folder, spelling):
    if spelling == "through a link":
        path = folder / "link.so"
        if not path.exists():
            path.symlink_to(library)
    else:
        path = spelling(library)
    assert ffi.load_library(path) is ffi.load_library(library)


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
    done = run_python(f"import ffi; print(ffi.load_library({path!r})['testing.echo']('text'))")
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


def test_a_class_that_python_registers_takes_the_place(with_class):
    @ffi.register_class("classes.Point")
    class Mine(ffi.Object):
        def twice(self):
            return 2 * self.x

    assert with_class.Point is Mine
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


ABI = r"version 9\.3 of the function ABI, this runtime has version \d+\.\d+"


def undefined(name: str, symbol: str):
    source = f'int f(void) __asm__("{symbol}"); __attribute__((visibility("default"))) '
    return compiled(name, source + "int g(void) { return f(); }")


REFUSED = {
    "no such file": (lambda f: f / "none.so", FileNotFoundError, "there is no such file"),
    "a folder": (lambda folder: folder, IsADirectoryError, "it is a folder"),
    "a device": (lambda folder: "/dev/null", ImportError, "not a regular file"),
    "empty": (written("empty.so", b""), ImportError, "not a shared library: the file is empty"),
    "text": (written("text.so", b"int f;"), ImportError, "not a shared library: it is no ELF"),
    "cut short": (written("cut.so", b"\x7fELF"), ImportError, "it is no ELF"),
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
        "  ValueError: function 'testing.echo' is registered already",
    ),
}


@pytest.mark.parametrize(("make", "error", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refuses(folder, capfd, make, error, message):
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
    assert ffi.get_global_func("testing.echo")("text") == "text"


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        (3, TypeError, r"load_library: argument 0 \('path'\) expected str or os.PathLike, got int"),
        ("a\0b", ValueError, r"argument 0 \('path'\) contains a NUL character"),
    ],
)
def test_refuses_what_is_no_path(path, error, message):
    with pytest.raises(error, match=message):
        ffi.load_library(path)


def newer_header(folder: Path) -> Path:
    """The headers, as a later major version of the ABI has them."""
    headers = folder / "newer"
    header = Path("mxnet", "runtime", "c_runtime_api.h")
    include = Path(ffi.__file__).parent / "include"
    for source in include.rglob("*.h"):
        target = headers / source.relative_to(include)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(source.read_text())
    text = (headers / header).read_text()
    changed = re.sub(r"(ABI_MAJOR) \d+", r"\1 9", text).replace("ABI_MINOR 0", "ABI_MINOR 3")
    assert changed != text
    (headers / header).write_text(changed)
    return headers


def test_refuses_a_newer_major_version_of_the_headers(folder):
    headers = newer_header(folder)
    text = "#include <mxnet/runtime/registry.h>\n"
    text += 'MXNET_REGISTER_API("newer.f").set_body_typed([](int x) { return x; });\n'
    path = compile_library(folder, "newer", text, f"-I{headers}", suffix=".cc")
    with pytest.raises(ImportError, match=ABI):
        ffi.load_library(path)
    assert ffi.get_global_func("newer.f", allow_missing=True) is None


def test_an_exception_in_a_static_initialiser_is_named(folder, run_python):
    text = (
        '#include <stdexcept>\nstatic int x = [] { throw std::runtime_error("boom"); return 1; }();'
    )
    path = compile_library(folder, "dying", text + "\nint* use() { return &x; }", suffix=".cc")
    done = run_python(f"import ffi; ffi.load_library({str(path)!r})")
    assert done.returncode < 0
    assert f"cannot load {path}: an exception left one of its static initialisers" in done.stderr
    assert "boom" in done.stderr
