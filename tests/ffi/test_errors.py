"""Errors from C++ to Python and from Python through C++."""

import builtins
import gc
import sys
import traceback
import weakref

import pytest

import ffi

THROWERS = ["testing.throw_error", "testing.return_error"]


class Rejected(Exception):
    """An error class that a test registers; its instances can be weakly referenced."""


class MoreRejected(Rejected):
    pass


class Picky(Exception):
    """A class that a message alone does not make."""

    def __init__(self, first, second):
        super().__init__(first, second)


def stop_process(function, *args):
    """Calls a function that raises and returns the exception, without a reference of its own."""
    try:
        function(*args)
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


@pytest.fixture(params=THROWERS)
def throw(request):
    """Fails with a kind and a message: by a C++ exception, or by an error code."""
    return ffi.get_global_func(request.param)


@pytest.mark.parametrize(
    ("kind", "cls", "text"),
    [
        ("ValueError", ValueError, "m"),
        ("TypeError", TypeError, "m"),
        ("IndexError", IndexError, "m"),
        ("KeyError", KeyError, "'m'"),
        ("MemoryError", MemoryError, "m"),
        ("OverflowError", OverflowError, "m"),
        ("NotImplementedError", NotImplementedError, "m"),
        ("BufferError", BufferError, "m"),
        ("OSError", OSError, "m"),
        ("StopIteration", StopIteration, "m"),
        ("KeyboardInterrupt", KeyboardInterrupt, "m"),
        ("UnknownKind", RuntimeError, "UnknownKind: m"),
        ("UnicodeDecodeError", RuntimeError, "UnicodeDecodeError: m"),
        ("print", RuntimeError, "print: m"),
        ("int", RuntimeError, "int: m"),
        ("RuntimeError", RuntimeError, "m"),
    ],
)
def test_class_of_a_kind(throw, kind, cls, text):
    error = stop_process(throw, kind, "m")
    assert type(error) is cls
    assert str(error) == text


@pytest.mark.parametrize("message", ["", "plain", "two\nlines", "a\0b", "äöü 🙂", "x" * 10_000])
def test_message(throw, message):
    assert stop_process(throw, "ValueError", message).args == (message,)


@pytest.mark.parametrize(
    "register",
    [
        lambda: ffi.register_error("tests.Rejected", Rejected),
        lambda: ffi.register_error("tests.Rejected")(Rejected),
    ],
    ids=["function", "decorator"],
)
def test_registered_class(throw, register):
    assert register() is Rejected
    error = stop_process(throw, "tests.Rejected", "m")
    assert type(error) is Rejected
    assert error.args == ("m",)


def test_class_registered_under_its_own_name(throw):
    assert ffi.register_error(MoreRejected) is MoreRejected
    assert type(stop_process(throw, "MoreRejected", "m")) is MoreRejected


def test_registered_class_that_needs_more(throw):
    ffi.register_error("tests.Picky", Picky)
    error = stop_process(throw, "tests.Picky", "m")
    assert (type(error), str(error)) == (RuntimeError, "tests.Picky: m")


def test_traceback_names_the_cpp_function(throw):
    error = stop_process(throw, "ValueError", "m")
    entries = traceback.extract_tb(error.__traceback__)
    assert entries[0].filename == __file__
    cpp = [entry for entry in entries if entry.filename.endswith("library/functions.cc")]
    assert cpp[0].name == throw.name
    assert all(entry.lineno > 1 for entry in cpp)
    assert entries[-len(cpp) :] == cpp, "the C++ functions are called last"


def test_traceback_names_the_line_of_the_throw():
    throw = ffi.get_global_func("testing.throw_error")
    error = stop_process(throw, "ValueError", "m")
    registered, thrown = traceback.extract_tb(error.__traceback__)[-2:]
    assert registered.name == "testing.throw_error"
    assert thrown.name == "operator()"
    assert thrown.lineno > registered.lineno
    assert "ValueError: m" in "".join(traceback.format_exception(error))


def test_each_error_has_a_traceback_of_its_own(throw):
    first, second = (stop_process(throw, "ValueError", "m") for _ in range(2))
    assert first is not second
    lengths = [len(traceback.extract_tb(error.__traceback__)) for error in (first, second)]
    assert lengths[0] == lengths[1]


