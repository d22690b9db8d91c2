"""What layers compute, in NumPy, straight from their definitions: in float64 whatever comes in."""

import itertools
import math

import numpy as np

_erf = np.vectorize(math.erf, otypes=[float])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# By the kinds of mx.onednn, with the usual values of their numbers.
ELTWISE = {
    "abs": lambda x, a=0, b=0: np.abs(x),
    "clip": lambda x, a=0, b=6: np.clip(x, a, b),
    "elu": lambda x, a=1, b=0: np.where(x > 0, x, a * np.expm1(x)),
    "exp": lambda x, a=0, b=0: np.exp(x),
    "gelu_erf": lambda x, a=0, b=0: 0.5 * x * (1 + _erf(x / np.sqrt(2))),
    "gelu_tanh": lambda x, a=0, b=0: (
        0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    ),
    "hardsigmoid": lambda x, a=0.2, b=0.5: np.clip(a * x + b, 0, 1),
    "hardswish": lambda x, a=1 / 6, b=0.5: x * np.clip(a * x + b, 0, 1),
    "leaky_relu": lambda x, a=0.01, b=0: np.where(x > 0, x, a * x),
    "linear": lambda x, a=1, b=0: a * x + b,
    "log": lambda x, a=0, b=0: np.log(x),
    "mish": lambda x, a=0, b=0: x * np.tanh(np.log1p(np.exp(x))),
    "pow": lambda x, a=1, b=1: a * x**b,
    "relu": lambda x, a=0, b=0: np.where(x > 0, x, a * x),
    "round": lambda x, a=0, b=0: np.rint(x),
    "sigmoid": lambda x, a=0, b=0: sigmoid(x),
    "softplus": lambda x, a=1, b=0: np.log1p(np.exp(a * x)) / a,
    "sqrt": lambda x, a=0, b=0: np.sqrt(x),
    "square": lambda x, a=0, b=0: x * x,
    "swish": lambda x, a=1, b=0: x * sigmoid(a * x),
    "tanh": lambda x, a=0, b=0: np.tanh(x),
}
BINARY = {
    "add": np.add,
    "div": np.divide,
    "equal": np.equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "max": np.maximum,
    "min": np.minimum,
    "mul": np.multiply,
    "not_equal": np.not_equal,
    "sub": np.subtract,
}


def normalized(x, scale, shift, mean, variance, epsilon=1e-5):
    return (x - mean) / np.sqrt(variance + epsilon) * scale + shift


def softmax(x, axis=-1, is_log=False):
    shifted = np.float64(x) - x.max(axis=axis, keepdims=True)
    sums = np.exp(shifted).sum(axis=axis, keepdims=True)
    return shifted - np.log(sums) if is_log else np.exp(shifted) / sums


