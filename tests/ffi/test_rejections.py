"""Bad input: an error of the class a Python user expects that names function, argument, values."""

import numpy
import pytest

import ffi

from .rejections import REJECTIONS


@pytest.fixture(autouse=True)
def undescribed(register):
    """A function of which nothing is known but its name."""
    return register("tests.undescribed", lambda *args, **kwargs: None)


@pytest.mark.parametrize("rejection", REJECTIONS.values(), ids=REJECTIONS.keys())
def test_rejection(rejection, api):
    with pytest.raises(rejection.cls) as caught:
        rejection.call(api)
    assert type(caught.value) is rejection.cls
    assert str(caught.value) == rejection.message


@pytest.mark.parametrize("rejection", REJECTIONS.values(), ids=REJECTIONS.keys())
def test_calls_work_after_a_rejection(rejection, api, echo):
    with pytest.raises(rejection.cls):
        rejection.call(api)
    assert echo((1, "a")) == (1, "a")


@pytest.mark.parametrize(
    ("name", "cls"),
    [(1, TypeError), (2.5, TypeError), (b"testing.nop", TypeError), ("testing.nop\0", ValueError)],
    ids=repr,
)
@pytest.mark.parametrize(
    "function",
    [
        ffi.get_global_func,
        ffi.remove_global_func,
        lambda name: ffi.register_func(name, len, override=True),
    ],
    ids=["get", "remove", "register"],
)
def test_bad_name(function, name, cls):
    with pytest.raises(cls, match=r"argument 0 \('name'\)"):
        function(name)


def test_missing_name():
    with pytest.raises(KeyError, match=r"no function is registered as 'tests\.missing'"):
        ffi.get_global_func("tests.missing")
    assert ffi.get_global_func("tests.missing", allow_missing=True) is None


@pytest.mark.parametrize(
    "take",
    [
        lambda name: ffi.register_func(name, 3),
        lambda name: ffi.register_func(name)(3),
    ],
    ids=["function", "decorator"],
)
def test_registering_what_is_no_callable(take):
    with pytest.raises(TypeError, match="register_func: argument 1 .*callable, got int"):
        take("tests.nothing")


@pytest.mark.parametrize(
    ("kind", "cls", "error"),
    [
        (3, ValueError, TypeError),
        ("Kind", int, TypeError),
        ("Kind", "ValueError", TypeError),
        ("Ki\0nd", ValueError, ValueError),
    ],
    ids=repr,
)
def test_bad_error_class(kind, cls, error):
    with pytest.raises(error, match="register_error: argument"):
        ffi.register_error(kind, cls)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ffi.register_object(70, int), TypeError, "1 ('cls') expected a subclass of"),
        (lambda: ffi.register_object(70, 3), TypeError, "1 ('cls') expected a subclass of"),
        (
            lambda: ffi.register_object("a", ffi.Opaque),
            TypeError,
            "('type_index') expected int, got",
        ),
        (lambda: ffi.register_object(-1, ffi.Opaque), ValueError, "no object type has index -1"),
        (lambda: ffi.register_object(2**70, ffi.Opaque), ValueError, "no object type has index"),
        (lambda: ffi.set_backtrace("yes"), TypeError, "('enabled') expected bool or None, got str"),
        (
            lambda: ffi.enable_crash_report(3),
            TypeError,
            "('file') expected a file with fileno(), got",
        ),
        (lambda: ffi.reference.render(3), TypeError, "('prefix') expected str, got int"),
        (lambda: ffi.convert(object()), TypeError, "convert: argument 0 ('value') has unsupported"),
        (lambda: ffi.Array([1]).index(2), ValueError, "2 is not in the Array"),
        (lambda: ffi.List([1]).remove("a"), ValueError, "'a' is not in the List"),
        (lambda: ffi.Array([1, 2]).index(1, 1), ValueError, "1 is not in the Array"),
    ],
)
def test_wrong_calls(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)


def test_result_of_a_callback(register):
    def returns_set():
        return [1, {2}]

    function = register("tests.returns_set", returns_set)
    with pytest.raises(TypeError, match=r"returns_set: result item 1 has unsupported type set;"):
        function()


class OtherDevice:
    """A tensor that says it is in the memory of another device."""

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, **kwargs):
        raise BufferError("the elements are in the memory of another device")


class ReturnsNoCapsule:
    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **kwargs):
        return 3


class UsedCapsule:
    """A capsule whose tensor somebody took already."""

    def __init__(self):
        self.array = numpy.ones(2)

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **kwargs):
        capsule = self.array.__dlpack__(**kwargs)
        ffi.from_dlpack(Exports(capsule))
        return capsule


class Exports:
    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **kwargs):
        return self.capsule


class Fails:
    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **kwargs):
        raise OSError("not now")


@pytest.mark.parametrize(
    ("make", "classes"),
    [
        (OtherDevice, (BufferError, ValueError)),
        (ReturnsNoCapsule, (TypeError, ValueError, BufferError)),
        (UsedCapsule, (BufferError, ValueError)),
        (Fails, OSError),
    ],
)
@pytest.mark.parametrize("take", [ffi.from_dlpack, ffi.get_global_func("ffi.echo")])
def test_bad_dlpack(make, classes, take):
    with pytest.raises(classes):
        take(make())
