"""Every library of accelerators/ builds by each of its ways, and exports its entry alone."""

import shutil
import subprocess
import sys

import pytest

from mxacc_check.plugin import Plugin

from .conftest import FILES, ROOT, missing_for, need

FOLDER = ROOT / "accelerators"
LIBRARIES = FILES
# What a folder builds besides: the template's example of an accelerator for graphs.
ALSO = {"libmymodel.so"}
# Libraries that need something: what tells make where that is, and what says how to get it.
NEEDING = {
    "cuda": ("NVCC", "developer.nvidia.com/cuda-downloads"),
    "onednn": ("ONEDNN", "pip install"),
    "opencl": ("OPENCL", "in Debian"),
    "openvino": ("OPENVINO", "pip install openvino"),
}


def run(*command: object) -> str:
    done = subprocess.run(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(params=LIBRARIES)
def name(request) -> str:
    """A library of accelerators/ that can be built."""
    need(request.param)
    return request.param


@pytest.fixture
def library(name) -> str:
    return LIBRARIES[name]


def test_one_command_builds_all(accelerators):
    makefiles = {path.parent.name for path in FOLDER.glob("*/Makefile")}
    assert makefiles == set(LIBRARIES)
    assert {path.name for path in accelerators.glob("*.so")} - ALSO == {
        library for name, library in LIBRARIES.items() if not missing_for(name)
    }


@pytest.mark.parametrize("name", NEEDING)
def test_what_a_library_lacks_is_named(tmp_path, name):
    variable, hint = NEEDING[name]
    command = ["make", "-C", FOLDER, f"OUT={tmp_path}", f"{variable}=/nowhere", name]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode != 0
    assert "cannot be built" in done.stderr and "/nowhere" in done.stderr
    assert hint in done.stderr


def test_what_needs_nothing_is_built_alone(tmp_path):
    lacking = [f"{variable}=/nowhere" for variable, _ in NEEDING.values()]
    # With the flags of the other tests' libraries, which the compilers' cache knows.
    told = run("make", "-C", FOLDER, f"OUT={tmp_path}", *lacking, "OPTIMIZE=-O1")
    for name, (_, hint) in NEEDING.items():
        assert f"{name} is not built" in told and hint in told
    assert {path.name for path in tmp_path.glob("*.so")} - ALSO == {
        library for name, library in LIBRARIES.items() if name not in NEEDING
    }


def test_a_library_that_is_missing_at_run_time_is_named(accelerators, tmp_path):
    library = (accelerators / "libonednn.so").read_bytes()
    folder = f"{sys.prefix}/lib".encode()
    assert folder in library
    moved = tmp_path / "libonednn.so"
    moved.write_bytes(library.replace(folder, b"/" + b"x" * (len(folder) - 1)))
    load = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
    # Another process, as this one may have oneDNN loaded.
    done = subprocess.run([sys.executable, "-c", load, moved], capture_output=True, text=True)
    assert "libdnnl.so.3: cannot open shared object file" in done.stderr


def test_without_warnings_by_clang(tmp_path):
    if shutil.which("clang++") is None:
        pytest.skip("clang++ is not installed")
    options = ["CC=clang", "CXX=clang++", f"PYTHON={sys.executable}", "ARCHS=75"]
    # What nvcc compiles it does with GCC; as C++ it is compiled after that.
    options += [f"OUT={tmp_path}", "OPTIMIZE=-O0", "NVCC=/nowhere"]
    run("make", "-j2", "-C", FOLDER, *options)
    run("make", "-j2", "-C", FOLDER, *options, "cuda-cpu")
    for path in tmp_path.glob("*.so"):
        Plugin(path).close()


def test_by_cmake(tmp_path, name):
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    # A kind of no flags: neither optimized nor with what debuggers read, which takes as long again.
    options = [f"-DCMAKE_INSTALL_PREFIX={tmp_path}", "-DCMAKE_BUILD_TYPE=None"]
    options += [f"-DPython_EXECUTABLE={sys.executable}", "-DCMAKE_CUDA_ARCHITECTURES=75-virtual"]
    run("cmake", "-S", FOLDER / name, "-B", tmp_path / "build", *options)
    run("cmake", "--build", tmp_path / "build", "--target", "install", "-j2")
    Plugin(tmp_path / LIBRARIES[name]).close()


def test_exports_its_entry_alone(accelerators, library):
    symbols = run("nm", "--dynamic", "--defined-only", accelerators / library).split()[2::3]
    more = ["mxnet_onednn_share_threads"] if library == LIBRARIES["onednn"] else []
    assert symbols == ["mxacc_get_api", *more]


def test_is_gone_once_it_is_unloaded(accelerators, library):
    script = """
import sys
from mxacc_check.plugin import Plugin

is_mapped = lambda: any(sys.argv[1] in line for line in open("/proc/self/maps"))
plugin = Plugin(sys.argv[1])
print(is_mapped())
plugin.close()
print(is_mapped())
"""
    # Another process, as plans of this one may compute with the threads of a library.
    assert run(sys.executable, "-c", script, accelerators / library).split() == ["True", "False"]
