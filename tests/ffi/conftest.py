"""What the tests of the boundary share."""

import os
import subprocess
import sys

import pytest

import ffi
from ffi._backend import core


@pytest.fixture
def api():
    """The names of the path under test, as both paths export them."""
    return core


@pytest.fixture
def echo():
    return ffi.get_global_func("testing.echo")


@pytest.fixture
def call():
    """Calls its first argument, from C++, with the others."""
    return ffi.get_global_func("testing.call")


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


@pytest.fixture
def run_python():
    """Runs a script in a new interpreter, on the same path unless env says otherwise."""

    def run(script, **env):
        environment = {**os.environ, **env}
        return subprocess.run(
            [sys.executable, "-c", script],
            env={name: value for name, value in environment.items() if value is not None},
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run
