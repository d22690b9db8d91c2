"""Arrays and callables of Python that C++ keeps: shared memory, and back as the very objects."""

import array
import gc
import threading
import weakref

import numpy
import pytest

import ffi

from ..values import read_only

torch = pytest.importorskip("torch")
own = ffi.get_global_func("ffi.convert").returning(ffi.NDArray)
fill_bytes = ffi.get_global_func("testing.fill_bytes")


class Exports:
    """Has nothing but DLPack's protocol; without versions, as old producers do, where told so."""

    def __init__(self, borrowed, versioned):
        self.borrowed = borrowed
        self.versioned = versioned

    def __dlpack_device__(self):
        return self.borrowed.__dlpack_device__()

    def __dlpack__(self, **options):
        if options and not self.versioned:
            raise TypeError("no options")
        return self.borrowed.__dlpack__(**options)


class Named(numpy.ndarray):
    """A subclass that carries more than its elements."""


def named():
    made = numpy.zeros((2, 3), "uint8").view(Named)
    made.name = "mine"
    return made


# Bytes, all zero.
MAKERS = {
    "numpy": lambda: numpy.zeros((2, 3), "uint8"),
    "numpy steps": lambda: numpy.zeros((4, 6), "uint8")[::2, ::-2],
    "numpy subclass": named,
    "torch": lambda: torch.zeros(2, 3, dtype=torch.uint8),
    "torch steps": lambda: torch.zeros(4, 3, dtype=torch.uint8)[::2],
    "torch parameter": lambda: torch.nn.Parameter(torch.zeros(2), requires_grad=True),
    "buffer": lambda: array.array("B", [0, 0]),
    "memoryview": lambda: memoryview(numpy.zeros((2, 3), "uint8")),
    "DLPack": lambda: Exports(numpy.zeros((2, 3), "uint8"), True),
    "DLPack before version 1": lambda: Exports(numpy.zeros((2, 3), "uint8"), False),
}
each_array = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())

CALLABLES = {
    "lambda": lambda: lambda x=None: x,
    "builtin": lambda: len,
    "bound method": lambda: [].append,
    "class": lambda: Exports,
    "instance": lambda: threading.Thread().is_alive,
}
each_value = pytest.mark.parametrize(
    "make", [*MAKERS.values(), *CALLABLES.values()], ids=[*MAKERS, *CALLABLES]
)


@each_value
def test_comes_back_as_itself(make, echo, call):
    given = make()
    assert echo(given) is given
    assert echo((given, [given]))[0] is given
    assert echo([given, given])[1] is given
    assert echo({"key": given})["key"] is given
    assert ffi.List([given])[0] is given
    assert ffi.Dict({1: given})[1] is given
    assert call(lambda x: x is given, given) is True
    assert call(lambda x: x[0][0] is given, [[given]]) is True
    assert call(lambda: given) is given


# What goes when nobody holds it; memoryviews and methods are not referenced weakly.
MORTAL = {name: make for name, make in MAKERS.items() if name != "memoryview"}
MORTAL["lambda"] = CALLABLES["lambda"]


@pytest.mark.parametrize("make", MORTAL.values(), ids=MORTAL.keys())
def test_lives_as_long_as_cpp_holds_it(make, echo):
    given = make()
    alive = weakref.ref(given)
    held = echo([given])
    del given
    gc.collect()
    assert held[0] is alive()
    held = None
    gc.collect()
    assert alive() is None


@each_value
def test_leaves_nothing_behind(make, echo, call, assert_flat):
    given = make()
    assert_flat(lambda: echo([given]))
    assert_flat(lambda: call(lambda x: x, given))


@each_array
def test_memory_is_shared_both_ways(make):
    given = make()
    kept = own(given)
    assert isinstance(kept, ffi.NDArray) and kept is not given
    assert ffi.get_global_func("ffi.echo")(kept) is kept
    before = [int(byte) for byte in numpy.asarray(kept).view("uint8").ravel()]
    if kept.strides == own(numpy.zeros(kept.shape, kept.dtype)).strides:
        fill_bytes(given, 1)
        assert set(numpy.asarray(kept).view("uint8").ravel().tolist()) == {1}
        fill_bytes(kept, 2)
        assert set(numpy.asarray(own(given)).view("uint8").ravel().tolist()) == {2}
    else:
        numpy.asarray(kept)[...] = 3
        assert numpy.asarray(own(given)).min() == 3
    assert set(before) == {0}


