"""NDArray: its attributes, and the memory it shares through DLPack and with NumPy."""

import ctypes
import gc
import mmap
import weakref

import numpy
import pytest

import ffi

from ..values import DTYPE_NAMES, GRID, read_only

echo = ffi.get_global_func("ffi.echo").returning(ffi.NDArray)


def shared(array):
    """An NDArray over the memory of a numpy.ndarray."""
    return ffi.from_dlpack(array)


@pytest.mark.parametrize("name", DTYPE_NAMES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 0, 3), (2, 3, 4)], ids=str)
def test_attributes(name, shape):
    source = numpy.zeros(shape, name)
    array = echo(source)
    assert array.dtype == name
    assert array.ctx == ffi.cpu(0)
    assert not array.read_only
    attributes = ("shape", "ndim", "size", "itemsize", "nbytes")
    assert [getattr(array, a) for a in attributes] == [getattr(source, a) for a in attributes]
    if source.size:
        assert array.strides == source.strides


@pytest.mark.parametrize(
    "source", [GRID, GRID.T, GRID[:, ::2], GRID[::-1], GRID[0, 0, 0:1], numpy.array(1.5)]
)
def test_from_dlpack_shares_memory(source):
    array = shared(source)
    assert (array.shape, array.strides) == (source.shape, source.strides)
    assert array.data_ptr == source.__array_interface__["data"][0]
    numpy.testing.assert_array_equal(numpy.asarray(array), source)


def test_writes_are_seen():
    source = numpy.zeros(3)
    view = numpy.asarray(shared(source))
    view[1] = 5
    assert source[1] == 5


@pytest.mark.parametrize("writable", [True, False])
def test_read_only_is_kept(writable):
    source = numpy.ones(3)
    source.setflags(write=writable)
    array = shared(source)
    assert array.read_only is not writable
    assert numpy.asarray(array).flags.writeable is writable
    assert numpy.from_dlpack(array).flags.writeable is writable


def test_source_lives_as_long_as_the_array():
    source = numpy.ones(3)
    alive = weakref.ref(source)
    array = shared(source)
    view = numpy.asarray(array)
    del source, array
    gc.collect()
    assert alive() is not None
    del view
    gc.collect()
    assert alive() is None


def test_array_lives_as_long_as_its_exports():
    array = echo(numpy.arange(1000.0))
    alive = weakref.ref(array)
    taken = numpy.from_dlpack(array)
    del array
    gc.collect()
    assert taken.sum() == 499500
    assert alive() is None, "the tensor holds the memory, not the Python object"


@pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (1, 1), (2, 0)], ids=str)
def test_capsule(version):
    capsule = echo(numpy.ones(2)).__dlpack__(max_version=version)
    name = b"dltensor_versioned" if version is not None and version[0] >= 1 else b"dltensor"
    valid = ctypes.pythonapi.PyCapsule_IsValid
    valid.argtypes = (ctypes.py_object, ctypes.c_char_p)
    assert valid(capsule, name) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"stream": 1},
        {"dl_device": (2, 0)},
        {"dl_device": (1, 1)},
    ],
    ids=repr,
)
def test_export_that_is_not_possible(options):
    with pytest.raises(BufferError, match="__dlpack__"):
        echo(numpy.ones(2)).__dlpack__(**options)


def test_read_only_needs_a_version():
    array = shared(read_only(numpy.ones(2)))
    with pytest.raises(BufferError, match="read-only"):
        array.__dlpack__()
    assert array.__dlpack__(max_version=(1, 0))


class OfAnOldVersion(mmap.mmap):
    """Exports by a DLPack that cannot say what the buffer protocol says of the same array."""

    def __dlpack__(self):
        return numpy.frombuffer(bytearray(self)).__dlpack__()


