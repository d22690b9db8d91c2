"""Random graphs with branches, several inputs and outputs, cut into parts at random.

A seed has all of it follow, which tells a graph to whoever wants it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .chains import BINARY, SHAPE, Net
from .plugin import Array

MOST_NODES = 12
# Elements beyond it leave float32 too few digits for what is subtracted from them.
LARGEST = 1e3


@dataclass(frozen=True)
class Part:
    """Some nodes of a graph as a graph of their own, by their values in the whole one."""

    net: Net
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


def random_net(seed: int, operators: Sequence[str]) -> tuple[Net, list[Array]]:
    """A graph of some of these operators, and arrays for its inputs."""
    attempt = 0
    while True:
        net, inputs = _attempt(np.random.default_rng([seed, attempt]), operators, attempt)
        if all(np.abs(value).max() < LARGEST for value in net.values(inputs)):
            return net, inputs
        attempt += 1


def _attempt(
    random: np.random.Generator, operators: Sequence[str], attempt: int
) -> tuple[Net, list[Array]]:
    """A graph of fewer nodes the more attempts have given elements that are too large."""
    num_inputs, num_weights = int(random.integers(1, 4)), int(random.integers(0, 3))
    first = num_inputs + num_weights
    nodes: list[tuple[str, list[int]]] = []
    unused = list(range(first))
    for number in range(int(random.integers(2, max(MOST_NODES - attempt, 2) + 1))):
        operator = operators[int(random.integers(len(operators)))]
        taken = []
        for _ in range(2 if operator in BINARY else 1):
            # What nobody has taken is taken more often, so that branches come together again.
            known = unused if unused and random.random() < 0.5 else range(first + number)
            taken.append(int(known[int(random.integers(len(known)))]))
        unused = [value for value in unused if value not in taken]
        unused.append(first + number)
        nodes.append((operator, taken))
    last = [value for value in unused if value >= first]
    others = [
        v for v in range(first, first + len(nodes)) if v not in last and random.random() < 0.2
    ]
    arrays = [random.uniform(-1, 1, SHAPE).astype("float32") for _ in range(first)]
    whole = Net(num_inputs, arrays[num_inputs:], nodes, [*last, *others])
    part = part_of(whole, range(len(nodes)), whole.outputs)  # without inputs that nobody takes
    return part.net, [arrays[value] for value in part.inputs]


def part_of(net: Net, nodes: Sequence[int], outputs: Sequence[int]) -> Part:
    """Nodes of a graph, by their numbers and in order, that give these values."""
    taken = {value for node in nodes for value in net.nodes[node][1]}
    made = [net.first + node for node in nodes]
    inputs = [
        value for value in sorted(taken)
        if value < net.num_inputs or value >= net.first and value not in made
    ]  # fmt: skip
    weights = [value for value in sorted(taken) if net.num_inputs <= value < net.first]
    numbers = {value: number for number, value in enumerate([*inputs, *weights, *made])}
    rows = [
        (net.nodes[node][0], [numbers[value] for value in net.nodes[node][1]]) for node in nodes
    ]
    own = [net.weights[value - net.num_inputs] for value in weights]
    return Part(
        Net(len(inputs), own, rows, [numbers[value] for value in outputs]),
        tuple(inputs),
        tuple(outputs),
    )


def random_parts(seed: int, net: Net) -> list[Part]:
    """The nodes in parts, in an order in which they can run; the whole graph where it is one."""
    random = np.random.default_rng([seed, 1 << 20])
    count = len(net.nodes)
    cuts = [at for at in range(1, count) if random.random() < 2 / count]
    parts = []
    for begin, end in zip([0, *cuts], [*cuts, count], strict=True):
        made = range(net.first + begin, net.first + end)
        later = {value for _, taken in net.nodes[end:] for value in taken}
        outputs = [value for value in made if value in later or value in net.outputs]
        parts.append(part_of(net, range(begin, end), outputs))
    return parts
