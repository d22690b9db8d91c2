"""Operators that move elements, against NumPy."""

import numpy as np
import pytest

from mxacc_check.plugin import AccError

from .cases import ANY, CUBE, SIGNED, SQUARE, WIDE, attribute, check, run

COMPLEX = SQUARE + 1j * SQUARE[::-1]

JOINED = [
    ("concatenate", [SQUARE, SQUARE[:2], SQUARE[:0]], 0),
    ("concatenate", [SQUARE[:, :1], SQUARE], 1),
    ("concatenate", [CUBE, -CUBE], -2),
    ("concatenate", [SQUARE, SIGNED.astype("float32"), CUBE], None),
    ("concatenate", [COMPLEX, COMPLEX], 0),
    ("concatenate", [SQUARE[:0], SQUARE[:0]], 0),
    ("stack", [SQUARE, -SQUARE, SQUARE], 0),
    ("stack", [WIDE, WIDE[::-1]], -1),
    ("stack", [CUBE] * 11, 1),
]


def named(name: str, arrays: list) -> dict:
    param = "seq" if name == "concatenate" else "arrays"
    return {f"{param}[{i}]": array for i, array in enumerate(arrays)}


@pytest.mark.parametrize(("name", "arrays", "axis"), JOINED)
def test_joining(plugin, name, arrays, axis):
    expected = getattr(np, name)(arrays, axis=axis)
    check(run(plugin, name, named(name, arrays), expected, axis=axis), expected)


@pytest.mark.parametrize("axis", [0, 1, None])
def test_joining_views_into_a_view(plugin, axis):
    memory = plugin.to_device(SQUARE)
    a, b = memory.view((slice(None, None, -1), slice(1, 4))), memory.view((slice(5), slice(3, 6)))
    expected = np.concatenate([SQUARE[::-1, 1:4], SQUARE[:, 3:]], axis=axis)
    whole = plugin.to_device(np.zeros((*expected.shape, 2), "float32"))
    out = whole.view((..., 1))
    inputs = named("concatenate", [a, b])
    executor = plugin.executor("concatenate", inputs, [out], axis=attribute(axis))
    executor.run([a, b], [out])
    executor.close()
    check(plugin.to_host(out), expected)
    assert not plugin.to_host(whole)[..., 0].any()
    memory.free()
    whole.free()


SHAPES = {"reshape": (6, 5), "ravel": (30,), "flatten": (30,)}


@pytest.mark.parametrize(("name", "shape"), SHAPES.items())
def test_reshaping_a_transpose(plugin, name, shape):
    memory, out = plugin.to_device(SQUARE), plugin.empty(shape)
    turned = memory.like(memory.array.T)
    executor = plugin.executor(name, {"a": turned}, [out])
    executor.run([turned], [out])
    executor.close()
    check(plugin.to_host(out), SQUARE.T.reshape(shape))
    memory.free()
    out.free()


REJECTED = [
    ("concatenate", [SQUARE, SQUARE.astype("int32")], SQUARE, 0, "of several types"),
    ("concatenate", [SQUARE, ANY], SQUARE, 0, "do not go together"),
    ("concatenate", [SQUARE, SQUARE], SQUARE, 0, "do not go together"),
    ("concatenate", [SQUARE], SQUARE, 2, "along an axis that there is not"),
    ("stack", [SQUARE], SQUARE, 0, "do not go together"),
]


@pytest.mark.parametrize(("name", "arrays", "like", "axis", "reason"), REJECTED)
def test_what_does_not_fit(plugin, name, arrays, like, axis, reason):
    with pytest.raises(AccError, match=reason) as caught:
        run(plugin, name, named(name, arrays), like, axis=axis)
    assert caught.value.code == "unsupported"