def lrn(x, size, alpha=1e-4, beta=0.75, k=1.0):
    squares = np.float64(x) ** 2
    sums = np.zeros_like(squares)
    for channel in range(x.shape[1]):
        seen = slice(max(0, channel - (size - 1) // 2), channel + size // 2 + 1)
        sums[:, channel] = squares[:, seen].sum(axis=1)
    return x / (k + alpha / size * sums) ** beta


def resized(x, extents, kind):
    """x along its spatial axes, one after the other."""
    x = np.float64(x)
    for axis, extent in enumerate(extents, 2):
        size = x.shape[axis]
        at = (np.arange(extent) + 0.5) * size / extent - 0.5
        if kind == "nearest":
            x = np.take(x, np.clip(np.rint(at), 0, size - 1).astype(int), axis)
            continue
        below = np.floor(at)
        part = (at - below).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
        low, high = (np.clip(below + i, 0, size - 1).astype(int) for i in (0, 1))
        x = np.take(x, low, axis) * (1 - part) + np.take(x, high, axis) * part
    return x


def cell(kind, x, h, c, weight, recurrent, of_x, of_h, peephole):
    """One step of a recurrent layer: h and c after it. Gates are in ONNX's order."""
    left, right = x @ weight.T + of_x, h @ recurrent.T + of_h
    n = h.shape[1]
    if kind in ("tanh", "relu"):
        both = left + right
        return (np.tanh(both) if kind == "tanh" else np.maximum(both, 0)), c
    if kind == "lstm":
        gate_i, gate_o, gate_f, gate_c = np.split(left + right, 4, axis=1)
        of_i, of_o, of_f = np.split(peephole, 3)
        after = sigmoid(gate_f + of_f * c) * c + sigmoid(gate_i + of_i * c) * np.tanh(gate_c)
        return sigmoid(gate_o + of_o * after) * np.tanh(after), after
    z, r = (sigmoid((left + right)[:, i * n : (i + 1) * n]) for i in (0, 1))
    if kind == "lbr_gru":
        new = np.tanh(left[:, 2 * n :] + r * right[:, 2 * n :])
    else:
        new = np.tanh(left[:, 2 * n :] + (r * h) @ recurrent[2 * n :].T + of_h[2 * n :])
    return (1 - z) * new + z * h, c


def recurrent(kind, direction, x, weight, recurrent, bias, initial_h, initial_c, peephole):
    """All h, the last ones, and the last c, as ONNX has them."""
    parts = []
    for d in range(len(weight)):
        h, c = initial_h[d], initial_c[d]
        is_back = direction == "reverse" or d == 1
        of_x, of_h = np.split(bias[d], 2)
        results = []
        for step in x[::-1] if is_back else x:
            h, c = cell(kind, step, h, c, weight[d], recurrent[d], of_x, of_h, peephole[d])
            results.append(h)
        parts.append((np.stack(results[::-1] if is_back else results), h, c))
    whole, last_h, last_c = zip(*parts, strict=True)
    return np.stack(whole, axis=1), np.stack(last_h), np.stack(last_c)


def padded(x, pads, value):
    """x with its spatial axes, which are the last, surrounded by a value."""
    n = len(pads) // 2
    widths = [(0, 0)] * (x.ndim - n) + list(zip(pads[:n], pads[n:], strict=True))
    return np.pad(x, widths, constant_values=value)


def taps(x, kernel, strides, dilations):
    """For each element of a window: its position, and what it sees of x as the window slides."""
    n = len(kernel)
    counts = [
        (x.shape[x.ndim - n + i] - (kernel[i] - 1) * dilations[i] - 1) // strides[i] + 1
        for i in range(n)
    ]
    for at in itertools.product(*map(range, kernel)):
        seen = tuple(
            slice(
                at[i] * dilations[i],
                at[i] * dilations[i] + (counts[i] - 1) * strides[i] + 1,
                strides[i],
            )
            for i in range(n)
        )
        yield at, x[(..., *seen)]


def convolution(x, weight, bias=None, strides=None, pads=None, dilations=None, groups=1):
    n = x.ndim - 2
    strides, dilations, pads = strides or [1] * n, dilations or [1] * n, pads or [0] * 2 * n
    x, weight = padded(np.float64(x), pads, 0), np.float64(weight)
    parts = []
    for data, part in zip(
        np.split(x, groups, axis=1), np.split(weight, groups, axis=0), strict=True
    ):
        products = (
            np.einsum("nc...,oc->no...", seen, part[(..., *at)])
            for at, seen in taps(data, weight.shape[2:], strides, dilations)
        )
        parts.append(sum(products))
    result = np.concatenate(parts, axis=1)
    return result if bias is None else result + np.reshape(bias, (-1, *[1] * n))


def deconvolution(
    x, weight, bias=None, strides=None, pads=None, dilations=None, groups=1, output_padding=None
):
    n = x.ndim - 2
    strides, dilations, pads = strides or [1] * n, dilations or [1] * n, pads or [0] * 2 * n
    x, weight, more = np.float64(x), np.float64(weight), output_padding or [0] * n
    full = [
        (x.shape[2 + i] - 1) * strides[i] + (weight.shape[2 + i] - 1) * dilations[i] + 1 + more[i]
        for i in range(n)
    ]
    result = np.zeros((x.shape[0], weight.shape[1] * groups, *full))
    for data, part, out in zip(
        np.split(x, groups, axis=1),
        np.split(weight, groups, axis=0),
        np.split(result, groups, axis=1),
        strict=True,
    ):
        for at in np.ndindex(*weight.shape[2:]):
            seen = tuple(
                slice(
                    at[i] * dilations[i],
                    at[i] * dilations[i] + (x.shape[2 + i] - 1) * strides[i] + 1,
                    strides[i],
                )
                for i in range(n)
            )
            out[(..., *seen)] += np.einsum("nc...,co->no...", data, part[(..., *at)])
    cut = tuple(slice(pads[i], full[i] - pads[n + i]) for i in range(n))
    result = result[(..., *cut)]
    return result if bias is None else result + np.reshape(bias, (-1, *[1] * n))


def pooling(
    x,
    kind,
    kernel=None,
    strides=None,
    pads=None,
    dilations=None,
    ceil_mode=False,
    count_include_pad=False,
):
    n = x.ndim - 2
    kernel = kernel or x.shape[2:]
    strides, dilations, pads = strides or [1] * n, dilations or [1] * n, list(pads or [0] * 2 * n)
    if ceil_mode:
        for i in range(n):
            reach = (kernel[i] - 1) * dilations[i] + 1
            room = x.shape[2 + i] + pads[i] + pads[n + i] - reach
            count = -(-room // strides[i]) + 1
            count -= (count - 1) * strides[i] >= x.shape[2 + i] + pads[i]
            pads[n + i] += max(0, (count - 1) * strides[i] - room)
    x = np.float64(x)
    seen = [part for _, part in taps(padded(x, pads, np.nan), kernel, strides, dilations)]
    if kind == "max":
        return np.nanmax(seen, axis=0)
    return np.nansum(seen, axis=0) / len(seen) if count_include_pad else np.nanmean(seen, axis=0)
