"""Libraries of one process: their types are apart, but for those that they declare to share."""

import itertools
import json
import os
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import ffi
from ffi.cpp import build
from tests.native import INCLUDE, LIB, PACKAGE

SOURCES = Path(__file__).parent / "apart"
COMPILERS = [
    compiler
    for compiler in (os.environ.get("CXX", "c++"), "clang++")
    if shutil.which(shlex.split(compiler)[0])
]
VISIBILITIES = ("default", "hidden")
# Without optimization, so that nothing is inlined and every symbol there can be is there.
FLAGS = ["-std=c++17", "-O0", "-w", "-fPIC", "-shared", f"-I{SOURCES}"]


def compiled(library, source, compiler, visibility, *flags, include=INCLUDE):
    """The path of a library that is made of one of the sources."""
    command = [*shlex.split(compiler), *FLAGS, f"-fvisibility={visibility}", f"-I{include}", *flags]
    link = [f"-L{LIB}", "-lmxnet_runtime", "-o", str(library)]
    subprocess.run([*command, str(SOURCES / source), *link], check=True)
    return library


CMAKE = f"""
cmake_minimum_required(VERSION 3.18)
project(right LANGUAGES CXX)
find_package(mxffi CONFIG REQUIRED)
mxffi_add_library(right SOURCES {SOURCES}/right.cc)
"""


def built_by_cmake(folder):
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(CMAKE)
    prefix = f"-Dmxffi_DIR={PACKAGE / 'lib/cmake/mxffi'}"
    subprocess.run(["cmake", "-S", folder, "-B", folder, prefix], check=True, capture_output=True)
    subprocess.run(["cmake", "--build", folder], check=True, capture_output=True)
    return next(folder.rglob("*right.so"))


def newer_headers(folder):
    """Headers as a later version may have them: what they say of an enum lies elsewhere."""
    shutil.copytree(INCLUDE, folder)
    header = folder / "mxnet/runtime/enum.h"
    table = "struct EnumTable {"
    text = header.read_text()
    assert text.count(table) == 1
    header.write_text(text.replace(table, f"{table} std::string newer[3];"))
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Paths of left and right by how they were built, each in every way."""
    folder = tmp_path_factory.mktemp("apart")
    newer = newer_headers(folder / "include")
    ways = [(compiler, visibility) for compiler in COMPILERS for visibility in VISIBILITIES]
    with ThreadPoolExecutor(os.cpu_count()) as pool, pytest.MonkeyPatch.context() as patch:
        patch.setenv("MXFFI_CACHE_DIR", str(folder / "cache"))
        made = {
            (name, way): pool.submit(compiled, folder / f"lib{name}{number}.so", f"{name}.cc", *way)
            for name in ("left", "right")
            for number, way in enumerate(ways)
        }
        first = COMPILERS[0]
        made["right", "newer headers"] = pool.submit(
            compiled, folder / "libnewer.so", "right.cc", first, "default", include=newer
        )
        made["right", "other size"] = pool.submit(
            compiled, folder / "libbigger.so", "right.cc", first, "hidden", "-DBIGGER_VERTEX"
        )
        made["derived", "derived"] = pool.submit(
            compiled, folder / "libderived.so", "derived.cc", first, "default"
        )
        made["right", "load_inline"] = pool.submit(
            build, "right", SOURCES / "right.cc", extra_cflags=[f"-I{SOURCES}", "-O0"]
        )
        if shutil.which("cmake"):
            made["right", "CMake"] = pool.submit(built_by_cmake, folder / "cmake")
        return {key: str(future.result()) for key, future in made.items()}


def ways_of(built, name):
    return [key[1] for key in built if key[0] == name and key[1] != "other size"]


def test_each_pair_of_libraries(built):
    pairs = [
        {
            "paths": {"left": built["left", left], "right": built["right", right]},
            "order": order,
            "everywhere": everywhere,
        }
        for left, right in itertools.product(ways_of(built, "left"), ways_of(built, "right"))
        for order in (["left", "right"], ["right", "left"])
        for everywhere in (False, True)
    ]
    done = subprocess.run(
        [sys.executable, SOURCES / "pairs.py"],
        input=json.dumps(pairs),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_data_is_shared_by_name(built):
    for name, way in built:
        listed = subprocess.run(
            ["nm", "-DC", "--defined-only", built[name, way]],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        symbols = [line.split(maxsplit=2)[1:] for line in listed.splitlines()]
        shared = {text for kind, text in symbols if kind in "uVBD" and "mxnet::" in text}
        # Data that are the same in all libraries, and never change.
        assert shared <= {
            f"{what} for mxnet::runtime::Error" for what in ("typeinfo", "typeinfo name", "vtable")
        }, (name, way)


LOADED = """
import ffi
left, other, derived = {paths!r}
def error_of(call, *args):
    try:
        call(*args)
    except Exception as error:
        return f"{{type(error).__name__}}: {{error}}"
