"""Both paths side by side in one process: the same value, or the same error, for every case."""

import inspect
from operator import attrgetter

import ffi._cython.core as cython
import numpy
import pytest

import ffi._ctypes as portable

from .plain import outcome
from .rejections import REJECTIONS
from .values import VALUES

PATHS = (cython, portable)


def both(action):
    """What an action does on the Cython path, and on the portable one."""
    return [outcome(api, action, api) for api in PATHS]


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
@pytest.mark.parametrize("name", ["ffi.echo", "testing.type_code", "ffi.convert"])
def test_values(value, name):
    fast, slow = both(lambda api: api.get_global(name)(value.make(api)))
    assert fast == slow
    assert fast[0] == "returned"


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
def test_values_in_callbacks(value):
    fast, slow = both(lambda api: api.get_global("ffi.call")(lambda x: x, value.make(api)))
    assert fast == slow


@pytest.mark.parametrize("rejection", REJECTIONS.values(), ids=REJECTIONS.keys())
def test_rejections(rejection, register):
    register("tests.undescribed", lambda *args, **kwargs: None)
    fast, slow = both(rejection.call)
    assert fast == slow
    assert fast[0] == "raised"


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("testing.roles", (numpy.int8(1), numpy.int8(2))),
        ("testing.arrays", (numpy.int8(1), None, "text", *map(numpy.float16, range(80)))),
    ],
)
def test_scalars_by_role(name, args):
    fast, slow = both(lambda api: api.get_global(name)(*args))
    assert fast == slow
    assert fast[0] == "returned"


@pytest.mark.parametrize("kind", ["ValueError", "UnknownKind", "UnicodeDecodeError", "KeyError"])
@pytest.mark.parametrize("name", ["testing.throw_error", "testing.return_error"])
def test_errors(kind, name):
    fast, slow = both(lambda api: api.get_global(name)(kind, "text"))
    assert fast == slow
    assert fast[0] == "raised"


@pytest.mark.parametrize(
    "attribute",
    [
        *("name", "__name__", "__qualname__", "__module__", "__doc__", "__signature__"),
        *("info", "release_gil_bytes", "is_front_end", "type_key", "type_index"),
    ],
)
@pytest.mark.parametrize("name", ["testing.nop", "testing.keywords", "ffi.MapFind"])
def test_attributes(name, attribute):
    fast, slow = (getattr(api.get_global(name), attribute) for api in PATHS)
    assert fast == slow


@pytest.mark.parametrize("name", ["testing.nop", "testing.keywords"])
def test_raw_info(name):
    fast, slow = (api.get_global(name)._raw_info() for api in PATHS)
    assert fast == slow


@pytest.mark.parametrize(
    "name",
    ["cpu", "from_dlpack", "register_object", "NDArray.__dlpack__", "ObjectBase.same_as"],
)
def test_signatures(name):
    """Editors and help() show them, of extension types too."""
    fast, slow = (inspect.signature(attrgetter(name)(api)) for api in PATHS)
    described = [[(p.name, p.default) for p in s.parameters.values()] for s in (fast, slow)]
    assert described[0] == described[1]


def test_same_names():
    """Everything that the shared modules use of a path."""
    expected = {name for name in vars(portable) if not name.startswith("_")}
    submodules = {name for name in expected if hasattr(getattr(portable, name), "__spec__")}
    assert expected - submodules <= set(vars(cython))


def test_a_function_of_one_path_on_the_other():
    made = portable.convert_function(lambda x: (x, "portable"), "tests.made")
    portable.register_global("tests.made", made, True)
    assert cython.get_global("tests.made")("argument") == ("argument", "portable")
    portable.remove_global("tests.made")


def test_a_callable_that_two_threads_share_at_once(monkeypatch):
    """The second does while the first has its function but has not noted whose it is."""
    callback, results = portable.callback, portable.results
    native_call, known = callback.abi.lib.MXNetFuncCall, dict(results.CALLABLES)
    second = []

    def call_while_another_does(*arguments):
        status = native_call(*arguments)
        monkeypatch.undo()
        second.append(callback.share_function(body))
        return status

    def body():
        return "called"

    monkeypatch.setattr(callback.abi.lib, "MXNetFuncCall", call_while_another_does)
    first = callback.share_function(body)
    assert first.handle == second.pop().handle
    assert first() == "called"
    del first
    assert results.CALLABLES == known
