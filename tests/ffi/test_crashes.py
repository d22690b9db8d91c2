"""What is written where an operation crashes the process."""

import os
import signal

import pytest

ENABLED = """
import faulthandler, resource, sys, threading
import ffi
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
ffi.load_library({path!r})
crash, call = ffi.get_global_func("native.crash"), ffi.get_global_func("ffi.call")
"""


@pytest.fixture
def crash(native, run_python):
    """Runs a script that crashes; gives its exit status and what it wrote."""

    # AddressSanitizer, where the tests run under it, would report the signals itself.
    signals = ("segv", "abort", "sigbus", "sigfpe", "sigill")
    options = ":".join([os.environ.get("ASAN_OPTIONS", ""), *(f"handle_{s}=0" for s in signals)])

    def run(script):
        done = run_python(
            ENABLED.format(path=str(native.path)) + script, ASAN_OPTIONS=options.strip(":")
        )
        return done.returncode, done.stderr

    return run


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (0, "SIGSEGV"),
        (signal.SIGSEGV, "SIGSEGV"),
        (signal.SIGABRT, "SIGABRT"),
        (signal.SIGFPE, "SIGFPE"),
        (signal.SIGBUS, "SIGBUS"),
        (signal.SIGILL, "SIGILL"),
    ],
)
def test_report(crash, number, name):
    status, text = crash(f"ffi.enable_crash_report(); call(crash, {int(number)}, 'x')")
    assert status == -(number or signal.SIGSEGV)
    header, innermost, outer, *rest = text.splitlines()
    assert header.startswith(f"mxffi: {name} in thread ")
    assert header.endswith(", which runs these registered functions, the last called first:")
    assert innermost.startswith("  native.crash with 2 arguments, ")
    assert "native_ops.cc:" in innermost
    assert outer.startswith("  ffi.call with 3 arguments, ")
    assert any("Current thread" in line for line in rest), "faulthandler follows"


def test_other_thread(crash):
    script = """
ffi.enable_crash_report()
thread = threading.Thread(target=crash, args=(0, "x")); thread.start(); thread.join()
"""
    status, text = crash(script)
    assert status == -signal.SIGSEGV
    assert "  native.crash with 2 arguments" in text


def test_outside_of_functions(crash):
    status, text = crash("ffi.enable_crash_report(); faulthandler._sigsegv()")
    assert status == -signal.SIGSEGV
    assert ", which runs no registered function\n" in text


def test_file(crash, tmp_path):
    script = f"""
with open({str(tmp_path / "report")!r}, "w") as file:
    ffi.enable_crash_report(file)
    crash(0, "x")
"""
    assert crash(script) == (-signal.SIGSEGV, "")
    assert "  native.crash with 2 arguments" in (tmp_path / "report").read_text()


@pytest.mark.parametrize("script", ["", "ffi.enable_crash_report(); ffi.disable_crash_report()\n"])
def test_disabled(crash, script):
    assert crash(script + "crash(0, 'x')") == (-signal.SIGSEGV, "")


REGISTERED = """
enable = ffi.get_global_func("ffi.crash_report.enable")
disable = ffi.get_global_func("ffi.crash_report.disable")
"""


@pytest.mark.parametrize(
    ("script", "reports"),
    [
        ("enable(2); faulthandler.enable(); crash(0, 'x')", 1),
        ("enable(2); faulthandler.enable(); disable(); crash(0, 'x')", 0),
        ("enable(2); faulthandler.enable(); disable(); enable(2); crash(0, 'x')", 1),
        ("faulthandler.enable(); enable(2); faulthandler.disable(); enable(2); crash(0, 'x')", 1),
    ],
    ids=["above", "disabled below another", "below and above another", "removed by another"],
)
def test_another_handler(crash, script, reports):
    status, text = crash(REGISTERED + script)
    assert status == -signal.SIGSEGV
    assert text.count("mxffi: SIGSEGV") == reports
