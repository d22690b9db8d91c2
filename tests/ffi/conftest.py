"""What the tests of the boundary share."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import ffi
from ffi._backend import core
from tests import library
from tests.native import compile_file, compile_library

from .cpp.inline import C_SOURCE, SLOW
from .growth import Judge


def pytest_configure():
    """Before modules are imported: some look functions of the library up."""
    library.load()


@pytest.fixture
def api():
    """The names of the path under test, as both paths export them."""
    return core


@pytest.fixture
def echo():
    return ffi.get_global_func("ffi.echo")


@pytest.fixture
def call():
    """Calls its first argument, from C++, with the others."""
    return ffi.get_global_func("ffi.call")


@pytest.fixture
def register():
    """register_func for the length of a test: the names it takes are removed afterwards."""
    names = []

    def register(name, function, override=False):
        ffi.register_func(name, function, override)
        names.append(name)
        return ffi.get_global_func(name)

    yield register
    for name in names:
        if ffi.get_global_func(name, allow_missing=True) is not None:
            ffi.remove_global_func(name)


@pytest.fixture(scope="module")
def assert_flat():
    """Fails where an action leaves something behind."""
    return Judge()


@pytest.fixture
def run_python():
    """Runs a script in a new interpreter, on the same path unless env says otherwise."""

    def run(script, **env):
        if "testing." in script:
            script = f"import ffi; ffi.load_library({library.path()!r}); {script.lstrip()}"
        environment = {**os.environ, **env}
        return subprocess.run(
            [sys.executable, "-c", script],
            env={name: value for name, value in environment.items() if value is not None},
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run


class Native:
    """The functions of native_ops.cc, in a library with debug information."""

    def __init__(self, path):
        self.path = path
        ffi.load_library(path)

    def __call__(self, name):
        return ffi.get_global_func(name)


@pytest.fixture(scope="session")
def native(tmp_path_factory):
    source = Path(__file__).parent / "native_ops.cc"
    folder = tmp_path_factory.mktemp("native")
    # Optimized, so that functions are inlined; the lines have to be right all the same.
    return Native(compile_file(folder, "native", source, "-g", "-O1", "-pthread"))


@pytest.fixture(scope="session")
def native_release(tmp_path_factory):
    """Name of a function that throws, in a library without debug information."""
    source = """
#include <mxnet/runtime/registry.h>
__attribute__((noinline)) int PickRelease(const std::vector<int>& values, int index) {
  return values.at(index);
}
MXNET_REGISTER_API("native_release.pick").set_body_typed([](int index) {
  return PickRelease({1, 2, 3}, index) + 1;
});
"""
    folder = tmp_path_factory.mktemp("native_release")
    ffi.load_library(compile_library(folder, "release", source, "-O1", suffix=".cc"))
    return "native_release.pick"


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """A folder for what ffi.cpp compiles, of the tests' own."""
    folder = tmp_path_factory.mktemp("cache")
    former = os.environ.get("MXFFI_CACHE_DIR")
    os.environ["MXFFI_CACHE_DIR"] = str(folder)
    yield folder
    if former is None:
        del os.environ["MXFFI_CACHE_DIR"]
    else:
        os.environ["MXFFI_CACHE_DIR"] = former


@pytest.fixture
def c_source(tmp_path):
    (tmp_path / "value.h").write_text("#define VALUE 1\n")
    path = tmp_path / "value.c"
    path.write_text(C_SOURCE)
    old = time.time() - 60
    for file in tmp_path.iterdir():
        os.utime(file, (old, old))
    return path


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
