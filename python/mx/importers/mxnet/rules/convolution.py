"""Convolutions, pools and dense layers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import onnx_ir as ir

from ..expansion import Expansion
from ..table import Names, Parameters, Shape, optional, register, required

LAYOUT = optional("layout", "str")
TUNING = (
    optional("workspace", "int", 1024),
    optional("cudnn_tune", "str"),
    optional("cudnn_off", "bool", False),
)


def _with_bias(p: Parameters) -> Names:
    return ("data", "weight") if p.no_bias else ("data", "weight", "bias")


def _is_channels_last(p: Parameters) -> bool:
    return p.layout is not None and p.layout[-1] == "C"


def _checked_kernel(x: Expansion) -> int:
    """How many dimensions it has in space."""
    if not 1 <= len(x.p.kernel) <= 3:
        raise x.error(f"expected a kernel of one to three dimensions, but {x.p.kernel} came")
    return len(x.p.kernel)


def _to_front(x: Expansion, value: ir.Value) -> ir.Value:
    """Channels after the batch, as ONNX has them."""
    n = len(x.p.kernel) + 2 if x.p.kernel else x.rank(value)
    return x.transpose(value, [0, n - 1, *range(1, n - 1)])


def _to_back(x: Expansion, value: ir.Value) -> ir.Value:
    n = len(x.p.kernel) + 2 if x.p.kernel else x.rank(value)
    return x.transpose(value, [0, *range(2, n), 1])


def _pads(pad: Sequence[int], n: int) -> list[int]:
    return list(pad or [0] * n) * 2


def _channel_of(p: Parameters, data: Shape) -> object:
    return data[-1] if _is_channels_last(p) else data[1]


def _conv_shapes(p: Parameters, known: dict[str, Shape]) -> dict[str, Shape | None]:
    shapes: dict[str, Shape | None] = {"bias": (p.num_filter,)}
    data = known.get("data")
    channels = _channel_of(p, data) if data is not None and len(data) > 2 else None
    if isinstance(channels, int):
        one = channels // p.num_group
        shapes["weight"] = (
            (p.num_filter, *p.kernel, one)
            if _is_channels_last(p)
            else (p.num_filter, one, *p.kernel)
        )
    return shapes


@register(
    "Convolution",
    "Convolves data of one to three spatial dimensions with the filters of weight.",
    [
        required("kernel", "ints"),
        optional("stride", "ints", ()),
        optional("dilate", "ints", ()),
        optional("pad", "ints", ()),
        required("num_filter", "int"),
        optional("num_group", "int", 1),
        optional("no_bias", "bool", False),
        LAYOUT,
        *TUNING,
    ],
    _with_bias,
    shapes=_conv_shapes,
    aliases="Convolution_v1 convolution _npx_convolution",
)
def convolution(x: Expansion) -> ir.Value:
    data, weight, *bias = x.inputs
    n = _checked_kernel(x)
    if _is_channels_last(x.p):
        data, weight = _to_front(x, data), _to_front(x, weight)
    out = x.op(
        "Conv",
        data,
        weight,
        *bias,
        kernel_shape=x.p.kernel,
        strides=x.p.stride or [1] * n,
        dilations=x.p.dilate or [1] * n,
        pads=_pads(x.p.pad, n),
        group=x.p.num_group,
    )
    return _to_back(x, out) if _is_channels_last(x.p) else out


def _deconv_shapes(p: Parameters, known: dict[str, Shape]) -> dict[str, Shape | None]:
    shapes: dict[str, Shape | None] = {"bias": (p.num_filter,)}
    data = known.get("data")
    channels = _channel_of(p, data) if data is not None and len(data) > 2 else None
    if isinstance(channels, int):
        one = p.num_filter // p.num_group
        shapes["weight"] = (
            (channels, *p.kernel, one) if _is_channels_last(p) else (channels, one, *p.kernel)
        )
    return shapes


@register(
    "Deconvolution",
    "The transposed convolution: what the gradient of a convolution is of its data.",
    [
        required("kernel", "ints"),
        optional("stride", "ints", ()),
        optional("dilate", "ints", ()),
        optional("pad", "ints", ()),
        optional("adj", "ints", ()),
        optional("target_shape", "ints", ()),
        required("num_filter", "int"),
        optional("num_group", "int", 1),
        optional("no_bias", "bool", True),
        LAYOUT,
        *TUNING,
    ],
    _with_bias,
    shapes=_deconv_shapes,
    aliases="deconvolution _npx_deconvolution",
)
def deconvolution(x: Expansion) -> ir.Value:
    data, weight, *bias = x.inputs
    n = _checked_kernel(x)
    if _is_channels_last(x.p):
        data, weight = _to_front(x, data), _to_front(x, weight)
    strides = x.p.stride or (1,) * n
    dilations = x.p.dilate or (1,) * n
    pad, adj = list(x.p.pad or [0] * n), list(x.p.adj or [0] * n)
    if any(x.p.target_shape):
        for i, target in enumerate(x.p.target_shape):
            whole = strides[i] * (x.dimension(data, 2 + i) - 1)
            over = whole + dilations[i] * (x.p.kernel[i] - 1) + 1 - target
            if over < 0:
                raise x.error(f"expected a target_shape of at most {target + over}, {target} came")
            adj[i] = over % 2
            pad[i] = (over + 1) // 2
    out = x.op(
        "ConvTranspose",
        data,
        weight,
        *bias,
        kernel_shape=x.p.kernel,
        strides=strides,
        dilations=dilations,
        pads=pad * 2,
        output_padding=adj,
        group=x.p.num_group,
    )
    return _to_back(x, out) if _is_channels_last(x.p) else out


def _sum_of_windows(x: Expansion, data: ir.Value, window: dict[str, object]) -> ir.Value:
    """Sums are means of windows that count what is padded, times the size of a window."""
    mean = x.op("AveragePool", data, count_include_pad=1, **window)
    return x.op("Mul", mean, x.number(math.prod(x.p.kernel), mean))


def _powers(x: Expansion, data: ir.Value, reduce: str) -> ir.Value:
    """The p-th root of the sum of p-th powers; `reduce` is pool or global."""
    p = 2 if x.p.p_value is None else x.p.p_value
    powers = data if p == 1 else x.op("Pow", data, x.number(p, data))
    out = _reduced(x, powers, "sum") if reduce == "global" else _pooled(x, powers, "sum")
    return out if p == 1 else x.op("Pow", out, x.number(1 / p, out))


def _reduced(x: Expansion, data: ir.Value, kind: str) -> ir.Value:
    if kind == "lp":
        return _powers(x, data, "global")
    if kind == "sum":
        axes = x.ints(*range(2, x.rank(data)))
        return x.op("ReduceSum", data, axes, keepdims=1)
    return x.op("GlobalMaxPool" if kind == "max" else "GlobalAveragePool", data)


def _end_pads(
    x: Expansion, data: ir.Value, strides: Sequence[int], pad: Sequence[int]
) -> list[int]:
    """What is padded at the end so that windows that begin inside the data are whole."""
    ends = []
    for i, k in enumerate(x.p.kernel):
        n = x.dimension(data, 2 + i)
        windows = 1 + -(-(n + 2 * pad[i] - k) // strides[i])
        if (windows - 1) * strides[i] >= n + pad[i]:
            raise x.error(
                f"expected every window of pooling_convention 'full' to begin in the data: "
                f"dimension {n}, kernel {k}, stride {strides[i]}, pad {pad[i]} came"
            )
        ends.append((windows - 1) * strides[i] + k - n - pad[i])
    return ends


def _pooled(x: Expansion, data: ir.Value, kind: str) -> ir.Value:
    if kind == "lp":
        return _powers(x, data, "pool")
    n = _checked_kernel(x)
    strides, pad = list(x.p.stride or [1] * n), list(x.p.pad or [0] * n)
    window: dict[str, object] = {"kernel_shape": x.p.kernel, "strides": strides}
    if x.p.pooling_convention == "same":
        window["auto_pad"] = "SAME_UPPER"
    elif x.p.pooling_convention == "full" and kind != "avg":
        window["pads"] = pad + _end_pads(x, data, strides, pad)
    else:
        window["pads"] = pad * 2
        window["ceil_mode"] = int(x.p.pooling_convention == "full")
    if kind == "sum":
        return _sum_of_windows(x, data, window)
    if kind == "max":
        return x.op("MaxPool", data, **window)
    counted = x.p.count_include_pad
    return x.op("AveragePool", data, count_include_pad=int(counted is None or counted), **window)


@register(
    "Pooling",
    "The maximum, mean, sum or p-norm of windows of one to three spatial dimensions.",
    [
        optional("kernel", "ints", ()),
        optional("pool_type", "str", "max", "max", "avg", "sum", "lp"),
        optional("global_pool", "bool", False),
        optional("pooling_convention", "str", "valid", "valid", "full", "same"),
        optional("stride", "ints", ()),
        optional("pad", "ints", ()),
        optional("p_value", "int"),
        optional("count_include_pad", "bool"),
        LAYOUT,
        optional("cudnn_off", "bool", False),
    ],
    aliases="pooling _npx_pooling Pooling_v1",
)
def pooling(x: Expansion) -> ir.Value:
    (data,) = x.inputs
    last = _is_channels_last(x.p)
    if last:
        data = _to_front(x, data)
    out = (_reduced if x.p.global_pool else _pooled)(x, data, x.p.pool_type)
    return _to_back(x, out) if last else out


@register(
    "_contrib_AdaptiveAvgPooling2D",
    "The mean over each cell of a grid of output_size on the data.",
    [optional("output_size", "ints", (1, 1))],
)
def adaptive_average_pooling(x: Expansion) -> ir.Value:
    (data,) = x.inputs
    size = (tuple(x.p.output_size) or (1,)) * (1 if len(x.p.output_size) == 2 else 2)
    if size == (1, 1):
        return x.op("GlobalAveragePool", data)
    n = [x.dimension(data, 2), x.dimension(data, 3)]
    if n[0] % size[0] or n[1] % size[1]:
        raise x.error(f"expected an output_size that divides {tuple(n)}, but {size} came")
    k = [n[0] // size[0], n[1] // size[1]]
    return x.op("AveragePool", data, kernel_shape=k, strides=k)


def _dense_shapes(p: Parameters, known: dict[str, Shape]) -> dict[str, Shape | None]:
    shapes: dict[str, Shape | None] = {"bias": (p.num_hidden,)}
    data = known.get("data")
    if data:
        inner = data[1:] if p.flatten else data[-1:]
        numbers = [n for n in inner if isinstance(n, int)]
        is_known = len(numbers) == len(inner)
        shapes["weight"] = (p.num_hidden, math.prod(numbers) if is_known else None)
    return shapes


@register(
    "FullyConnected",
    "Multiplies data with the transposed weight and adds bias; flattens data before that.",
    [
        required("num_hidden", "int"),
        optional("no_bias", "bool", False),
        optional("flatten", "bool", True),
    ],
    _with_bias,
    shapes=_dense_shapes,
    aliases="fully_connected _npx_fully_connected",
)
def fully_connected(x: Expansion) -> ir.Value:
    data, weight, *bias = x.inputs
    if not x.p.flatten:
        out = x.op("MatMul", data, x.op("Transpose", weight, perm=[1, 0]))
        return x.op("Add", out, *bias) if bias else out
    if data.shape is None or len(data.shape) != 2:
        data = x.op("Flatten", data, axis=1)
    return x.op("Gemm", data, weight, *bias, transB=1)