"""


def test_a_class_of_another_size(built, run_python):
    paths = built["left", (COMPILERS[0], "hidden")], built["right", "other size"], ""
    done = run_python(
        LOADED.format(paths=paths)
        + "left, right = ffi.load_library(left), ffi.load_library(other)\n"
        "print(error_of(right.moved, left.vertex(1.0)))\n"
        "print(error_of(right.made))\n"
    )
    reason = (
        "the class geo.Vertex is registered with 8 bytes, but this library was compiled with 16: "
        "build both with the same header"
    )
    assert done.stdout.splitlines() == [
        "TypeError: right.moved: argument 0 ('vertex') expected geo.Vertex "
        f"({reason}), got geo.Vertex",
        f"TypeError: an object is made: {reason}",
    ], done.stderr


def test_a_base_class_of_another_library(built, run_python):
    ways = (COMPILERS[0], "default"), (COMPILERS[-1], "hidden")
    paths = built["left", ways[0]], built["right", ways[1]], built["derived", "derived"]
    done = run_python(
        LOADED.format(paths=paths) + "print(error_of(ffi.load_library, derived))\n"
        "left, right = ffi.load_library(left), ffi.load_library(other)\n"
    )
    assert (
        "derived.Labelled: its base class is not registered before it: no library that is loaded "
        "registers the class geo.Vertex"
    ) in done.stdout, done.stderr
    done = run_python(
        LOADED.format(paths=paths)
        + "left, right, derived = map(ffi.load_library, (left, other, derived))\n"
        "made = derived.Labelled()\n"
        "made.x = 4.0\n"
        "print(made.label, right.moved(made).x, left.x(made), isinstance(made, left.Vertex))\n"
    )
    assert done.stdout == "7 5.0 4.0 True\n", done.stderr


def test_a_class_that_is_registered_anew(built, tmp_path, monkeypatch):
    monkeypatch.setenv("MXFFI_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("CXX", COMPILERS[0])
    right = ffi.load_library(built["right", (COMPILERS[-1], "default")])

    def load(version):
        flags = [f"-I{SOURCES}", f"-DVERSION={version}", "-O0"]
        return ffi.cpp.load_inline("left", SOURCES / "left.cc", extra_cflags=flags)

    former = load(1)
    kept = former.vertex(1.0)
    former_class = type(kept)
    assert type(right.moved(kept)) is former_class
    changed = load(2)
    made = changed.vertex(1.0)
    assert type(made) is ffi.get_class("geo.Vertex") is not former_class
    # Which object it meets first makes no difference.
    for _ in range(2):
        assert type(right.made()) is type(made)
        assert right.moved(made).x == 2.0
        assert right.same(made) is made
    with pytest.raises(TypeError, match="expected geo.Vertex, got geo.Vertex"):
        right.moved(kept)
    assert (kept.x, former.x(kept)) == (1.0, 1.0)


ANEW = """
import pathlib
import ffi.cpp
right = ffi.load_library(left)
print(error_of(right.other, "LEFT"))
for version in (1, 2):
    flags = ["-I{folder}", f"-DVERSION={{version}}", "-O0"]
    ffi.cpp.load_inline("left", pathlib.Path("{folder}/left.cc"), extra_cflags=flags)
    print(right.other("LEFT").name, error_of(right.other, "AHEAD"))
"""


def test_an_enum_that_is_registered_anew(built, run_python, tmp_path):
    paths = built["right", (COMPILERS[0], "hidden")], "", ""
    script = LOADED.format(paths=paths) + ANEW.format(folder=SOURCES)
    done = run_python(script, MXFFI_CACHE_DIR=str(tmp_path))
    assert done.stdout.splitlines()[1:] == [
        "RIGHT ValueError: right.other: argument 0 ('side'): geo.Side has no member 'AHEAD'; "
        "its members are 'LEFT', 'RIGHT'",
        "RIGHT None",
    ], done.stdout + done.stderr


def test_a_key_that_is_not_the_declared_one(tmp_path):
    text = f"""
#include "{SOURCES}/vertex.h"
MXNET_REGISTER_CLASS(geo::Vertex, "geo.Corner");
MXNET_REGISTER_ENUM(geo::Side, "geo.Edge").value("LEFT", geo::Side::kLeft);
"""
    library = tmp_path / "libcorner.so"
    source = tmp_path / "corner.cc"
    source.write_text(text)
    compiled(library, source, COMPILERS[0], "hidden")
    with pytest.raises(ImportError) as caught:
        ffi.load_library(library)
    assert "geo.Corner: MXNET_DECLARE_CLASS gives its C++ class the key geo.Vertex" in str(
        caught.value
    )
    assert "geo.Edge: MXNET_DECLARE_ENUM gives its C++ enum the name geo.Side" in str(caught.value)
