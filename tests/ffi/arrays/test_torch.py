"""Tensors of torch as arguments, and what Python makes of them on the way back."""

import gc
import weakref

import numpy
import pytest

import ffi

torch = pytest.importorskip("torch")
echo = ffi.get_global_func("ffi.echo").returning(ffi.NDArray)

DTYPES = (
    *(torch.bool, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8),
    *(torch.float16, torch.float32, torch.float64, torch.complex64, torch.complex128),
)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_element_types(dtype):
    tensor = torch.ones(2, 3, dtype=dtype)
    assert ffi.get_global_func("testing.type_code")(tensor) == "ndarray"
    back = echo(tensor)
    assert back.dtype == str(dtype).removeprefix("torch.")
    numpy.testing.assert_array_equal(numpy.asarray(back), tensor.numpy())


def test_bfloat16():
    tensor = torch.tensor([1.5, -2.0], dtype=torch.bfloat16)
    back = echo(tensor)
    assert (back.dtype, back.shape) == ("bfloat16", (2,))
    assert torch.equal(torch.from_dlpack(back), tensor)


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.tensor(1.5),
        lambda: torch.zeros(0, 3),
        lambda: torch.arange(24.0).reshape(2, 3, 4)[:, ::2, 1:],
        lambda: torch.arange(6.0).reshape(2, 3).T,
        lambda: torch.ones(1).expand(2, 3),
    ],
    ids=["0-d", "empty", "steps", "transposed", "expanded"],
)
def test_layouts(make):
    tensor = make()
    numpy.testing.assert_array_equal(numpy.asarray(echo(tensor)), tensor.numpy())
    shared = ffi.from_dlpack(tensor)
    assert shared.shape == tuple(tensor.shape)
    numpy.testing.assert_array_equal(numpy.asarray(shared), tensor.numpy())


def test_tensor_that_requires_a_gradient():
    """It is shared with C++, which records no gradient; to export it torch has to be asked."""
    tensor = torch.ones(2, requires_grad=True)
    numpy.testing.assert_array_equal(numpy.asarray(echo(tensor)), [1, 1])
    with pytest.raises(BufferError, match="detach"):
        ffi.from_dlpack(tensor)


def test_memory_is_shared():
    tensor = torch.zeros(3)
    numpy.asarray(ffi.from_dlpack(tensor))[1] = 5
    assert tensor[1] == 5
    array = echo(tensor)
    torch.from_dlpack(array)[0] = 7
    assert numpy.asarray(array)[0] == 7 and tensor[0] == 7


def test_tensor_lives_as_long_as_it_is_shared():
    tensor = torch.ones(3)
    shared = ffi.from_dlpack(tensor)
    content = tensor.data_ptr()
    del tensor
    gc.collect()
    assert shared.data_ptr == content
    assert numpy.asarray(shared).sum() == 3


def test_call_keeps_no_tensor():
    tensor = torch.ones(3)
    alive = weakref.ref(tensor)
    ffi.get_global_func("testing.nop")(tensor, [tensor])
    del tensor
    assert alive() is None


UNSHARED = {
    "sparse": lambda: torch.eye(2).to_sparse(),
    "meta": lambda: torch.ones(2, device="meta"),
    "quantized": lambda: torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.quint8),
}


@pytest.mark.filterwarnings("ignore")  # torch means to drop quantized tensors
@pytest.mark.parametrize("make", UNSHARED.values(), ids=UNSHARED)
def test_tensors_that_cannot_be_shared(make):
    """In one line that names the argument; torch itself adds the functions it passed."""
    tensor = make()
    with pytest.raises(BufferError) as caught:
        echo(tensor)
    text = str(caught.value)
    assert text.startswith("ffi.echo: argument 0 ('value') is a torch.Tensor that cannot be ")
    assert "\n" not in text and "Exception raised from" not in text
    with pytest.raises((BufferError, ValueError)):
        ffi.from_dlpack(tensor)


def test_more_axes_than_arrays_have():
    total = ffi.get_global_func("testing.type_code")
    assert total(torch.ones((1,) * 64)) == "ndarray"
    with pytest.raises(ValueError, match=r"'value'\) has 65 axes, expected 0 to 64"):
        total(torch.ones((1,) * 65))


def imaginary():
    """Of conjugates: torch marks it as to be negated when read."""
    return torch.tensor([1 + 2j, 3 + 4j]).conj().imag


# The last two have one element, and the strides of a tensor that nothing is known of.
MARKED = {
    "conjugate": lambda: imaginary().new_ones(2, dtype=torch.complex64).conj(),
    "negative": imaginary,
    "negative of a slice": lambda: imaginary()[:1],
    "negative number": lambda: imaginary()[0],
    "negative as an axis": lambda: imaginary()[0].unsqueeze(0),
}


@pytest.mark.parametrize("take", [ffi.from_dlpack, echo], ids=["from_dlpack", "argument"])
@pytest.mark.parametrize("make", MARKED.values(), ids=MARKED)
def test_tensors_whose_memory_does_not_hold_their_values(make, take):
    with pytest.raises(BufferError, match=r"is_(neg|conj)\(\) is true"):
        take(make())
    assert take(make().resolve_conj().resolve_neg()).size == make().numel()
