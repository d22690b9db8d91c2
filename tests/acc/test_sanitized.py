"""Which leaks are ours: what tools/check_sanitized_accelerators.py makes of a report."""

from pathlib import Path

import pytest

from tools.check_sanitized_accelerators import PROGRAMS, own_leaks

SANITIZER = "/usr/lib/gcc/x86_64-linux-gnu/12/libasan.so in __interceptor_malloc asan.cpp:69"
STANDARD = "/lib/x86_64-linux-gnu/libstdc++.so.6 in std::string::reserve"
RUNTIME = (
    "/packages/ffi/lib/libmxnet_runtime.so in mxnet::acc::Device::AllocRaw "
    "src/acc/device/device.cc:1"
)
REFACC = "/tmp/librefacc.so in refacc::NewBlock block.cc:74"
CYTHON = "/packages/ffi/_cython/core.cpython-311-x86_64-linux-gnu.so in call_function core.cpp:30"
INTERPRETER = "/usr/lib/libpython3.11.so.1.0 in PyFloat_FromDouble Objects/floatobject.c:149"
OTHER = "/usr/bin/git in <null> <null>"
UNLOADED = "<null> in <null> <null>"

REPORTS = {
    "runtime": ([SANITIZER, RUNTIME, CYTHON, INTERPRETER], True),
    "through the standard library": ([SANITIZER, STANDARD, RUNTIME], True),
    "library": ([SANITIZER, REFACC, RUNTIME], True),
    "library that was unloaded": ([SANITIZER, UNLOADED, RUNTIME], True),
    "boundary": ([SANITIZER, CYTHON, INTERPRETER], True),
    "interpreter": ([SANITIZER, INTERPRETER], False),
    "interpreter, called by the boundary": ([SANITIZER, INTERPRETER, CYTHON], False),
    "another program": ([SANITIZER, OTHER, UNLOADED], False),
    "no frame": ([SANITIZER], False),
}


@pytest.mark.parametrize(("modules", "ours"), REPORTS.values(), ids=REPORTS)
@pytest.mark.parametrize(
    ("program", "looked_at"), [*((name, True) for name in PROGRAMS), ("ld.bfd", False)]
)
def test_leaks_are_of_who_allocated(
    tmp_path: Path, modules: list[str], ours: bool, program: str, looked_at: bool
) -> None:
    leak = "Direct leak of 8 byte(s) in 1 object(s) allocated from:\n"
    leak += "\n".join(f"    #{number} {module}" for number, module in enumerate(modules))
    head = "==1==ERROR: LeakSanitizer: detected memory leaks"
    report = tmp_path / f"report.{program}.1"
    report.write_text(f"{head}\n\n{leak}\n\nSUMMARY: 8 byte(s) leaked.\n")
    assert list(own_leaks(tmp_path)) == ([leak] if ours and looked_at else [])
