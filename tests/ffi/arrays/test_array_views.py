"""What NumPy and people see of an NDArray in a program without mx."""

import numpy
import pytest

import ffi

torch = pytest.importorskip("torch")
ml_dtypes = pytest.importorskip("ml_dtypes")
echo = ffi.get_global_func("ffi.echo").returning(ffi.NDArray)

# Those that torch has; ml_dtypes has all.
EXTENDED = ["bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"]
# Runs where nobody has imported mx, whose arrays have an __array__ of their own.
ALONE = """
import sys, numpy, ml_dtypes, torch, ffi
assert "mx" not in sys.modules
for name in {names!r}:
    tensor = torch.tensor([[1.0, 2.0], [3.0, -4.0]]).to(getattr(torch, name)).t()
    shared = ffi.from_dlpack(tensor)
    array = numpy.asarray(shared)
    assert shared.dtype == array.dtype.name == name, (shared.dtype, array.dtype)
    assert array.tolist() == [[1, 3], [2, -4]], array
    array[0, 0] = 5
    assert tensor[0, 0] == 5
    assert numpy.asarray(shared, "float32").dtype == "float32"
    assert numpy.array(shared, copy=True).base is not shared
print(repr(shared))
"""


def test_types_that_numpy_has_from_elsewhere(run_python):
    done = run_python(ALONE.format(names=EXTENDED))
    shown = "<NDArray shape=(2, 2) dtype=float8_e5m2fnuz ctx=cpu(0)>\n"
    assert (done.stderr, done.stdout) == ("", shown)


@pytest.mark.parametrize("name", [*EXTENDED, "float8_e3m4", "float8_e4m3", "float8_e8m0fnu"])
def test_arrays_of_ml_dtypes(name):
    given = numpy.array([1, 2, 4], getattr(ml_dtypes, name))
    taken = echo(given)
    assert taken.dtype == name and taken.data_ptr == given.ctypes.data
    assert numpy.asarray(taken).tobytes() == given.tobytes()
    assert ffi.get_global_func("testing.dtype")(given.dtype) == given.dtype
    assert ffi.get_global_func("testing.dtype")(name) == given.dtype


@pytest.mark.filterwarnings("ignore:ComplexHalf")
def test_a_type_that_numpy_has_not():
    halves = ffi.from_dlpack(torch.ones(2, dtype=torch.complex32))
    with pytest.raises(TypeError, match=r"bits=32, lanes=1\) has no counterpart in NumPy"):
        numpy.asarray(halves)
    assert "dtype=dtype(code=5, bits=32, lanes=1)" in repr(halves)


def test_representation_without_mx(run_python):
    script = """
import numpy, ffi
read_only = numpy.zeros((2, 3), "int16")
read_only.flags.writeable = False
print(repr(ffi.get_global_func("ffi.echo")(ffi.from_dlpack(read_only))))
"""
    done = run_python(script)
    assert "NDArray shape=(2, 3) dtype=int16 ctx=cpu(0) read_only=True>" in done.stdout


class Image:
    """An array by NumPy's own protocol alone, as those of PIL are."""

    def __init__(self):
        self.pixels = numpy.arange(6, dtype="uint8").reshape(2, 3)

    @property
    def __array_interface__(self):
        return self.pixels.__array_interface__


def test_numpys_own_protocol():
    image = Image()
    shared = ffi.get_global_func("ffi.convert").returning(ffi.NDArray)(image)
    assert (shared.shape, shared.dtype) == ((2, 3), "uint8")
    ffi.get_global_func("testing.fill_bytes")(image, 7)
    assert image.pixels.tolist() == [[7] * 3] * 2 == numpy.asarray(shared).tolist()
