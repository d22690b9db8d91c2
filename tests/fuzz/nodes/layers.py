"""Recurrent layers, attention, transforms, and products that an equation says."""

from __future__ import annotations

from typing import Any

import numpy
import onnx

from .draw import Case, Draw, int64, scalar
from .table import cases

_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
_USUAL = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}
_FUNCTIONS = (
    "Relu Tanh Sigmoid Affine LeakyRelu ThresholdedRelu ScaledTanh HardSigmoid Elu Softsign "
    "Softplus"
).split()


@cases(*_GATES)
def _recurrent(d: Draw, schema: Any) -> tuple[Any, ...]:
    name = schema.name
    steps, batch, size, hidden = d.between(1, 5), d.between(1, 3), d.between(1, 5), d.between(1, 5)
    direction = d.pick("forward", "reverse", "bidirectional")
    ways = 2 if direction == "bidirectional" else 1
    given: dict[str, Any] = {"hidden_size": hidden}
    if direction != "forward" or d.chance():
        given["direction"] = direction
    layout = 0
    if "layout" in schema.attributes and d.chance(0.4):
        layout = given["layout"] = d.between(0, 1)
    kind = d.dtype(schema)
    rows = _GATES[name] * hidden

    def array(*shape: int) -> Any:
        return d.array(shape, kind, 0.0)

    inputs = [
        array(*((batch, steps) if layout else (steps, batch)), size),
        array(ways, rows, size),
        array(ways, rows, hidden),
        d.maybe(lambda: array(ways, 2 * rows)),
    ]
    lengths = None
    if d.chance(0.4):
        lengths = numpy.array([d.between(1, steps) for _ in range(batch)], "int32")
        lengths[d.between(0, batch - 1)] = d.pick(steps, steps, 1)
    inputs.append(lengths)
    state = (batch, ways, hidden) if layout else (ways, batch, hidden)
    inputs.append(d.maybe(lambda: array(*state)))
    if name == "LSTM":
        inputs.append(d.maybe(lambda: array(*state)))
        inputs.append(d.maybe(lambda: array(ways, 3 * hidden), 0.3))
        given |= d.given(0.2, input_forget=d.between(0, 1))
    if name == "GRU":
        given |= d.given(linear_before_reset=d.between(0, 1))
    if d.chance(0.3):
        one = [d.pick(*_FUNCTIONS) for _ in _USUAL[name]] if d.chance() else _USUAL[name]
        given["activations"] = list(one) * ways
        if d.chance(0.3) and ways == 2:
            given["activations"] = list(one) + _USUAL[name]
        # Only these have parameters without a default that everybody has.
        if d.chance(0.3) or {"Affine", "ScaledTanh"} & set(given["activations"]):
            given["activation_alpha"] = [d.pick(0.25, 0.5, 1.5) for _ in range(6)]
            given["activation_beta"] = [d.pick(0.25, 0.5, 1.0) for _ in range(6)]
        if d.chance(0.2):
            given["activations"] = [one.lower() for one in given["activations"]]
    if d.chance(0.2):
        given["clip"] = d.pick(0.5, 2.0)
    return inputs, given, d.between(1, 3 if name == "LSTM" else 2)


