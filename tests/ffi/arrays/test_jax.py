"""Arrays of JAX, which never change, as arguments, and what JAX makes of results."""

import numpy
import pytest

import ffi

jax = pytest.importorskip("jax")
jnp = jax.numpy
echo = ffi.get_global_func("ffi.echo").returning(ffi.NDArray)


def type_code(value) -> str:
    """What C++ takes a value for; the function is not kept, so that others see it go."""
    code: str = ffi.get_global_func("testing.type_code")(value)
    return code


NAMES = ("bool", "int8", "int32", "uint8", "float16", "float32", "complex64", "bfloat16")
LAYOUTS = {
    "0-d": lambda: jnp.float32(1.5),
    "empty": lambda: jnp.zeros((0, 3)),
    "transposed": lambda: jnp.arange(6.0).reshape(2, 3).T,
    "steps": lambda: jnp.arange(24.0).reshape(2, 3, 4)[:, ::2, 1:],
}


@pytest.mark.parametrize("name", NAMES)
def test_element_types(name):
    array = jnp.arange(6).reshape(2, 3).astype(name)
    shared = echo(array)
    assert (shared.dtype, shared.shape) == (name, array.shape)
    assert ffi.get_global_func("ffi.echo")(array) is array


@pytest.mark.parametrize("make", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("take", [ffi.from_dlpack, echo], ids=["from_dlpack", "argument"])
def test_layouts(make, take):
    numpy.testing.assert_array_equal(numpy.asarray(take(make())), make())


@pytest.mark.parametrize("name", NAMES)
def test_memory_is_shared_for_reading_only(name):
    """JAX exports by a version of DLPack that cannot say so."""
    array = jnp.ones(3, name)
    shared = ffi.from_dlpack(array)
    assert shared.data_ptr == array.unsafe_buffer_pointer()
    assert shared.read_only
    with pytest.raises(BufferError, match="pass a copy"):
        jnp.from_dlpack(shared)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("give", [lambda x: x, ffi.from_dlpack], ids=["argument", "from_dlpack"])
def test_a_function_that_writes_rejects_them(give, name):
    with pytest.raises(ValueError, match=r"argument 0 \('array'\).*read-only"):
        ffi.get_global_func("testing.fill_bytes")(give(jnp.ones(3, name)), 0)


@pytest.mark.parametrize("name", sorted({*NAMES} - {"bool"}))
def test_classes_that_name_element_types(name):
    assert type_code(getattr(jnp, name)) == "dtype"
    assert echo(getattr(jnp, name)) == jnp.dtype(name)


@pytest.mark.parametrize(
    "transform", [jax.jit, jax.vmap, lambda f: jax.grad(lambda x: f(x).sum())], ids=str
)
@pytest.mark.parametrize("take", [ffi.from_dlpack, echo], ids=["from_dlpack", "argument"])
def test_traced_arrays_have_no_memory(transform, take):
    with pytest.raises(jax.errors.ConcretizationTypeError, match="traced array"):
        transform(take)(jnp.ones(3))


def test_a_callback_of_a_traced_function():
    def host(x):
        return numpy.asarray(echo(x)) * 2

    doubled = jax.jit(lambda x: jax.pure_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype), x))
    assert jnp.array_equal(doubled(jnp.arange(3.0)), jnp.arange(3.0) * 2)


def test_a_deleted_array():
    array = jnp.ones(3)
    array.delete()
    with pytest.raises(BufferError, match=r"argument 0 .*that cannot be borrowed: .*deleted"):
        echo(array)
