"""ffi.trace: what is recorded of a call, by whom, and how it is shown."""

import contextlib
import json
import re
import threading

import numpy
import pytest

import ffi


def recorded(function, *args):
    """The record of one call of a function."""
    with ffi.trace() as t:
        function(*args)
    (call,) = [call for call in t.calls if call.name == function.name and call.depth == 0]
    return call


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (-(2**63), str(-(2**63))),
        (2**64 - 1, str(2**64 - 1)),
        (1.5, "1.5"),
        (True, "True"),
        (None, "None"),
        (1 - 2j, "(1-2j)"),
        ("text", "'text'"),
        ("äöü 🙂", "'äöü 🙂'"),
        ("a\0\n\x7f", "'a\\x00\\x0a\\x7f'"),
        ("x" * 33, "'" + "x" * 32 + "...'"),
        ("é" * 17, "'" + "é" * 16 + "...'"),
        (b"abc", "bytes of 3"),
        ((), "()"),
        ((3,), "(3,)"),
        ((3, 4), "(3, 4)"),
        ([3, 4], "[3, 4]"),
        (list(range(10)), "[0, 1, 2, 3, 4, 5, 6, 7, ...]"),
        ((1, "a"), "tuple of 2"),
        ([1, "a", None], "list of 3"),
        ({"a": 1}, "dict of 1"),
        (float, "float64"),
        (numpy.float32, "float32"),
        (ffi.cpu(1), "cpu(1)"),
        (numpy.ones((3, 4), "int8"), "int8[3, 4]"),
        (numpy.ones(()), "float64[]"),
        (ffi.convert(numpy.ones(3)), "float64[3]"),
        (ffi.Array([1, 2]), "Array of 2"),
        (ffi.Map({"a": 1}), "Map of 1"),
        (ffi.get_global_func("testing.nop"), "function testing.nop"),
    ],
    ids=repr,
)
def test_argument(value, text):
    assert recorded(ffi.get_global_func("testing.nop"), value, value).arguments == f"{text}, {text}"


@pytest.mark.parametrize(
    ("value", "text"),
    [("text", "'text'"), (b"a", "bytes of 1"), ((1, 2), "(1, 2)"), ([1, 2], "Array of 2")],
)
def test_result(echo, value, text):
    call = recorded(echo, value)
    assert (call.result, call.error) == (text, None)