@cases("Attention")
def _attention(d: Draw, schema: Any) -> tuple[Any, ...]:
    batch, heads, kv_heads = d.between(1, 2), d.between(1, 2), d.between(1, 2)
    heads *= kv_heads
    queries, keys, size, v_size = (d.between(1, 5) for _ in range(4))
    kind = d.dtype(schema, 0, "float32", "float16", "float64")
    if d.chance(0.7):
        kind = d.types[schema.inputs[0].type_str] = "float32"
    v_kind = d.types.setdefault(schema.inputs[2].type_str, kind)
    given: dict[str, Any] = d.given(
        0.3, is_causal=d.between(0, 1), softcap=d.pick(0.5, 2.0), scale=d.pick(0.5, 1.0)
    )
    past = d.between(0, 3) if d.chance(0.3) else 0
    q, k, v = ((batch, heads, queries, size), (batch, kv_heads, keys, size),
               (batch, kv_heads, keys, v_size))  # fmt: skip
    arrays = [d.array(one, v_kind if one is v else kind, 0.0) for one in (q, k, v)]
    if d.chance(0.3):
        arrays = [one.transpose(0, 2, 1, 3).reshape(batch, one.shape[2], -1) for one in arrays]
        arrays = [numpy.ascontiguousarray(one) for one in arrays]
        given |= {"q_num_heads": heads, "kv_num_heads": kv_heads}
    mask = None
    if d.chance(0.6):
        total = keys + past
        shape: tuple[int, ...] = (
            d.pick(1, batch),
            d.pick(1, heads),
            d.pick(queries, queries),
            total,
        )
        shape = shape[d.between(0, 2) :]
        if schema.since_version >= 24 and d.chance(0.15) and total > 1:
            shape = (*shape[:-1], total - 1)
        kinds = ["bool", "float32"] if kind == "float32" else ["bool", kind]
        mask = d.array(shape, d.pick(*kinds), 0.0)
        if mask.dtype.kind == "f" and d.chance():
            mask = numpy.where(mask < 0, numpy.array(-numpy.inf, mask.dtype), mask)
    inputs = [*arrays, mask]
    if past:
        inputs.append(d.array((batch, kv_heads, past, size), kind, 0.0))
        inputs.append(d.array((batch, kv_heads, past, v_size), v_kind, 0.0))
    elif schema.since_version >= 24 and d.chance(0.2):
        inputs += [None, None, int64(*[d.between(1, keys) for _ in range(batch)])]
    outputs = d.pick(1, 1, 3, 4)
    if outputs == 4:
        given |= d.given(qk_matmul_output_mode=d.between(0, 3))
    if schema.since_version >= 25:
        given |= d.given(0.15, left_window_size=d.between(0, 3), right_window_size=d.between(0, 3))
    return inputs, given, outputs