@pytest.mark.parametrize(
    "given",
    [
        read_only(numpy.zeros(3)),
        memoryview(bytes(8)).cast("d"),
        Exports(read_only(numpy.zeros(3)), True),
    ],
    ids=["numpy", "memoryview", "DLPack"],
)
def test_read_only_stays_so(given, echo):
    kept = own([given])[0]
    assert kept is given
    assert own(given).read_only
    with pytest.raises(ValueError, match="read-only"):
        fill_bytes(given, 1)
    with pytest.raises(ValueError, match="read-only"):
        fill_bytes(own(given), 1)
    assert not numpy.asarray(own(given)).flags.writeable


def test_what_is_kept_does_not_follow_a_new_shape(echo):
    given = numpy.zeros((2, 3))
    kept = own(given)
    given = given.reshape(3, 2)
    assert kept.shape == (2, 3) and own(given).shape == (3, 2)


def test_a_buffer_is_held_while_cpp_shares_it(echo):
    given = array.array("d", [1, 2])
    held = echo([given])
    with pytest.raises(BufferError):
        given.append(3)
    held = None
    gc.collect()
    given.append(3)
    assert held is None


def test_a_released_view_is_shared_all_the_same(echo):
    source = numpy.arange(3.0)
    given = memoryview(source)
    kept = own(given)
    given.release()
    assert numpy.asarray(kept).tolist() == [0, 1, 2]


def test_another_thread_drops_what_is_shared(native):
    held = [ffi.get_global_func("ffi.echo")([numpy.zeros(3), len, lambda: None])]
    alive = weakref.ref(held[0][0])
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    gc.collect()
    assert alive() is None


def test_a_callable_is_converted_once_while_cpp_holds_it(register):
    """C++ compares functions by their handles, to remove a listener that was added."""
    identity = ffi.get_global_func("testing.same_object")
    listener, other = (lambda: None), (lambda: None)
    held = ffi.List([listener])
    assert identity(listener, held[0]) is True
    assert identity(listener, other) is False
    assert identity(ffi.convert(listener), listener) is False


def test_threads_share_one_function(call):
    """Functions come and go on all threads at once."""
    identity = ffi.get_global_func("testing.same_object")
    listener = lambda x: x  # noqa: E731
    failed = []

    def run():
        for _ in range(300):
            held = ffi.List([listener])
            if not identity(listener, held[0]) or call(listener, 7) != 7:
                failed.append(held)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_a_function_that_cpp_registers_is_one(echo):
    """A name always means a Function, even where C++ was given the callable itself."""
    register = ffi.get_global_func("testing.register_function")
    listener = lambda x: x + 1  # noqa: E731
    register("tests.registered_by_cpp", listener)
    try:
        found = ffi.get_global_func("tests.registered_by_cpp")
        assert isinstance(found, ffi.Function) and found(1) == 2
        assert echo(listener) is listener
    finally:
        ffi.remove_global_func("tests.registered_by_cpp")


CLASSES = [numpy.ndarray, torch.Tensor, ffi.NDArray]
each_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)


@each_class
@pytest.mark.parametrize(
    "make", [*MAKERS.values(), lambda: ffi.from_dlpack(numpy.zeros(3))], ids=[*MAKERS, "own"]
)
def test_returning(cls, make, echo):
    if cls is torch.Tensor and make is MAKERS["numpy steps"]:
        make = MAKERS["numpy"]  # torch knows no negative strides
    given = make()
    returning = echo.returning(cls)
    back = returning(given)
    assert isinstance(back, cls)
    assert (back is given) == isinstance(given, cls)
    assert isinstance(returning((1, (given, "text")))[1][0], cls)
    assert returning([given])[0] is given
    assert own(back).data_ptr == own(given).data_ptr
    assert returning("text") == "text"


def test_a_variant_that_returns_arrays_otherwise(echo):
    import pickle

    returning = echo.returning(numpy.ndarray)
    assert returning.returned_class is numpy.ndarray and echo.returned_class is None
    assert returning != echo and returning == echo.returning(numpy.ndarray)
    assert returning.same_as(echo) and returning.name == echo.name
    assert returning.front_end().returned_class is numpy.ndarray
    assert pickle.loads(pickle.dumps(returning)) == returning
    assert returning.returning(ffi.NDArray) == echo.returning(ffi.NDArray)


@pytest.mark.parametrize("cls", [int, list, None, "torch.Tensor", Exports], ids=repr)
def test_classes_that_arrays_cannot_be(cls, echo):
    with pytest.raises(TypeError, match=r"returning: argument 0 \('cls'\) expected numpy.ndarray"):
        echo.returning(cls)