@pytest.mark.parametrize(
    ("keyword", "text"), [("b", "b"), ('a\n"\\', 'a\\x0a"\\'), ("x" * 33, "x" * 32 + "...")]
)
def test_keyword(tmp_path, keyword, text):
    overloaded = ffi.get_global_func("testing.overloaded")
    with ffi.trace() as t, contextlib.suppress(TypeError):
        overloaded(1, **{keyword: 2})
    (call,) = [call for call in t.calls if call.name == overloaded.name]
    assert call.arguments == f"1, {text}=, 2"
    t.save(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
    assert call.arguments in [event["args"].get("arguments") for event in events]


@pytest.mark.parametrize("name", ["testing.throw_error", "testing.return_error"])
@pytest.mark.parametrize(
    ("message", "text"),
    [("bäd\n", "ValueError: bäd\\x0a"), ("x" * 300, "ValueError: " + "x" * 200 + "...")],
)
def test_error(name, message, text):
    with ffi.trace() as t:
        with pytest.raises(ValueError):
            ffi.get_global_func(name)("ValueError", message)
    (call,) = [call for call in t.calls if call.name == name]
    assert (call.result, call.error) == (None, text)


def test_many_arguments():
    call = recorded(ffi.get_global_func("testing.nop"), *range(10**6, 10**6 + 1000))
    assert call.arguments.startswith("1000000, 1000001, ")
    assert call.arguments.endswith(", ...")
    assert len(call.arguments) < 300


def test_nesting(echo, call):
    """Calls that C++ and callbacks make are recorded, and lie within their callers' time."""
    with ffi.trace() as t:
        call(call, lambda value: echo(value), "text")
    calls = [c for c in t.calls if c.name in ("ffi.call", "ffi.echo")]
    assert [(c.name, c.depth) for c in calls] == [
        ("ffi.call", 0),
        ("ffi.call", 1),
        ("ffi.echo", 3),
    ]
    for outer, inner in zip(calls, calls[1:], strict=False):
        assert outer.start <= inner.start
        assert inner.start + inner.duration <= outer.start + outer.duration
    assert {c.thread for c in calls} == {threading.get_native_id()}


class Nameless:
    def __call__(self):
        pass

    @property
    def __name__(self):
        raise ValueError("none")


def test_callbacks_have_their_names(call):
    def named():
        pass

    with ffi.trace() as t:
        for callback in (named, lambda: None, Nameless(), print):
            call(callback)
    assert [c.name for c in t.calls if c.depth == 1] == ["named", "<lambda>", "Nameless", "print"]


SHOWN = """
import ffi
with ffi.trace() as t:
    try:
        ffi.get_global_func("testing.throw_error")("ValueError", "text")
    except ValueError:
        pass
print([call.name for call in t.calls])
"""


def test_how_an_error_is_shown_is_not_recorded(run_python):
    done = run_python(SHOWN)
    assert done.stdout == "['testing.throw_error']\n", done.stdout + done.stderr


def test_traces_record_each_for_itself(echo):
    outer, inner = ffi.trace(), ffi.trace()
    with outer:
        echo(1)
        with inner:
            echo(2)
        echo(3)
    echo(4)

    def of_echo(trace):
        return [call.arguments for call in trace.calls if call.name == "ffi.echo"]

    assert of_echo(outer) == ["1", "2", "3"]
    assert of_echo(inner) == ["2"]


def test_threads(echo):
    """Every thread's calls are there, under its number, whatever ran at the same time."""
    start = threading.Barrier(4)
    numbers = {}

    def work(name):
        start.wait()
        numbers[name] = threading.get_native_id()
        for i in range(200):
            echo(name, i)

    with ffi.trace() as t:
        threads = [threading.Thread(target=work, args=(f"t{i}",)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for name, number in numbers.items():
        own = [c.arguments for c in t.calls if c.thread == number and c.name == "ffi.echo"]
        assert own == [f"'{name}', {i}" for i in range(200)]


def test_room(echo):
    with ffi.trace(max_calls=3) as t:
        for i in range(10):
            echo(i)
    assert [call.arguments for call in t.calls] == ["0", "1", "2"]
    assert t.dropped == 7
    assert "... and 7 calls more than max_calls=3" in str(t)


def test_table(echo, call):
    with ffi.trace() as t:
        for _ in range(3):
            echo(1)
        call(echo, 1)
    header, *rows = t.table().splitlines()
    assert header.split() == ["name", "calls", "total", "mean", "max"]
    counts = {row.split()[0]: row.split()[1] for row in rows}
    assert counts["ffi.echo"] == "4"
    assert counts["ffi.call"] == "1"
    assert all(re.fullmatch(r"\S+ +\d+(  +[\d.e+]+ (ns|us|ms|s)){3}", row) for row in rows)
    assert str(t) == t.table()


def test_saved_trace(echo, tmp_path):
    with ffi.trace() as t:
        echo('quote " and \\ and \n')
        with pytest.raises(KeyError):
            ffi.get_global_func("testing.throw_error")("KeyError", "gone")
    t.save(tmp_path / "trace.json")
    saved = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))
    events = saved["traceEvents"]
    thread = threading.get_native_id()
    names = {event["name"]: event["args"]["name"] for event in events if event["ph"] == "M"}
    assert names["thread_name"] == threading.current_thread().name
    assert names["process_name"]
    assert [event["tid"] for event in events if event["name"] == "thread_name"] == [thread]
    calls = {event["name"]: event for event in events if event["ph"] == "X"}
    assert calls["ffi.echo"]["cat"] == "call"
    assert 'quote " and \\ and \\x0a' in calls["ffi.echo"]["args"]["arguments"]
    assert calls["testing.throw_error"]["args"]["error"] == "KeyError: gone"
    for event, call in zip(calls.values(), t.calls, strict=False):
        assert event["ts"] == pytest.approx(call.start * 1e6, abs=1e-2)
        assert event["dur"] == pytest.approx(call.duration * 1e6, abs=1e-2)


def test_a_trace_serves_once(echo):
    t = ffi.trace()
    with pytest.raises(RuntimeError, match="has not started"):
        str(t)
    with t:
        pass
    with pytest.raises(RuntimeError, match="serves one"):
        t.__enter__()


@pytest.mark.parametrize(("max_calls", "error"), [(-1, ValueError), ("many", TypeError)])
def test_rejected_room(max_calls, error):
    with pytest.raises(error, match=r"ffi\.trace\.start: argument 0 \('max_calls'\)"):
        ffi.trace(max_calls).__enter__()


@pytest.mark.parametrize("name", ["stop", "calls", "dropped", "json"])
def test_only_traces_are_taken(name):
    with pytest.raises(TypeError, match=rf"ffi\.trace\.{name}: argument 0 \('trace'\) expected"):
        ffi.get_global_func(f"ffi.trace.{name}")(ffi.Array([]))


def test_readable(echo):
    assert repr(ffi.trace()) == "<ffi.trace, not started>"
    with ffi.trace() as t:
        echo("x")
    assert repr(t) == "<ffi.trace, 1 calls>"
    assert re.fullmatch(r"<TraceCall ffi.echo\('x'\) -> 'x', .* [num]?s>", repr(t.calls[0]))
