"""Descriptions that come from C++ signatures, as calls and help have them."""

import inspect

import pytest

import ffi


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        (
            "testing.typed",
            "(shape: 'Sequence[int]', names: 'Mapping[int, str]', scale: 'float' = 1.0, "
            "mode: 'str' = 'fast', dtype: 'DTypeLike | None' = None) -> 'tuple[Any, ...]'",
        ),
        ("testing.total", "(first: 'int', *others: 'int') -> 'int'"),
    ],
)
def test_derived_signature(name, signature):
    assert str(inspect.signature(ffi.get_global_func(name))) == signature


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "result"),
    [
        ("testing.typed", ((2, 3), {}), {}, ((2, 3), 0, 1.0, "fast", False)),
        ("testing.typed", ((), {1: "a"}), {"dtype": "int8"}, ((), 1, 1.0, "fast", True)),
        ("testing.typed", ([4], {}, 2), {"mode": "x"}, ((4,), 0, 2.0, "x", False)),
        ("testing.total", (1,), {}, 1),
        ("testing.total", (1, 2, 3), {}, 6),
    ],
    ids=repr,
)
def test_derived_parameters(name, args, kwargs, result):
    assert ffi.get_global_func(name)(*args, **kwargs) == result


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "testing.total: missing argument 0 ('first')"),
        ((1, 2, "3"), "testing.total: argument 2 ('others') expected int, got str"),
    ],
    ids=repr,
)
def test_derived_refusal(args, message):
    with pytest.raises(TypeError) as caught:
        ffi.get_global_func("testing.total")(*args)
    assert str(caught.value) == message