@pytest.mark.parametrize("access", [mmap.ACCESS_READ, mmap.ACCESS_WRITE], ids=["read", "write"])
@pytest.mark.parametrize("give", [lambda x: x, ffi.from_dlpack], ids=["argument", "from_dlpack"])
def test_read_only_without_a_version(access, give):
    fill = ffi.get_global_func("testing.fill_bytes")
    array = OfAnOldVersion(-1, 8, access=access)
    if access == mmap.ACCESS_WRITE:
        fill(give(array), 1)
        return
    with pytest.raises(ValueError, match=r"argument 0 \('array'\).*read-only"):
        fill(give(array), 1)


@pytest.mark.parametrize("copy", [True, False, None])
def test_export_of_a_copy(copy):
    array = shared(numpy.ones((2, 3))[:, ::2])
    taken = numpy.from_dlpack(array, copy=copy)
    assert (taken.__array_interface__["data"][0] != array.data_ptr) is bool(copy)
    numpy.testing.assert_array_equal(taken, numpy.ones((2, 2)))


def test_device():
    assert echo(numpy.ones(2)).__dlpack_device__() == (1, 0)


def test_capsule_that_nobody_uses():
    source = numpy.ones(3)
    alive = weakref.ref(source)
    array = shared(source)
    array.__dlpack__()
    array.__dlpack__(max_version=(1, 0))
    del source, array
    # On the portable path the next export notices that the capsules were dropped.
    echo(numpy.ones(1)).__dlpack__()
    gc.collect()
    assert alive() is None


def test_consumer_that_fails():
    """A capsule is dropped while the consumer's exception is set: that exception must survive."""
    import ml_dtypes

    array = echo(numpy.ones(2, ml_dtypes.bfloat16))
    with pytest.raises((BufferError, RuntimeError, TypeError)) as caught:
        numpy.from_dlpack(array)
    assert "DLPack" in str(caught.value) or "dtype" in str(caught.value)


class Exports:
    """Offers an array's capsule without knowing versions, as old producers do."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, *, stream=None):
        return self.array.__dlpack__()


@pytest.mark.parametrize("take", [ffi.from_dlpack, echo])
def test_producer_without_versions(take):
    source = numpy.arange(6.0).reshape(2, 3)
    numpy.testing.assert_array_equal(numpy.asarray(take(Exports(source))), source)


def test_argument_is_not_copied(call):
    """C++ sees the very memory, and passes the array on."""
    array = ffi.convert(numpy.ones(3))
    seen = []
    call(seen.append, array)
    assert seen[0].data_ptr == array.data_ptr
    assert seen[0].same_as(array)


def test_weak_reference():
    array = echo(numpy.ones(1))
    alive = weakref.ref(array)
    del array
    assert alive() is None


def test_array_without_an_object():
    empty = ffi.NDArray.__new__(ffi.NDArray)
    for attribute in ("shape", "strides", "dtype", "ctx", "size", "read_only", "data_ptr"):
        with pytest.raises(ValueError, match="holds no object"):
            getattr(empty, attribute)


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")
def test_extents_that_change_while_others_are_converted():
    source = numpy.zeros((2, 3))

    class Reshaping:
        def __index__(self):
            source.shape = (1, 2, 1, 3, 1)
            self.others = [numpy.ones((5,) * 2) for _ in range(100)]
            return 0

    assert echo(source, Reshaping()).shape == (2, 3)


@pytest.mark.skipif(ffi.backend != "cython", reason="only extension types export buffers")
@pytest.mark.parametrize("source", [GRID[:, ::2], GRID[0, 0, ::2]], ids=["3-d", "1-d"])
@pytest.mark.parametrize("order", [0x20, 0x40, 0x80], ids=["C", "F", "any"])
def test_buffers_without_gaps(source, order):
    get_buffer = ctypes.pythonapi.PyObject_GetBuffer
    get_buffer.argtypes = ctypes.py_object, ctypes.c_void_p, ctypes.c_int
    strides = 0x18
    with pytest.raises(BufferError, match="not contiguous"):
        get_buffer(shared(source), ctypes.create_string_buffer(256), order | strides)
