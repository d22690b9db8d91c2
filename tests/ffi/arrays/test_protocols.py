"""How types say what they convert to, and what a change of a type or of the table does."""

import gc
import weakref
from dataclasses import make_dataclass

import numpy
import pytest

import ffi

from ..values import Foreign, Unchanged


def test_opaque_value_keeps_its_identity(echo, call):
    value = object()
    wrapped = ffi.opaque(value)
    assert wrapped.value is value
    assert repr(wrapped) == f"ffi.opaque({value!r})"
    assert echo(wrapped) is value
    assert echo([wrapped])[0] is value
    assert call(lambda x: x is value, wrapped)
    assert call(lambda: wrapped) is value


def test_instance_of_an_opaque_class_keeps_its_identity(echo, call):
    value = Unchanged()
    assert echo(value) is value
    assert echo({"a": value})["a"] is value
    assert call(lambda x: x, value) is value


def test_opaque_value_lives_as_long_as_it_is_held(echo):
    value = Unchanged()
    alive = weakref.ref(value)
    held = echo([value])
    del value
    gc.collect()
    assert alive() is not None
    del held
    assert alive() is None


def test_registered_converter_as_a_decorator(echo):
    class Money:
        amount = 5

    @ffi.register_converter(Money)
    def convert(money):
        return money.amount

    assert convert(Money()) == 5
    assert echo(Money()) == 5
    assert ffi.register_converter(Money, lambda money: "replaced")
    assert echo(Money()) == "replaced"


def test_converter_registered_after_the_first_use(echo):
    class Late:
        pass

    class Derived(Late):
        pass

    for value in (Late(), Derived()):
        with pytest.raises(TypeError, match="unsupported type"):
            echo(value)
    ffi.register_converter(Late, lambda late: 1)
    assert echo((Late(), Derived())) == (1, 1)


@pytest.mark.parametrize(
    ("attribute", "function", "back"),
    [
        ("__index__", lambda self: 7, 7),
        ("__fspath__", lambda self: "a/b", "a/b"),
        ("__ffi_convert__", lambda self: (1, "a"), (1, "a")),
        (
            "__dlpack__",
            lambda self, **kwargs: numpy.arange(3).__dlpack__(**kwargs),
            numpy.arange(3),
        ),
        ("__call__", lambda self: 1, None),
    ],
)
@pytest.mark.parametrize("where", ["class", "base"])
def test_class_that_changes_after_the_first_use(attribute, function, back, where, echo):
    class Base:
        pass

    class Changes(Base):
        pass

    for _ in range(2):
        with pytest.raises(TypeError, match="unsupported type"):
            echo(Changes())
    setattr(Changes if where == "class" else Base, attribute, function)
    result = echo.returning(numpy.ndarray)(Changes())
    if back is None:
        assert result() == 1
    else:
        numpy.testing.assert_array_equal(numpy.asarray(result), back)
    delattr(Changes if where == "class" else Base, attribute)
    with pytest.raises(TypeError, match="unsupported type"):
        echo(Changes())


def test_many_classes(echo):
    """More than the look-up of a class remembers."""
    classes = [make_dataclass(f"Class{i}", ["number"]) for i in range(600)]
    for _ in range(2):
        for i, cls in enumerate(classes):
            assert echo(cls(i))["number"] == i


def test_buffer_is_borrowed():
    data = bytearray(8)
    view = memoryview(data).cast("i")
    ffi.get_global_func("testing.fill_bytes")(view, 1)
    assert list(view) == [0x01010101] * 2
    view.release()
    data.extend(b"free again")


def test_read_only_buffer_is_not_written():
    with pytest.raises(ValueError, match="read-only"):
        ffi.get_global_func("testing.fill_bytes")(memoryview(bytes(8)).cast("i"), 1)


def test_converter_is_not_asked_for_a_class(echo):
    """A class itself is a callable, whatever its instances convert to."""
    assert echo(Foreign) is Foreign
