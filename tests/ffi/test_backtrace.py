"""Tracebacks that name the lines of C++ code."""

import traceback
from pathlib import Path

import pytest

import ffi

SOURCE = Path(__file__).parent / "native_ops.cc"
LINES = SOURCE.read_text().splitlines()


def line(mark):
    """Number of the line of the native operators that is marked with a comment."""
    (number,) = [i + 1 for i, text in enumerate(LINES) if text.endswith(f"// line: {mark}")]
    return number


@pytest.fixture
def backtrace():
    yield ffi.set_backtrace
    ffi.set_backtrace(None)


def entries_of(function, *args):
    """Line and function of each entry of a traceback that lies in the native operators."""
    with pytest.raises(Exception) as caught:
        function(*args)
    entries = traceback.extract_tb(caught.value.__traceback__)
    return [(entry.lineno, entry.name) for entry in entries if Path(entry.filename) == SOURCE]


def lines_of(function, *args):
    """The lines inside the functions, without those where the functions are registered."""
    entries = entries_of(function, *args)
    return [number for number, name in entries if not name.startswith("native.")]


def reject_in_python(value):
    raise ZeroDivisionError(value)


CASES = {
    "of the C++ library": ("native.pick", (7,), ["body", "pick", "at"]),
    "of MXNET_THROW": ("native.reject", (-1,), ["throw"]),
    "from function to function": ("native.call", ("native.reject", -1), ["call", "throw"]),
    "of Python": ("native.call", (reject_in_python, -1), ["call"]),
    "of an argument": ("native.call", (1, 2), ["call"]),
}


@pytest.mark.parametrize(("name", "args", "marks"), CASES.values(), ids=CASES.keys())
@pytest.mark.parametrize("round", ["first", "cached"])
def test_lines(native, name, args, marks, round):
    args = [ffi.get_global_func(a) if a == "native.reject" else a for a in args]
    assert lines_of(native(name), *args) == [line(mark) for mark in marks]


def test_names_of_functions(native):
    registered, *names = [name for _, name in entries_of(native("native.pick"), 7)]
    assert registered == "native.pick"
    assert ["operator()" in names[0], "PickOneMore" in names[1], "Pick" in names[2]] == [True] * 3


def test_off(native, backtrace):
    backtrace(False)
    assert lines_of(native("native.pick"), 7) == []
    assert lines_of(native("native.reject"), -1) == [line("throw")], "it says so itself"


def test_a_failure_in_between_gets_no_lines_of_another(native):
    """An error by code, after one that was thrown."""
    entries_of(native("native.pick"), 7)
    assert entries_of(ffi.get_global_func("testing.return_error"), "ValueError", "m") == []


def test_libraries_without_debug_information(native_release, backtrace):
    """Nothing by default; where asked for, the functions' names at least."""
    pick = ffi.get_global_func(native_release)

    def names():
        with pytest.raises(IndexError) as caught:
            pick(7)
        return [entry.name for entry in traceback.extract_tb(caught.value.__traceback__)]

    assert not any("PickRelease" in name for name in names())
    backtrace(True)
    assert any("PickRelease" in name for name in names())


def test_without_a_symbolizer(native, run_python):
    script = f"""
import ffi, traceback
ffi.load_library({str(native.path)!r})
try:
    ffi.get_global_func("native.pick")(7)
except IndexError as error:
    print([e.name for e in traceback.extract_tb(error.__traceback__) if e.filename[-3:] == ".cc"])
"""
    done = run_python(script, PATH="/nowhere")
    assert (done.stdout, done.stderr) == ("['native.pick']\n", "")


@pytest.mark.parametrize(("setting", "count"), [("0", 1), ("1", 4), (None, 4)])
def test_environment(native, run_python, setting, count):
    script = f"""
import ffi, traceback
ffi.load_library({str(native.path)!r})
try:
    ffi.get_global_func("native.pick")(7)
except IndexError as error:
    entries = traceback.extract_tb(error.__traceback__)
    print(len([entry for entry in entries if entry.filename.endswith(".cc")]))
"""
    done = run_python(script, MXNET_BACKTRACE=setting)
    assert (done.stdout, done.stderr) == (f"{count}\n", "")