@cases("RotaryEmbedding")
def _rotary(d: Draw, schema: Any) -> tuple[Any, ...]:
    batch, heads, positions, size = (d.between(1, 3), d.between(1, 3), d.between(1, 5),
                                     2 * d.between(1, 4))  # fmt: skip
    kind = d.dtype(schema)
    width = size
    given: dict[str, Any] = d.given(interleaved=d.between(0, 1))
    if d.chance(0.3):
        width = given["rotary_embedding_dim"] = 2 * d.between(1, size // 2)
    x = d.array((batch, heads, positions, size), kind, 0.05)
    if d.chance(0.4):
        x = numpy.ascontiguousarray(x.transpose(0, 2, 1, 3).reshape(batch, positions, -1))
        given["num_heads"] = heads
    if d.chance():
        most = positions + d.between(0, 3)
        caches = [d.array((most, width // 2), kind, 0.0) for _ in "ab"]
        ids = d.random.integers(0, most, (batch, positions)).astype("int64")
        return [x, *caches, ids], given
    return [x, *[d.array((batch, positions, width // 2), kind, 0.0) for _ in "ab"]], given


@cases("LinearAttention")
def _linear_attention(d: Draw, schema: Any) -> tuple[Any, ...]:
    batch, steps, size, v_size, kv, each = (d.between(1, 3) for _ in range(6))
    kind = d.dtype(schema)
    rule = d.pick("linear", "gated", "delta", "gated_delta")
    given = {"kv_num_heads": kv, "q_num_heads": kv * each, "update_rule": rule}
    given |= d.given(0.3, scale=0.5)
    q = d.array((batch, steps, kv * each * size), kind, 0.0)
    k, v = (
        d.array((batch, steps, kv * size), kind, 0.0),
        d.array((batch, steps, kv * v_size), kind, 0.0),
    )
    state = d.maybe(lambda: d.array((batch, kv, size, v_size), d.dtype(schema, 3), 0.0))
    decay = -d.positive((batch, steps, kv), kind) if "gated" in rule else None
    beta = d.positive((batch, steps, kv), kind) if "delta" in rule else None
    return [q, k, v, state, decay, beta], given, 2


@cases("CausalConvWithState")
def _causal(d: Draw, schema: Any) -> tuple[Any, ...]:
    batch, channels, length, taps = (
        d.between(1, 3),
        d.between(1, 4),
        d.between(1, 6),
        d.between(1, 4),
    )
    x = d.like(schema, (batch, channels, length))
    w = d.like(schema, (channels, 1, taps), 1)
    bias = d.maybe(lambda: d.like(schema, (channels,), 2))
    state = d.maybe(lambda: d.like(schema, (batch, channels, taps - 1), 3)) if taps > 1 else None
    return [x, w, bias, state], d.given(activation=d.pick("none", "silu", "swish")), 2


@cases("DFT")
def _dft(d: Draw, schema: Any) -> tuple[Any, ...]:
    kind = d.dtype(schema, 0, "float32", "float64")
    shape = [d.between(1, 6) for _ in range(d.between(1, 3))]
    last, inverse, onesided = d.pick(1, 2), d.chance(0.3), d.chance(0.3)
    if onesided:
        last = 2 if inverse else 1
        inverse = inverse and schema.since_version >= 20
        last = 2 if inverse else 1
    x = d.array((d.between(1, 2), *shape, last), kind, 0.0)
    given: dict[str, Any] = {}
    if inverse:
        given["inverse"] = 1
    if onesided:
        given["onesided"] = 1
    axis = d.between(1, len(shape))
    length = d.maybe(lambda: scalar(d.between(1, 7)), 0.4)
    if schema.since_version < 20:
        return [x, length], {**given, **({"axis": axis} if axis != 1 or d.chance() else {})}
    return [x, length, scalar(d.pick(axis, axis - x.ndim))], given


@cases("STFT")
def _stft(d: Draw, schema: Any) -> tuple[Any, ...]:
    kind = d.dtype(schema, 0, "float32", "float64")
    length, frame = d.between(4, 16), d.between(2, 4)
    onesided = d.between(0, 1)
    x = d.array((d.between(1, 2), length, 1 if onesided else d.pick(1, 2)), kind, 0.0)
    given = {"onesided": onesided}
    window = d.maybe(lambda: d.array((frame,), kind, 0.0))
    size = scalar(frame) if window is None or d.chance() else None
    return [x, scalar(d.between(1, 4)), window, size], given


@cases("HannWindow", "HammingWindow", "BlackmanWindow")
def _window(d: Draw, schema: Any) -> tuple[Any, ...]:
    given = d.given(periodic=d.between(0, 1))
    if d.chance(0.3):
        given["output_datatype"] = int(onnx.TensorProto.DOUBLE)
    return [scalar(d.between(2, 9), d.pick("int32", "int64"))], given


@cases("MelWeightMatrix")
def _mel(d: Draw, schema: Any) -> tuple[Any, ...]:
    inputs = [scalar(d.between(2, 6)), scalar(d.pick(8, 16, 32)), scalar(8192)]
    return [*inputs, scalar(0.0, "float32"), scalar(4096.0, "float32")], {}


@cases("Einsum")
def _einsum(d: Draw, schema: Any) -> tuple[Any, ...]:
    letters = {one: d.pick(1, 2, 3, 4) for one in "abcdeF"}
    terms = [
        "".join(d.pick(*letters) for _ in range(d.between(0, 3))) for _ in range(d.between(1, 3))
    ]
    every = sorted(set("".join(terms)))
    result = "".join(str(one) for one in d.random.permutation(every)[: d.between(0, len(every))])
    equation = ",".join(terms) + (f"->{result}" if d.chance(0.8) else "")
    arrays = [d.like(schema, [letters[one] for one in term]) for term in terms]
    if d.chance(0.2):
        equation = equation.replace(",", " , ").replace("->", " -> ")
    return arrays, {"equation": equation}


@cases("If", "Loop", "Scan")
def _control(d: Draw, schema: Any) -> Case:
    """Small models: what a branch reads, a loop carries, and a scan takes apart."""
    name = schema.name
    kind = d.pick("float32", "int64", "float16", "float64")
    shape = tuple(max(1, one) for one in d.shape(1, 3))
    x = d.array(shape, kind, 0.0)
    helper, number = onnx.helper, onnx.helper.np_dtype_to_tensor_dtype(x.dtype)

    def info(name: str, extents: Any = None, of: int = number) -> Any:
        return helper.make_tensor_value_info(name, of, extents)

    version = max(schema.since_version, 11)
    if name == "If":
        then = helper.make_graph([helper.make_node("Add", ["x", "x"], ["a"])], "t", [], [info("a")])
        other = helper.make_graph([helper.make_node("Neg", ["x"], ["b"])], "e", [], [info("b")])
        node = helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other)
        inputs = {"c": numpy.array(d.chance()), "x": x}
        outputs = [info("y")]
    elif name == "Loop":
        count, least = d.between(0, 4), d.between(0, 4)
        body = helper.make_graph(
            [
                helper.make_node("Add", ["v", "x"], ["w"]),
                helper.make_node("Identity", ["v"], ["s"]),
                helper.make_node("Less", ["n", "least"], ["go"]),
            ],
            "body",
            [info("n", [], 7), info("g", [], 9), info("v", shape)],
            [info("go", [], 9), info("w", shape), info("s", shape)],
        )
        inputs = {
            "m": scalar(count),
            "c": numpy.array(d.chance(0.8)),
            "x": x,
            "least": scalar(least),
        }
        names = [d.pick("m", "m", ""), d.pick("c", "c", "")]
        node = helper.make_node("Loop", [*names, "x"], ["y", "all"], body=body)
        outputs = [info("y"), info("all")]
    else:
        x_axis, y_axis = d.axis(len(shape)), d.axis(len(shape))
        inner = [one for at, one in enumerate(shape) if at != x_axis % len(shape)]
        body = helper.make_graph(
            [
                helper.make_node("Add", ["v", "e"], ["w"]),
                helper.make_node("Mul", ["v", "e"], ["s"]),
            ],
            "body",
            [info("v", inner), info("e", inner)],
            [info("w", inner), info("s", inner)],
        )
        given = d.given(
            scan_input_axes=[x_axis],
            scan_input_directions=[d.between(0, 1)],
            scan_output_directions=[d.between(0, 1)],
            scan_output_axes=[y_axis],
        )
        if "scan_input_axes" not in given:
            inner = list(shape[1:])
            for one in (*body.input, *body.output):
                one.CopyFrom(info(one.name, inner))
        node = helper.make_node(
            "Scan", ["i", "x"], ["y", "all"], body=body, num_scan_inputs=1, **given
        )
        inputs = {"i": d.array(inner, kind, 0.0), "x": x}
        outputs = [info("y"), info("all")]
    infos = [
        info(key, one.shape, helper.np_dtype_to_tensor_dtype(one.dtype))
        for key, one in inputs.items()
    ]
    graph = helper.make_graph([node], name, infos, outputs)
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", version)], ir_version=10
    )
    # Feeds are called i0, i1 and so on.
    renamed = {key: f"i{at}" for at, key in enumerate(inputs)}
    _rename(model.graph, renamed)
    return Case(name, version, list(inputs.values()), {}, len(outputs), frozenset(), model)


def _rename(graph: Any, names: dict[str, str], inner: bool = False) -> None:
    for node in graph.node:
        node.input[:] = [names.get(one, one) for one in node.input]
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _rename(attribute.g, names, True)
    for one in () if inner else graph.input:
        one.name = names.get(one.name, one.name)
