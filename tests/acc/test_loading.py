"""Loading accelerator libraries: what is made of good ones, and what is said of others."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import mx


def test_the_library_is_known(ctx: mx.Context, library: Path, isolated: bool) -> None:
    name = ctx.device_type
    row = next(row for row in mx.accelerators() if row.name == name)
    assert row.path == str(library)
    assert [device.context for device in row.devices] == [
        getattr(mx, name)(i) for i in mx.test_utils.list_acc(ctx)
    ]
    assert name in repr(mx.accelerators())
    assert (row.process is not None) == isolated
    for path in (library, os.path.relpath(library)):
        assert mx.load_acc(path, isolate=isolated) == ctx
    assert getattr(mx, name)() == getattr(mx, name)(0) == ctx


def write(text: bytes) -> Callable[[Path, Path], Path]:
    """A file with that content."""

    def make(folder: Path, library: Path) -> Path:
        file = folder / "libbad.so"
        file.write_bytes(text)
        return file

    return make


def truncated(size: int) -> Callable[[Path, Path], Path]:
    """The first bytes of a good library."""

    def make(folder: Path, library: Path) -> Path:
        file = folder / "libshort.so"
        file.write_bytes(library.read_bytes()[:size])
        return file

    return make


def foreign(library: bytes) -> bytes:
    """The library as if it were one of a big-endian SPARC."""
    head = bytearray(library[:64])
    head[5] = 2
    head[16:20] = (3).to_bytes(2, "big") + (43).to_bytes(2, "big")
    return bytes(head) + library[64:]


def of_another_processor(folder: Path, library: Path) -> Path:
    return write(foreign(library.read_bytes()))(folder, library)


def two_in_a_folder(folder: Path, library: Path) -> Path:
    for name in ("libone.so", "libtwo.so"):
        shutil.copy(library, folder / name)
    return folder


FILES: dict[str, tuple[Callable[[Path, Path], Path], type[Exception], str]] = {
    "no file": (lambda f, _: f / "none.so", FileNotFoundError, "no such file"),
    "empty folder": (lambda f, _: f, FileNotFoundError, "holds no library"),
    "two in a folder": (two_in_a_folder, ValueError, "several .* name one: libone.so, libtwo.so"),
    "through a file": (lambda f, lib: lib / "libx.so", FileNotFoundError, "no such file"),
    "another processor": (
        of_another_processor,
        ImportError,
        "built for ELF machine 43 .64 bits, big endian., this process runs on .* .64 bits",
    ),
    "archive": (write(b"!<arch>\nx"), ImportError, "it is a static archive"),
    "device": (lambda f, _: Path("/dev/null"), ImportError, "it is not a regular file"),
    "text": (write(b"hello, this is no library"), ImportError, "it is no ELF"),
    "empty": (write(b""), ImportError, "the file is empty"),
    "truncated": (truncated(4096), ImportError, "the file ends before the library does"),
    "head alone": (truncated(64), ImportError, "the file ends before the library does"),
}


@pytest.mark.parametrize("make, error, message", FILES.values(), ids=FILES)
def test_rejects_files(
    tmp_path: Path,
    library: Path,
    make: Callable[[Path, Path], Path],
    error: type[Exception],
    message: str,
) -> None:
    with pytest.raises(error, match=message):
        mx.load_acc(make(tmp_path, library))


# C code of libraries that hold no promise; each is compiled with the vendor's header.
ENTRY = (
    "MXAccStatus mxacc_get_api(const MXAccRuntime* runtime, MXAccApi* api) {{ (void)runtime; {} }}"
)
NAME = "static MXAccStatus name(void* self, char* n, size_t s) {{ strcpy(n, {}); return 0; }}"
FAIL = '{{ static const MXAccError e = {{sizeof(MXAccError), kMXAcc{}, "{}"}}; return &e; }}'
INIT = "static MXAccStatus init(void* self, const MXAccRuntime* h) { (void)h; return 0; }"
COUNT = "static MXAccStatus count(void* self, int32_t* n) {{ *n = {}; return 0; }}"
FILL = (
    "api->struct_size = sizeof(*api); api->abi_major = 1; api->abi_minor = 0; "
    "api->getAccName = name; api->getNumAcc = count; api->initialize = init; {} return 0;"
)


def complete(name: str = '"bad"', count: str = "1", more: str = "") -> str:
    """A whole library with one thing that is wrong."""
    parts = (NAME.format(name), INIT, COUNT.format(count), ENTRY.format(FILL.format(more)))
    return "\n".join(parts)


HOSTILE: dict[str, tuple[str, str]] = {
    "no entry": (
        "int something;",
        "it has no function mxacc_get_api, nor getAccName and getNumAcc",
    ),
    "undefined symbol": (
        complete(more="{ extern void not_there(void); not_there(); }"),
        "undefined symbol 'not_there'",
    ),
    "empty table": (ENTRY.format("(void)api; return 0;"), "version 0.0 of mxnet_acc.h"),
    "rubbish status": (
        ENTRY.format("(void)api; return (MXAccStatus)12345;"),
        "gave no MXAccError to say why",
    ),
    "odd status": (
        ENTRY.format("static char t[64]; (void)api; return (MXAccStatus)(t + 1);"),
        "gave no MXAccError to say why",
    ),
    "another version": (complete(more="api->abi_major = 7;"), "version 7.0 of mxnet_acc.h, this"),
    "small table": (complete(more="api->struct_size = 8;"), "the size of its table as 8"),
    "large table": (
        complete(more="api->struct_size = 1 << 20;"),
        "the size of its table as 1048576",
    ),
    "rubbish function": (
        complete(more="api->mx_alloc = (void*)64;"),
        "mx_free|no function at the address of mx_alloc",
    ),
    "half of memory": (
        complete(more="api->mx_free = (void*)abort;api->mx_alloc = (void*)abort;"),
        "its table lacks copyToAcc",
    ),
    "name with a control character": (complete('"b\\aad"'), "names itself 'b ad'"),
    "empty name": (complete('""'), "names itself ''"),
    "taken name": (complete('"np"'), "which is taken by mx.np"),
    "name of the CPU": (complete('"cpu"'), "taken by"),
    "no device": (complete(count="0"), "cannot load .*libbad.so: it finds no device"),
    "no device, with a reason": (
        complete().replace(
            "{ (void)h; return 0; }", FAIL.format("NoDevice", "no card is plugged in")
        ),
        "cannot load .*libbad.so: initialize failed: no card is plugged in",
    ),
    "failing count": (
        complete().replace("*n = 1; return 0;", FAIL.format("Failed", "the bus is down")),
        "cannot load .*libbad.so: getNumAcc failed: the bus is down",
    ),
    "rejected": (
        complete().replace("{ (void)h; return 0; }", FAIL.format("Rejected", "too old an MXNet")),
        "cannot load .*libbad.so: initialize failed: too old an MXNet",
    ),
    "rejected by the entry": (
        ENTRY.format("(void)api; " + FAIL.format("Rejected", "too old an MXNet")),
        "cannot load .*libbad.so: mxacc_get_api failed: too old an MXNet",
    ),
    "huge count": (complete(count="2000000000"), "there are 2000000000 devices"),
    "negative count": (complete(count="-1"), "there are -1 devices"),
}


@pytest.mark.parametrize("source, message", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("isolate", [False, True])
def test_rejects_libraries(
    tmp_path: Path,
    compile_library: Callable[[Path, str], Path],
    source: str,
    message: str,
    isolate: bool,
) -> None:
    library = compile_library(tmp_path, source)
    with pytest.raises((ImportError, ValueError, RuntimeError), match=message):
        mx.load_acc(library, isolate=isolate)
    assert "bad" not in [row.name for row in mx.accelerators()]
    assert not hasattr(mx, "bad")


KINDS = {"NoDevice": RuntimeError, "Rejected": ImportError, "OutOfMemory": MemoryError}


@pytest.mark.parametrize("code", KINDS)
def test_kinds_of_rejections(
    tmp_path: Path, compile_library: Callable[[Path, str], Path], code: str
) -> None:
    source = complete().replace("{ (void)h; return 0; }", FAIL.format(code, "because"))
    with pytest.raises(KINDS[code], match="initialize failed: because"):
        mx.load_acc(compile_library(tmp_path, source))


def test_names_a_library_that_is_missing(tmp_path: Path) -> None:
    """One that the library was linked with, and that is not where it was any more."""
    for name, flags in (("needed", []), ("bad", ["-L.", "-Wl,--no-as-needed", "-lneeded"])):
        (tmp_path / f"{name}.c").write_text("int used;\n")
        command = ["cc", "-shared", "-fPIC", f"{name}.c", "-o", f"lib{name}.so", *flags]
        subprocess.run(command, check=True, cwd=tmp_path)
    (tmp_path / "libneeded.so").unlink()
    with pytest.raises(ImportError, match="it needs libneeded.so, which is not found"):
        mx.load_acc(tmp_path / "libbad.so")


def test_a_name_that_another_library_has(tmp_path: Path, ctx: mx.Context, library: Path) -> None:
    other = shutil.copy(library, tmp_path / "libother.so")
    with pytest.raises(ValueError, match=f"the name {ctx.device_type} is taken by {library}; give"):
        mx.load_acc(other, ctx.device_type)


WRONG: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "path": (lambda: mx.load_acc(3), TypeError, "argument 0 \\('path'\\) expected str or a path"),  # type: ignore[arg-type]
    "isolate": (lambda: mx.load_acc("x", "y", 3), TypeError, "argument 2 \\('isolate'\\)"),  # type: ignore[arg-type]
    "name": (lambda: mx.load_acc("x", 3), TypeError, "argument 1 \\('acc_name'\\)"),  # type: ignore[arg-type]
    "taken": (lambda: mx.load_acc("x", "np"), ValueError, "'np' is taken by mx.np"),
    "unload": (lambda: mx.unload_acc("nothing"), ValueError, "no accelerator named 'nothing'"),
    "context": (lambda: mx.Context("nothing"), ValueError, "expected one of"),
    "cpu memory": (lambda: mx.memory_info(mx.cpu()), ValueError, "got cpu\\(0\\)"),
    "cpu option": (lambda: mx.cpu().configure(a=1), ValueError, "got cpu\\(0\\)"),
    "option type": (lambda: mx.cpu().configure(a=[1]), TypeError, "'a' expected str, bool"),
}


@pytest.mark.parametrize("call, error, message", WRONG.values(), ids=WRONG)
def test_rejects_arguments(
    call: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()


def test_a_device_that_is_not_there(ctx: mx.Context) -> None:
    name, count = ctx.device_type, len(mx.test_utils.list_acc(ctx))
    with pytest.raises(ValueError, match=f"there is no {name}\\({count}\\)"):
        mx.np.zeros(3, ctx=getattr(mx, name)(count))


def test_unloads_when_nothing_is_on_it(tmp_path: Path, library: Path, isolated: bool) -> None:
    ctx = mx.load_acc(shutil.copy(library, tmp_path), "passing", isolated)
    array = mx.np.zeros(3, ctx=ctx)
    with pytest.raises(RuntimeError, match="cannot unload passing: 1 arrays or calls use it"):
        mx.unload_acc("passing")
    del array
    mx.unload_acc("passing")
    assert not hasattr(mx, "passing")
    with pytest.raises(ValueError, match="passing is not loaded"):
        mx.np.zeros(3, ctx=ctx)


def test_many_loads_leave_nothing(library: Path, isolated: bool) -> None:
    """In a process of its own, which has no other arrays."""
    script = f"""
import mx, os, resource
def cycle(n):
    for _ in range(n):
        mx.np.zeros((8, 8), ctx=mx.load_acc({str(library)!r}, "passing", {isolated}))
        mx.unload_acc("passing")
def state():
    with open("/proc/self/maps") as maps:
        mapped = sum(1 for line in maps if "/" in line)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return memory, len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task")), mapped
cycle({10 if isolated else 50})
before = state()
cycle({30 if isolated else 300})
print(*(now - then for now, then in zip(state(), before)))
"""
    grown = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    memory, *others = map(int, grown.stdout.split())
    assert memory < 512, "KiB"
    assert others == [0, 0, 0], "descriptors, threads, mapped pieces of files"
