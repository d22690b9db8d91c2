"""Every library of accelerators/ builds by each of its ways, and exports its entry alone."""

import shutil
import subprocess

import pytest

from .conftest import ROOT
from .plugin import Plugin

FOLDER = ROOT / "accelerators"
LIBRARIES = {"template": "libmyacc.so", "refacc": "librefacc.so"}


def run(*command: object) -> str:
    done = subprocess.run(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_one_command_builds_all(accelerators):
    makefiles = {path.parent.name for path in FOLDER.glob("*/Makefile")}
    assert makefiles == set(LIBRARIES)
    assert {path.name for path in accelerators.glob("*.so")} == set(LIBRARIES.values())


def test_without_warnings_by_clang(tmp_path):
    if shutil.which("clang++") is None:
        pytest.skip("clang++ is not installed")
    run("make", "-C", FOLDER, f"OUT={tmp_path}", "OPTIMIZE=-O0", "CC=clang", "CXX=clang++")
    for library in LIBRARIES.values():
        Plugin(tmp_path / library).close()


@pytest.mark.parametrize("name", LIBRARIES)
def test_by_cmake(tmp_path, name):
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    options = [f"-DCMAKE_INSTALL_PREFIX={tmp_path}", "-DCMAKE_BUILD_TYPE=Debug"]
    run("cmake", "-S", FOLDER / name, "-B", tmp_path / "build", *options)
    run("cmake", "--build", tmp_path / "build", "--target", "install", "-j2")
    Plugin(tmp_path / LIBRARIES[name]).close()


@pytest.mark.parametrize("library", LIBRARIES.values())
def test_exports_its_entry_alone(accelerators, library):
    symbols = run("nm", "--dynamic", "--defined-only", accelerators / library).split()[2::3]
    assert symbols == ["mxacc_get_api"]


@pytest.mark.parametrize("library", LIBRARIES.values())
def test_is_gone_once_it_is_unloaded(accelerators, library):
    path = str(accelerators / library)  # other tests have copies of it loaded

    def is_mapped() -> bool:
        with open("/proc/self/maps") as maps:
            return any(path in line for line in maps)

    plugin = Plugin(accelerators / library)
    while_loaded = is_mapped()
    plugin.close()
    assert (while_loaded, is_mapped()) == (True, False)
