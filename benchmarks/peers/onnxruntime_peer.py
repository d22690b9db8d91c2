"""ONNX Runtime: additions of small arrays, built in and through a provider loaded as a plugin."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from benchmarks.compare.model import Call
from benchmarks.peers.build import SOURCES, MissingPeer, build
from benchmarks.peers.common import require

PLUGIN = "ONNX Runtime, plugin provider"
BUILT_IN = "ONNX Runtime, built in"
PROVIDER = "MinimalProvider"
OLDEST = (1, 23)  # the first with providers of other people's that compile nodes
WITHOUT_CPU = "session.disable_cpu_ep_fallback"

SHAPE = (2, 2)
# The numbers that ONNX gives them.
FLOAT, IR_VERSION, OPERATOR_SET = 1, 10, 13


def _varint(number: int) -> bytes:
    """An integer as protocol buffers have it."""
    encoded = b""
    while number > 127:
        encoded += bytes([number & 127 | 128])
        number >>= 7
    return encoded + bytes([number])


def _field(number: int, value: int | str | bytes) -> bytes:
    """A field of a message."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    content = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def chain_of_adds(count: int) -> bytes:
    """An ONNX model: y = a + b, then y + b and so on, that many additions in all.

    Of two inputs, as a subgraph has each of its inputs once.
    """
    shape = b"".join(_field(1, _field(1, extent)) for extent in SHAPE)
    tensor = _field(1, _field(1, FLOAT) + _field(2, shape))
    names = ["a", *(f"y{number}" for number in range(1, count)), "y"]
    nodes = b"".join(
        _field(1, _field(1, before) + _field(1, "b") + _field(2, after) + _field(4, "Add"))
        for before, after in zip(names[:-1], names[1:], strict=True)
    )
    ends = b"".join(
        _field(field, _field(1, name) + _field(2, tensor))
        for field, name in ((11, "a"), (11, "b"), (12, "y"))
    )
    graph = nodes + _field(2, "adds") + ends
    return _field(1, IR_VERSION) + _field(7, graph) + _field(8, _field(2, OPERATOR_SET))


@cache
def _devices() -> list[Any]:
    """The devices of the provider, which is registered for the process."""
    runtime = require("onnxruntime")
    release = tuple(map(int, runtime.__version__.split(".")[:2]))
    if release < OLDEST:
        raise MissingPeer(f"onnxruntime {runtime.__version__} is older than {OLDEST}")
    path = build("onnxruntime_provider", [SOURCES / "onnxruntime_provider.c"])
    runtime.register_execution_provider_library("benchmarks", str(path))
    found = [device for device in runtime.get_ep_devices() if device.ep_name == PROVIDER]
    if not found:
        raise MissingPeer("the provider has found no processor")
    return found


@dataclass(frozen=True)
class _Bound:
    """A model whose inputs and outputs are given once, and what keeps them alive."""

    session: Any
    binding: Any
    values: tuple[Any, ...]


def _bound(count: int, devices: list[Any]) -> _Bound:
    """On one thread, and as it is written: what is compared are the same additions."""
    runtime, numpy = require("onnxruntime"), require("numpy")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    if devices:
        options.add_provider_for_devices(devices, {})
        options.add_session_config_entry(WITHOUT_CPU, "1")
    session = runtime.InferenceSession(chain_of_adds(count), options)
    binding = session.io_binding()
    ones = numpy.ones(SHAPE, numpy.float32)
    x, y = (runtime.OrtValue.ortvalue_from_numpy(array) for array in (ones, 0 * ones))
    for name in ("a", "b"):
        binding.bind_ortvalue_input(name, x)
    binding.bind_ortvalue_output("y", y)
    session.run_with_iobinding(binding)
    if not numpy.array_equal(y.numpy(), (count + 1) * ones):
        raise MissingPeer(f"{count} additions gave {y.numpy().tolist()}")
    return _Bound(session, binding, (x, y))


def calls(count: int) -> dict[str, Call]:
    """That many additions in one run, by column."""
    made = {PLUGIN: _bound(count, _devices()), BUILT_IN: _bound(count, [])}
    return {
        column: Call(
            "run(binding)",
            {"run": bound.session.run_with_iobinding, "binding": bound.binding, "kept": bound},
        )
        for column, bound in made.items()
    }
