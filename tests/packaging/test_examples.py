"""The examples build and work, with g++ and with clang++, against this very runtime."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from .locations import ROOT

EXAMPLES = ROOT / "examples"
COMPILERS = {"gcc": ("gcc", "g++"), "clang": ("clang", "clang++")}


def run(command: list, folder: Path, **environ: str) -> str:
    """What a command prints; its words where it fails."""
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env={**os.environ, **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def pip_install(source: Path, folder: Path, **environ: str) -> Path:
    """Installs a package into a folder, from a copy, so that nothing is left beside its source."""
    copy = folder / "source"
    shutil.copytree(source, copy)
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--target", folder / "installed"]
    run([sys.executable, "-m", "pip", "install", *options, copy], folder, **environ)
    check_wheel(folder / "installed")
    return folder / "installed"


def check_wheel(installed: Path) -> None:
    """It serves all Pythons: its library's name has no version, and has nothing that -g adds."""
    (wheel,) = installed.glob("*.dist-info/WHEEL")
    tags = [line for line in wheel.read_text().splitlines() if line.startswith("Tag: ")]
    assert tags and all(tag.startswith("Tag: py3-none-linux_") for tag in tags)
    (library,) = installed.glob("*/*.so")
    assert library.name.count(".") == 1 and b".debug_info" not in library.read_bytes()


def by_setup(source: Path, folder: Path, **environ: str) -> Path:
    """A build without pip, in a copy."""
    shutil.copytree(source, folder / "source")
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    run(command, folder / "source", **environ)
    return folder / "source"


def by_itself(source: Path, folder: Path, **environ: str) -> Path:
    """What compiles when it is used."""
    return folder


def by_make(source: Path, folder: Path, **environ: str) -> Path:
    run(["make", f"BUILD={folder}", f"PYTHON={sys.executable}"], source, **environ)
    return folder


def by_cmake(source: Path, folder: Path, **environ: str) -> Path:
    """The same, laid out as an installed package."""
    options = [f"-DPython_EXECUTABLE={sys.executable}", f"-DCMAKE_INSTALL_PREFIX={folder}"]
    run(["cmake", "-S", source, "-B", folder / "build", *options], folder, **environ)
    run(["cmake", "--build", folder / "build", "--target", "install"], folder, **environ)
    shutil.copytree(source / "polynomial", folder / "polynomial", dirs_exist_ok=True)
    return folder


POLYNOMIAL = """
import inspect, numpy, polynomial
x = numpy.arange(6.0).reshape(2, 3)
result = numpy.from_dlpack(polynomial.evaluate(x, coefficients=[1, 0, 2]))
assert (result == 1 + 2 * x * x).all() and result.shape == (2, 3)
assert list(polynomial.derivative([5, 1, 2])) == [1, 4]
assert list(inspect.signature(polynomial.evaluate).parameters) == ["x", "coefficients"]
try:
    polynomial.evaluate(x.astype("float32"), [1])
except TypeError as error:
    assert "float64" in str(error)
else:
    raise AssertionError
"""
WORDCOUNT = """
import wordcount
assert wordcount.most_common("a rose is a rose is a rose", n=2) == ["a", "rose"]
assert dict(wordcount.count("B b", ignore_case=False)) == {"B": 1, "b": 1}
"""

# One way of building with each compiler: pip takes a while.
CASES = [
    ("package_cmake", "gcc", pip_install, POLYNOMIAL, ["cmake", "scikit_build_core"]),
    ("package_cmake", "clang", by_cmake, POLYNOMIAL, ["cmake"]),
    ("package_setuptools", "gcc", pip_install, WORDCOUNT, []),
    ("package_setuptools", "clang", by_setup, WORDCOUNT, []),
    ("plain_c", "gcc", by_make, None, ["make", "pkg-config"]),
    ("plain_c", "clang", by_make, None, ["make", "pkg-config"]),
    ("stateful", "gcc", by_itself, None, []),
    ("stateful", "clang", by_itself, None, []),
]


@pytest.mark.parametrize(("example", "compiler", "build", "script", "tools"), CASES)
def test_example(tmp_path, example, compiler, build, script, tools):
    cc, cxx = COMPILERS[compiler]
    for tool in (cc, cxx, *tools):
        if shutil.which(tool) is None and find_spec(tool.replace("-", "_")) is None:
            pytest.skip(f"{tool} is not installed")
    installed = build(EXAMPLES / example, tmp_path, CC=cc, CXX=cxx)
    if script is None:
        environ = {"CC": cc, "CXX": cxx, "MXFFI_CACHE_DIR": str(tmp_path / "cache")}
        run([sys.executable, EXAMPLES / example / "use.py", installed], tmp_path, **environ)
    else:
        path = os.pathsep.join([str(installed), os.environ.get("PYTHONPATH", "")])
        run([sys.executable, "-c", script], tmp_path, PYTHONPATH=path)


def test_checkpoint_to_accelerator(tmp_path):
    """The example in cells, as a program."""
    pytest.importorskip("sklearn")
    example = EXAMPLES / "checkpoint_to_accelerator.py"
    told = run([sys.executable, example], tmp_path, TMPDIR=str(tmp_path))
    assert "digits are read on mymodel(0)" in told
    assert "mymodel: 1 of 4 nodes; on cpu: Gemm x2, Softmax x1" in told
    assert example.read_text().count("\n# %% ") == 6


@pytest.mark.parametrize("option", ["includedir", "libdir", "cmakedir", "pkgconfigdir"])
def test_the_folders_that_are_told_exist(tmp_path, option):
    told = run([sys.executable, "-m", "ffi", f"--{option}"], tmp_path).strip()
    assert Path(told).is_dir()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--gdb"], ["source {gdb}"]),
        (["--cflags"], ["-I{include}"]),
        (["--ldflags"], ["-L{lib} -lmxnet_runtime"]),
        (["--libdir", "--includedir"], ["{lib}", "{include}"]),
    ],
)
def test_what_the_command_line_prints(tmp_path, arguments, expected):
    import ffi.config

    folders = {"include": ffi.config.include_dir(), "lib": ffi.config.lib_dir()}
    folders["gdb"] = ffi.config.gdb_printers()
    told = run([sys.executable, "-m", "ffi", *arguments], tmp_path)
    assert sorted(told.splitlines()) == sorted(line.format(**folders) for line in expected)


@pytest.mark.parametrize(
    ("asked", "found"),
    [("0.1", True), ("0.1.0", True), ("0.0", False), ("0.2", False), ("1", False)],
)
def test_the_version_that_cmake_finds(tmp_path, asked, found):
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    import ffi.config

    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.18)\nproject(version LANGUAGES NONE)\n"
        f'find_package(mxffi {asked} CONFIG)\nmessage("found=${{mxffi_FOUND}}")\n'
    )
    told = run(["cmake", f"-Dmxffi_DIR={ffi.config.cmake_dir()}", "."], tmp_path)
    assert f"found={int(found)}" in told


def test_pkg_config_moves_with_the_package(tmp_path):
    if shutil.which("pkg-config") is None:
        pytest.skip("pkg-config is not installed")
    import ffi.config

    moved = tmp_path / "lib" / "pkgconfig"
    shutil.copytree(ffi.config.pkgconfig_dir(), moved)
    told = run(["pkg-config", "--cflags", "--libs", "mxffi"], tmp_path, PKG_CONFIG_PATH=str(moved))
    flags = [os.path.normpath(word[2:]) for word in told.split() if word[:2] in ("-I", "-L")]
    assert flags == [str(tmp_path / "include"), str(tmp_path / "lib")]
