"""What the tests of accelerators share."""

import fcntl
import functools
import gc
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import mx
from mx._library import PATH as OPERATORS
from mxacc_check.plugin import AccError, Plugin

ROOT = Path(__file__).resolve().parent.parent.parent

# What is ours alone, and so the only ones for which compilers take their time with sanitizers.
SANITIZED = ("refacc", "template")


def pytest_collection_modifyitems(items) -> None:
    """That an operator runs on the CPU is nothing to stop at here."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.filterwarnings("ignore::mx.AccFallbackWarning"))


@pytest.fixture(scope="session", autouse=True)
def costs_do_not_count() -> Iterator[None]:
    """The device executes what it can, however small: what that costs is no matter of most tests,
    and measuring it calls the library. Others give PartitionedPlan `costs`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MXNET_ACC_COSTS", "0")
        yield


def build(folder: Path, *targets: str) -> None:
    """Runs make in accelerators/; the libraries are in the folder then."""
    sanitizers = os.environ.get("MXFFI_SANITIZE")
    flags = f"-Og -g1 -fno-omit-frame-pointer -fsanitize={sanitizers}" if sanitizers else "-O1"
    command = ["make", "--silent", "-j2", "-C", ROOT / "accelerators", f"OUT={folder}"]
    # For one kind of GPU, which takes a third of the time; what is later takes it, too.
    command += [f"PYTHON={sys.executable}", f"OPTIMIZE={flags}", "ARCHS=75"]
    # A sanitizer that is preloaded into this process has no business in the compiler.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    # One run of tests at a time: the next finds all that it compiles in the compilers' cache.
    lock = os.open(ROOT / "accelerators", os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run([*command, *targets], check=True, env=environment)
    finally:
        os.close(lock)


@pytest.fixture(scope="session")
def accelerators(tmp_path_factory) -> Path:
    """The folder of all libraries of accelerators/, built by its one command, or before."""
    if built := os.environ.get("MXFFI_TEST_ACCELERATORS"):
        return Path(built)
    folder = tmp_path_factory.mktemp("accelerators")
    build(folder, *(SANITIZED if os.environ.get("MXFFI_SANITIZE") else ()))
    return folder


@pytest.fixture(scope="session")
def cuda_on_cpu(accelerators) -> Path:
    """The library of accelerators/cuda as it is but for its devices, which are the CPU."""
    build(accelerators, "cuda-cpu")
    return accelerators / "cuda" / "libcudaacc_cpu.so"


@functools.cache
def missing_for(kind: str) -> str:
    """What is not there to build a library of accelerators/, or nothing."""
    if os.environ.get("MXFFI_SANITIZE") and kind not in SANITIZED:
        return f"with sanitizers there are only {' and '.join(SANITIZED)}"
    command = ["make", "--silent", "-C", ROOT / "accelerators" / kind, "missing"]
    command += [f"PYTHON={sys.executable}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def need(kind: str) -> None:
    """Skips the test where a library of accelerators/ cannot be built for want of something."""
    if missing := missing_for(kind):
        pytest.skip(f"{kind} is not built: {missing}")


def open_usable(library: Path) -> Plugin:
    """The library, initialized; skips the test where it has no device."""
    plugin = Plugin(library)
    try:
        plugin.num_devices()
    except AccError as error:
        plugin.close()
        what = "a CUDA GPU" if library.name == FILES["cuda"] else "a device"
        pytest.skip(f"needs {what}: {error.message}")
    return plugin


@pytest.fixture
def load(accelerators, monkeypatch) -> Iterator[Callable[..., Plugin]]:
    """Loads lib<name>.so with settings in its environment; unloads it after the test."""
    loaded = []

    def load(name="refacc", /, initialize=True, sizes=(), **settings) -> Plugin:
        for key, value in settings.items():
            monkeypatch.setenv(f"{name}_{key}".upper(), str(value))
        path = accelerators / f"lib{name}.so"
        if not path.exists():
            need(name)
        plugin = Plugin(path, initialize, **dict(sizes))
        loaded.append(plugin)
        return plugin

    yield load
    for plugin in loaded:
        plugin.close()


# Each is a library of its own, as one library has one name: what it is built as, and its settings.
VARIANTS: dict[str, tuple[str, dict[str, str]]] = {
    "myacc": ("template", {}),
    "onednn": ("onednn", {}),
    "opencl": ("opencl", {}),
    "refacc": ("refacc", {"DEVICES": "2"}),
    "refdense": ("refacc", {"STRIDES": "0", "THREADS": "one", "GUARD": "pages"}),
    "refvisible": ("refacc", {"HANDLES": "address"}),
    "myalone": ("template", {}),
    "refalone": ("refacc", {"RUNTIME": OPERATORS}),
}
# Those that have a process of their own.
ISOLATED = {"myalone", "refalone"}
FILES = {
    "cuda": "libcudaacc.so",
    "template": "libmyacc.so",
    "onednn": "libonednn.so",
    "opencl": "libopencl.so",
    "openvino": "libopenvinoacc.so",
    "refacc": "librefacc.so",
}


@pytest.fixture(scope="package", params=VARIANTS)
def variant(request, accelerators, tmp_path_factory) -> Iterator[tuple[str, Path]]:
    """The name of an accelerator that is loaded, and its library."""
    kind, settings = VARIANTS[request.param]
    if not (accelerators / FILES[kind]).exists():
        need(kind)
    library = tmp_path_factory.mktemp(request.param) / FILES[kind]
    shutil.copy(accelerators / FILES[kind], library)
    with pytest.MonkeyPatch.context() as patch:
        for key, value in settings.items():
            patch.setenv(f"REFACC_{key}", value)
        mx.load_acc(library, request.param, request.param in ISOLATED)
    yield request.param, library
    if kind == "refacc":
        for device in mx.test_utils.list_acc(mx.Context(request.param)):
            answer = mx.Context(request.param, device).configure(check=1)
            assert answer["violations"] == "0", answer
    mx.unload_acc(request.param)


@pytest.fixture
def ctx(variant) -> mx.Context:
    """The first device of an accelerator."""
    return mx.Context(variant[0])


@pytest.fixture
def isolated(variant) -> bool:
    """Whether the accelerator has a process of its own."""
    return variant[0] in ISOLATED


@pytest.fixture
def library(variant) -> Path:
    """The library of the accelerator that is loaded."""
    return variant[1]


@pytest.fixture
def load_refacc(accelerators, monkeypatch) -> Iterator[Callable[..., mx.Context]]:
    """Loads librefacc.so under a name with settings; unloads it once the test's arrays are gone."""
    names = set()

    def load(name: str, isolate: bool = False, **settings: str) -> mx.Context:
        for key, value in settings.items():
            monkeypatch.setenv(f"REFACC_{key}", value)
        names.add(name)
        return mx.load_acc(accelerators / FILES["refacc"], name, isolate)

    yield load
    gc.collect()
    for name in names:
        mx.unload_acc(name)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C is a KeyboardInterrupt, also where tests run in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def compile_library() -> Callable[[Path, str], Path]:
    """Compiles the C code of a library with the vendor's header; returns its path."""

    def compile(folder: Path, source: str) -> Path:
        text = f"#include <mxnet_acc.h>\n#include <stdlib.h>\n#include <string.h>\n{source}\n"
        (folder / "bad.c").write_text(text)
        library = folder / "libbad.so"
        command = ["cc", "-shared", "-fPIC", "-w", f"-I{ROOT / 'include'}", "bad.c", "-o", library]
        subprocess.run(command, check=True, cwd=folder)
        return library

    return compile