@pytest.mark.parametrize(
    "raised",
    [
        ValueError("text", 3),
        Picky(1, 2),
        KeyboardInterrupt(),
        SystemExit(3),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "reason"),
        StopIteration(5),
        GeneratorExit(),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("depth", [1, 2, 5])
def test_python_exception_is_the_same_object(call, raised, depth):
    def fail():
        raise raised

    function = fail
    for _ in range(depth):
        function = (lambda inner: lambda: call(inner))(function)
    assert stop_process(function) is raised
    raised.__traceback__ = None


def test_python_exception_keeps_its_traceback(call):
    def innermost():
        raise Rejected

    def middle():
        innermost()

    error = stop_process(call, middle)
    names = [entry.name for entry in traceback.extract_tb(error.__traceback__)]
    ours = [name for name in names if name in ("ffi.call", "middle", "innermost")]
    assert ours == ["ffi.call", "middle", "innermost"]


def test_python_exception_keeps_its_cause(call):
    def fail():
        try:
            raise KeyError("first")
        except KeyError as error:
            raise Rejected("second") from error

    error = stop_process(call, fail)
    assert error.args == ("second",)
    assert isinstance(error.__cause__, KeyError)


def test_exception_raised_while_another_is_handled(call):
    def fail():
        raise Rejected

    try:
        raise ValueError("outer")
    except ValueError as outer:
        error = stop_process(call, fail)
        assert error.__context__ is outer


def test_callback_that_handles_its_errors(call, throw):
    def recovers():
        try:
            throw("ValueError", "inner")
        except ValueError:
            return "recovered"

    assert call(recovers) == "recovered"


def test_cpp_error_through_a_callback(call, throw):
    error = stop_process(call, lambda: throw("IndexError", "m"))
    assert type(error) is IndexError
    names = [entry.name for entry in traceback.extract_tb(error.__traceback__)]
    assert names.index("ffi.call") < names.index(throw.name)


def test_exception_whose_text_fails(call):
    class Silent(Exception):
        def __str__(self):
            raise ValueError("no text")

    def fail():
        raise Silent

    assert type(stop_process(call, fail)) is Silent


def test_error_that_was_handled_is_not_raised_again(echo, throw):
    stop_process(throw, "ValueError", "m")
    assert echo(1) == 1


@pytest.fixture
def no_collector():
    """Without the cycle collector, what remains alive is in a reference cycle, or leaked."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_cpp_error_is_in_no_cycle(throw, no_collector):
    ffi.register_error("tests.Rejected", Rejected)
    alive = weakref.ref(stop_process(throw, "tests.Rejected", "m"))
    assert alive() is None


@pytest.mark.parametrize("depth", [1, 3])
def test_python_exception_is_in_no_cycle(call, depth, no_collector):
    def fail():
        raise Rejected

    function = fail
    for _ in range(depth):
        function = (lambda inner: lambda: call(inner))(function)
    alive = weakref.ref(stop_process(function))
    assert alive() is None


def test_error_keeps_nothing_of_the_call_alive(throw, no_collector):
    class Argument(str):
        __slots__ = ("__weakref__",)

    argument = Argument("m")
    alive = weakref.ref(argument)
    kept = RuntimeError
    try:
        throw("ValueError", argument)
    except ValueError as error:
        kept = error.with_traceback(None)
    del argument
    assert alive() is None
    assert kept.args == ("m",)


def test_every_builtin_class_is_known(throw):
    needs_more = {"UnicodeDecodeError", "UnicodeEncodeError", "UnicodeTranslateError"}
    groups = {"ExceptionGroup", "BaseExceptionGroup"}
    names = [
        name
        for name, cls in vars(builtins).items()
        if isinstance(cls, type) and issubclass(cls, Exception)
        if name not in needs_more | groups
    ]
    for name in names:
        assert type(stop_process(throw, name, "m")) is getattr(builtins, name)


def test_recursion_through_the_boundary_ends(call):
    def recurse():
        return call(recurse)

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(300)
    try:
        assert isinstance(stop_process(recurse), RecursionError)
    finally:
        sys.setrecursionlimit(limit)


def test_class_of_error_that_calls_what_fails(api):
    class Curious(Exception):
        def __init__(self, text):
            with pytest.raises(TypeError):
                ffi.get_global_func("testing.return_error")("TypeError", "inner")
            super().__init__(text)

    api.set_error_class("Curious", Curious)
    error = stop_process(ffi.get_global_func("testing.throw_error"), "Curious", "outer")
    assert (type(error), str(error)) == (Curious, "outer")
    functions = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    assert "testing.throw_error" in functions
    assert "testing.return_error" not in functions


def test_interrupt_while_an_error_is_put_into_words(call):
    class Interrupted(Exception):
        def __str__(self):
            raise KeyboardInterrupt

    def fail():
        raise Interrupted

    with pytest.raises(KeyboardInterrupt):
        call(fail)
