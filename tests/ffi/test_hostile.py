"""Borrowed tensors are checked once, where they come in."""

import ctypes

import numpy
import pytest

import ffi

from .hostile import HOSTILE, SOUND, LegacyTensor, Tensor

each_kind = pytest.mark.parametrize("kind", [Tensor, LegacyTensor])


def error_of(action):
    with pytest.raises((ValueError, TypeError, BufferError)) as caught:
        action()
    return type(caught.value), str(caught.value)


@each_kind
@pytest.mark.parametrize("name", HOSTILE)
def test_what_cannot_be_is_rejected(name, kind, echo):
    arguments, text = HOSTILE[name]
    cls = TypeError if "elements" in text else ValueError
    where = {
        "ffi.echo: argument 0 ('value')": lambda: echo(kind(**arguments)),
        "ffi.echo: argument 0 ('value') item 1": lambda: echo([1, kind(**arguments)]),
        "from_dlpack: argument 0 ('obj')": lambda: ffi.from_dlpack(kind(**arguments)),
        "<lambda>: result": lambda: ffi.get_global_func("ffi.call")(lambda: kind(**arguments)),
    }
    for entry, action in where.items():
        assert error_of(action) == (cls, f"{entry} {text}")


@each_kind
@pytest.mark.parametrize("name", SOUND)
def test_what_is_odd_is_read_as_it_is(name, kind):
    arguments, expected = SOUND[name]
    copy = ffi.get_global_func("ffi.convert")
    for array in (
        ffi.from_dlpack(kind(**arguments)),
        copy.returning(ffi.NDArray)(kind(**arguments)),
    ):
        assert tuple(numpy.asarray(array).ravel()) == expected
        assert array.size == len(expected)
        assert array.strides == tuple(
            4 * stride for stride in arguments.get("strides", _row_major(arguments["shape"] or ()))
        )


def _row_major(shape):
    steps = [1] * len(shape)
    for axis in range(len(shape) - 1, 0, -1):
        steps[axis - 1] = steps[axis] * max(shape[axis], 1)
    return steps


def test_vectors_as_elements_are_no_numbers():
    array = ffi.from_dlpack(Tensor(shape=(2,), dtype=(2, 32, 4)))
    assert (array.itemsize, array.nbytes, array.strides) == (16, 32, (16,))
    with pytest.raises((TypeError, BufferError)):
        memoryview(array).tolist()


def of_version(major):
    tensor = Tensor((3,))
    tensor.managed.version.major, tensor.managed.version.minor = major, 4
    return tensor


class Returns(Tensor):
    """Its __dlpack__ returns, or raises, what it is given."""

    def __init__(self, returned):
        super().__init__((3,))
        self.returned = returned

    def __dlpack__(self, **options):
        if isinstance(self.returned, Exception):
            raise self.returned
        return self.returned


def taken():
    capsule = numpy.zeros(3).__dlpack__()
    numpy.from_dlpack(Returns(capsule))
    return Returns(capsule)


RETURNED = "has a __dlpack__() that returned"
NO_TENSOR = {
    "a later version": (
        lambda: of_version(2),
        BufferError,
        "has version 2.4 of DLPack, expected version 1",
    ),
    "an earlier version": (
        lambda: of_version(0),
        BufferError,
        "has version 0.4 of DLPack, expected version 1",
    ),
    "a number": (lambda: Returns(3), TypeError, f"{RETURNED} int, expected a capsule"),
    "a used capsule": (
        taken,
        BufferError,
        f"{RETURNED} a capsule without a tensor: somebody took it already, or it is not DLPack's",
    ),
}


@pytest.mark.parametrize(("make", "error", "message"), NO_TENSOR.values(), ids=NO_TENSOR)
def test_capsule_without_a_tensor_that_can_be_read(echo, make, error, message):
    given = make()
    for call, where in (
        (lambda: echo(given), "ffi.echo: argument 0 ('value')"),
        (lambda: echo([given]), "ffi.echo: argument 0 ('value') item 0"),
        (lambda: ffi.from_dlpack(given), "from_dlpack: argument 0 ('obj')"),
    ):
        assert error_of(call) == (error, f"{where} {message}")


@pytest.mark.parametrize("error", [RuntimeError, BufferError, NotImplementedError])
def test_producer_that_rejects(echo, error):
    cls, text = error_of(lambda: echo(Returns(error("not now\nadvice"))))
    assert cls is BufferError and text.endswith("that cannot be borrowed: not now")


VERSIONS = [(), (1,), 1, "1.0", ("a", "b"), (None, 0), (1, 2, 3)]


@pytest.mark.parametrize("version", VERSIONS, ids=repr)
def test_no_version(version):
    array = ffi.from_dlpack(numpy.ones(3))
    cls, text = error_of(lambda: array.__dlpack__(max_version=version))
    assert (cls, text) == (
        TypeError,
        f"__dlpack__: argument 'max_version' expected None or (major, minor), got {version!r}",
    )


@pytest.mark.parametrize("device", [(), (1,), 1, "cpu", ("cpu", 0), (1.5, 0), (1, 2, 3)], ids=repr)
def test_no_device_asked_for(device):
    array = ffi.from_dlpack(numpy.ones(3))
    cls, text = error_of(lambda: array.__dlpack__(dl_device=device))
    expected = "expected None or (device type, device id)"
    assert cls is TypeError
    assert text == f"__dlpack__: argument 'dl_device' {expected}, got {device!r}"


@pytest.mark.parametrize("device", [(), (1,), 1, ("cpu", 0), (1, 2, 3), None], ids=repr)
def test_no_device(device):
    class Nowhere(Tensor):
        def __dlpack_device__(self):
            return device

    cls, text = error_of(lambda: ffi.from_dlpack(Nowhere((3,))))
    where = "from_dlpack: argument 0 ('obj')"
    assert cls is TypeError
    assert text == (
        f"{where} has {device!r} as its __dlpack_device__(), expected (device type, device id)"
    )


def test_a_deleter_runs_once_where_the_tensor_is_rejected():
    runs = []
    deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(runs.append)
    tensor = Tensor((2, -1))
    tensor.managed.deleter = ctypes.cast(deleter, ctypes.c_void_p).value
    with pytest.raises(ValueError):
        ffi.from_dlpack(tensor)
    assert runs == []  # the capsule still has it
