"""Tunes a model: times the candidates of its layers, chooses, and compares the model as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import onnx_ir

from ...graph import Graph, Plan
from ...graph.lowering._node import attributes_of
from ...graph.lowering._trial import operands
from .._config import config
from .._plans import plan_of
from .._text import layer_of
from ..jits import seconds_compiling
from ._choices import Choices, all_backends
from ._kept import Kept, key_of
from ._layers import Noted, Recording, rounded
from ._measure import Measured, Measurements, Progress, Timed
from ._progress import progress
from ._select import Site, select
from ._tuning import Candidate, TunedLayer, Tuning

# Of the time for tuning, the part for comparing the model as a whole: at least, and at most where
# planning it and the fewest runs take longer.
_FOR_MODEL, _MOST_FOR_MODEL = 0.2, 0.5
# Runs of both plans in turns, and how many there are at least besides one before them; one where it
# takes less than this part of the time before, as expected, or long.
_MOST_RUNS, _LEAST_RUNS, _CLEAR = 15, 2, 0.95
# Seconds that a run takes so that a second one need not tell of chance, or of the memory that a
# plan has to fetch in its first one.
_SHORT = 0.1
# The part of the time of a layer that it is expected to gain where nothing is known of that.
_GAIN = 0.1
# The part of the time without tuning that a layer may take to get another backend, tried in turn.
_MARGINS = (0.97, 0.75)


def tune(
    graph: Graph,
    inputs: Mapping[str, Any],
    name: str,
    seconds: float,
    shown: bool | None = None,
    again: bool = False,
    records: bool = False,
    **options: Any,
) -> tuple[Tuning, Plan]:
    """Tunes a graph behind the passes for the shapes of inputs; what it found out, and the plan.

    It measures for about `seconds`; what was kept before is not measured again unless `again`.
    `records` says whether the plan remembers of what it is made. `shown` is whether there is a
    progress bar, None for on terminals. `options` are others of the plan, which may write to
    inputs. Models that take several plans are not tuned.
    """
    begin, compiling = perf_counter(), seconds_compiling()
    kept = Kept()
    key = key_of(_describe(graph, inputs, options))
    known = None if again else kept.model(key)
    if known is not None and known.is_enough(seconds):
        return known, plan_of(graph, Choices(known.chosen, records), **options)
    recording = Recording(records)
    try:
        plan = plan_of(graph, recording, **options)
        compiled = plan.compiled(inputs)
        if compiled is None:
            return Tuning((), 0.0, 0.0, False, perf_counter() - begin, seconds), plan
        # Another plan has nothing to compile: its kernels have been timed.
        planned = perf_counter() - begin - (seconds_compiling() - compiling)
        times = _seconds_by_step(compiled, inputs)
        run = sum(times.values())
        if plan.may_be_sliced(inputs):
            untuned = plan_of(graph, Choices(records=records), **options)
            in_slices = untuned.compiled(inputs)
            if in_slices is not None and in_slices.slices != 1:
                plan, compiled = untuned, in_slices
                run = _seconds_of(compiled, inputs)
        at_end = max(_FOR_MODEL * seconds, planned + 3 * run)
        at_end = min(at_end, _MOST_FOR_MODEL * seconds)
        until = begin + seconds - at_end
        measurements = Measurements({} if again else kept.layers(), until)
        measurements.measure(_by_gain(recording.layers, times), progress(shown))
    finally:  # the plan keeps it
        noted = recording.stop()
    names = {node.name or node.op_type: layer_of(node) for node in graph.nodes}
    tried: list[dict[int, str]] = []
    # Where all that is a little faster is not faster as a whole, what is much faster may be.
    for margin in _MARGINS:
        found = _chosen(noted, names, measurements, margin)
        chosen = {one.position: one.chosen for one in found.layers if one.chosen != one.untuned}
        is_late = perf_counter() - begin > seconds
        if tried and (not chosen or chosen in tried or is_late):
            break
        tuning = found
        if not chosen:
            break
        tried.append(chosen)
        other = plan_of(graph, Choices(chosen, records), **options)
        most = at_end / len(_MARGINS)
        before, after = _compare(compiled, other.compiled(inputs), inputs, most)
        tuning = replace(tuning, untuned=before, tuned=after, kept=after < before)
        if tuning.kept:
            plan = other
            break
    tuning = replace(tuning, seconds=perf_counter() - begin, asked=seconds)
    kept.keep(key, name, tuning, measurements.new)
    return tuning, plan


class Tuner:
    """Makes plans whose layers are measured before; what it has measured it remembers."""

    def __init__(self, seconds: float, shown: bool | None = None, again: bool = False) -> None:
        """See `tune`; the time is that for each plan."""
        self._seconds, self._shown, self._again = seconds, shown, again
        self._found: dict[str, Tuning] = {}
        # Whether it measures plans that it does not know.
        self.measures = True

    @classmethod
    def by_config(cls) -> Tuner | None:
        """One for what is tuned before it runs for the first time, if anything is."""
        return cls(config["tuning_seconds"]) if config["autotune"] else None

    def plan(
        self, graph: Graph, inputs: Mapping[str, Any], **options: Any
    ) -> tuple[Tuning | None, Plan]:
        """What was found out about a graph behind the passes, None where nothing was, and its plan.
        Inputs may be written to, if the options of the plan say so."""
        key = key_of(_describe(graph, inputs, options))
        known = self._found.get(key)
        if known is not None or not self.measures:
            chosen = None if known is None else known.chosen
            return known, plan_of(graph, Choices(chosen), **options)
        tuning, plan = tune(
            graph, inputs, graph.name, self._seconds, self._shown, self._again, **options
        )
        self._found[key] = tuning
        return tuning, plan


def _describe(graph: Graph, inputs: Mapping[str, Any], options: Mapping[str, Any]) -> Iterator[Any]:
    """What a graph computes, but for the elements of weights."""
    layouts = {name: one.layout.text for name, one in options.get("layouts", {}).items()}
    yield {**options, "layouts": layouts} if options else []
    yield [[name, tuple(array.shape), str(array.dtype)] for name, array in inputs.items()]
    yield sorted(graph.model.opset_imports.items())
    yield [value.name for value in graph.model.graph.outputs]
    for value in graph.model.graph.initializers.values():
        yield [value.name, str(value.dtype), str(value.shape)]
    for node in graph.model.graph:
        attributes = {name: _plain(value) for name, value in attributes_of(node).items()}
        names = [[value and value.name for value in side] for side in (node.inputs, node.outputs)]
        yield [node.domain, node.op_type, attributes, names]


def _plain(value: Any) -> Any:
    if isinstance(value, (onnx_ir.Graph, list)) or not hasattr(value, "tobytes"):
        return str(rounded(value))
    return [str(value.dtype), value.shape, value.tobytes().hex()]


def _seconds_of(compiled: Any, inputs: Mapping[str, Any]) -> float:
    arrays, begin = list(inputs.values()), perf_counter()
    compiled.run(arrays)
    return perf_counter() - begin


def _seconds_by_step(compiled: Any, inputs: Mapping[str, Any]) -> dict[str, float]:
    arrays = list(inputs.values())
    _, nanoseconds = compiled.profile(arrays)
    if sum(nanoseconds) < _SHORT * 1e9:
        _, nanoseconds = compiled.profile(arrays)
    times: dict[str, float] = {}
    for (name, *_), time in zip(compiled.steps, nanoseconds, strict=True):
        times[name] = times.get(name, 0.0) + time / 1e9
    return times


def _by_gain(layers: Sequence[Noted], times: Mapping[str, float]) -> list[Timed]:
    """Layers, those first by which most time is expected to be gained, by all that are alike; those
    that take no time of their own are left out, as views are."""
    found = [Timed(one, times[one.layer.name]) for one in layers if one.layer.name in times]
    gains: dict[str, float] = {}
    for one in found:
        key, layer = one.noted.key(), one.noted.layer
        saves = max(backend.saves(layer) for backend in all_backends())
        gains[key] = gains.get(key, 0.0) + one.seconds * (_GAIN + saves)
    return sorted(found, key=lambda one: -gains[one.noted.key()])


def _chosen(
    layers: Sequence[Noted], names: Mapping[str, str], measurements: Measurements, margin: float
) -> Tuning:
    sites, heads, measured, alone = _sites(layers, measurements.found)
    labels = select(sites, margin)
    tuned = [_alone(names, *one) for one in alone]
    for site, noted, one, label in zip(sites, heads, measured, labels, strict=True):
        operators = (noted.layer.operator, *(node.operator for node in noted.chain[: one.length]))
        tuned.append(
            TunedLayer(
                names.get(noted.layer.name, noted.layer.name),
                operators,
                noted.layer.position,
                site.default,
                label,
                tuple(_candidates(one)),
            )
        )
    tuned.sort(key=lambda one: one.position)
    return Tuning(tuple(tuned), 0.0, 0.0, False, 0.0, skipped=measurements.skipped)


def _alone(names: Mapping[str, str], noted: Noted, one: Measured) -> TunedLayer:
    """A layer with nothing to choose from, and why no other backend has it."""
    layer = noted.layer
    operators = (layer.operator, *(node.operator for node in noted.chain[: noted.taken]))
    why = "left as it is" if noted.backend in one.declined else "the only one that is left"
    own = Candidate(noted.backend, (), None, 0.0, why)
    others = [other for other in _declined(one) if other.backend != noted.backend]
    name = names.get(layer.name, layer.name)
    return TunedLayer(name, operators, layer.position, noted.backend, noted.backend, (own, *others))


def _sites(
    layers: Sequence[Noted], found: Mapping[str, Measured]
) -> tuple[list[Site], list[Noted], list[Measured], list[tuple[Noted, Measured]]]:
    """The layers that were measured, with who reads what of whom, and those with one backend."""
    reader = {id(value): one for one in layers for value in one.layer.inputs if value is not None}
    covered: set[int] = set()
    sites: list[Site] = []
    heads: list[Noted] = []
    measured: list[Measured] = []
    alone: list[tuple[Noted, Measured]] = []
    giver: dict[int, int] = {}
    for noted in layers:
        one = found.get(noted.key())
        if id(noted) in covered or one is None:
            continue
        if not one.costs:
            alone.append((noted, one))
            continue
        last, taken = noted, noted.taken
        while taken < one.length:
            following = reader.get(id(last.outputs[0]))
            if following is None:
                break
            covered.add(id(following))
            last, taken = following, taken + 1 + following.taken
        read = enumerate(operands(noted.layer, noted.chain[: one.length]))
        producers = {n: giver[id(value)] for n, value in read if id(value) in giver}
        for index in set(producers.values()):
            sites[index].consumers.append(len(sites))
        giver.update({id(value): len(sites) for value in last.outputs})
        sites.append(Site(one.costs, noted.backend, producers))
        heads.append(noted)
        measured.append(one)
    return _with_ends(sites, layers, giver), heads, measured, alone


def _with_ends(sites: list[Site], layers: Sequence[Noted], giver: Mapping[int, int]) -> list[Site]:
    """Sites that know whether others than sites read what they give."""
    readers = dict.fromkeys(range(len(sites)), 0)
    for noted in layers:
        values = operands(noted.layer, noted.chain[: noted.taken])
        for index in {giver[id(value)] for value in values if id(value) in giver}:
            readers[index] += 1
    for index, site in enumerate(sites):
        site.ends = readers[index] != len(site.consumers) or not site.consumers
    return sites


def _candidates(one: Measured) -> Iterator[Candidate]:
    for backend, cost in one.costs.items():
        around = cost.alone - cost.kernel
        yield Candidate(backend, cost.implementations, cost.kernel, around, "")
    yield from _declined(one)


def _declined(one: Measured) -> Iterator[Candidate]:
    for backend, reason in one.declined.items():
        yield Candidate(backend, (), None, 0.0, reason)


def _compare(
    one: Any, other: Any, inputs: Mapping[str, Any], seconds: float
) -> tuple[float, float]:
    """Microseconds of two plans that run in turns, of which the first one has run before: the
    least, as others may run meanwhile."""
    if other is None:
        return 0.0, 0.0
    until = perf_counter() + seconds
    _seconds_of(other, inputs)
    before = after = float("inf")
    count = 0
    while not _are_compared(count, before, after, perf_counter() > until):
        before = min(before, _seconds_of(one, inputs) * 1e6)
        after = min(after, _seconds_of(other, inputs) * 1e6)
        count += 1
    return before, after


def _are_compared(count: int, before: float, after: float, is_late: bool) -> bool:
    """Whether so many runs of two plans, of which these were the shortest, are enough."""
    is_clear = after < _CLEAR * before or before > 1e6 * _SHORT
    least = 1 if is_clear else _LEAST_RUNS
    return count >= (least if is_late else _MOST_RUNS)


__all__ = ["Progress", "Tuner", "tune"]
