"""Times the candidates of layers, one after the other, for as long as there is time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from ...graph.lowering import Backend
from ...graph.lowering._trial import LONG, Common, Cost, Trial
from ...graph.lowering._value import REJECTIONS, BackendFailed, Declined, Value
from ._choices import InRows, all_backends, by_table
from ._layers import Noted

# Seconds of runs of one candidate of one layer, where two runs do not take longer.
_EACH = 0.004
# Layers whose candidates are compiled at once, and have their weights in memory at the same time.
_AT_ONCE = 8
# How often candidates that are near are timed again.
_CONFIRMED = 2
# How many times slower than the best a candidate is so that it is not timed any longer.
_HOPELESS = 2.0
# How many times slower a backend has to be, for how many layers and for none less, so that it is
# not tried for others: those that are alike but for shapes, or all of the same operator.
_NEVER, _OFTEN = 3.0, 2
# What it takes to measure a layer: seconds, and runs of the layer as it is; and the part of that
# which it is expected to take until it is corrected by what it does take.
_SETUP, _RUNS, _FACTOR = 0.2, 15.0, 0.5
_SLOW = "many times slower for layers like this one"


@dataclass(frozen=True)
class Measured:
    """The candidates of one layer, by backend."""

    length: int  # how many nodes behind its first are part of it
    costs: Mapping[str, Cost]
    declined: Mapping[str, str]

    def as_json(self) -> list[object]:
        """What `from_json` reads."""
        costs = {
            name: [cost.kernel, list(cost.into.items()), cost.out, list(cost.implementations)]
            for name, cost in self.costs.items()
        }
        return [self.length, costs, dict(self.declined)]

    @staticmethod
    def from_json(data: Any) -> Measured:
        """What was kept. Raises TypeError or ValueError for what is none."""
        length, costs, declined = data
        return Measured(
            int(length),
            {
                str(name): Cost(
                    float(kernel),
                    {int(position): float(time) for position, time in into},
                    float(out),
                    tuple(map(str, names)),
                )
                for name, (kernel, into, out, names) in costs.items()
            },
            {str(name): str(reason) for name, reason in declined.items()},
        )


def _alike(noted: Noted) -> tuple[str, str]:
    return noted.kind(), noted.layer.operator


class Slow:
    """Which backends are many times slower for layers of the same operator and attributes, or of
    the same operator."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], list[float]] = {}

    def add(self, noted: Noted, costs: Mapping[str, Cost]) -> None:
        """Takes note of what a layer takes by each backend."""
        best = min((cost.kernel for cost in costs.values()), default=0.0)
        for name, cost in costs.items():
            if best > 0:
                for alike in _alike(noted):
                    self._found.setdefault((alike, name), []).append(cost.kernel / best)

    def has(self, noted: Noted, backend: str) -> bool:
        """Whether a backend need not be tried for a layer."""
        if backend == noted.backend:
            return False
        of_others = [self._found.get((alike, backend), ()) for alike in _alike(noted)]
        return any(len(found) >= _OFTEN and min(found) > _NEVER for found in of_others)


@dataclass(frozen=True)
class Timed:
    """A layer, and the seconds that one run of it takes untuned."""

    noted: Noted
    seconds: float


def measure(layers: Sequence[Timed], slow: Slow | None = None) -> list[Measured]:
    """Times all backends that can execute layers; what has to be compiled is compiled at once.

    Those that `slow` has are left out, and it is told what was found. So that it is told by short
    ones what need not be tried for long ones, the shortest are first.
    """
    common, slow = Common(), Slow() if slow is None else slow
    sites = [_Site(one.noted, common, slow) for one in layers]
    failed: dict[str, str] = {}
    for finisher in common.finishers.values():
        try:
            finisher.finish()
        except BackendFailed as error:
            failed[error.backend.name] = str(error)
    found: dict[int, Measured] = {}
    for number in sorted(range(len(layers)), key=lambda number: layers[number].seconds):
        found[number] = sites[number].time(failed, slow)
        sites[number].trials.clear()  # what has been timed needs no memory any more
        common.forget()
    return [found[number] for number in range(len(layers))]


class _Site:
    """A layer with a trial of each backend, lowered but not built."""

    def __init__(self, noted: Noted, common: Common, slow: Slow) -> None:
        self.noted, self.default = noted, noted.backend
        self.trials: list[Trial] = []
        self.declined: dict[str, str] = {}
        self.length = noted.taken
        asked = [one for one in all_backends() if one.is_asked(noted.layer.operator)]
        order = sorted(asked, key=lambda one: one.name != noted.backend)
        for backend in order:
            if slow.has(noted, backend.name):
                self.declined[backend.name] = _SLOW
                continue
            trial = self._trial(noted, backend, common)
            if trial is not None:
                self.trials.append(trial)
            elif backend.name == noted.backend:
                return  # as where a plan has it by another way than rules
        if len(self.trials) < 2:
            return
        self.length = max(trial.taken for trial in self.trials)
        layouts = None
        for trial in list(self.trials):
            try:
                trial.finish(self.length, by_table, layouts)
            except (Declined, *REJECTIONS) as error:
                self._drop(trial, error)
                continue
            layouts = trial.layouts if layouts is None else layouts

    def _trial(self, noted: Noted, backend: Backend, common: Common) -> Trial | None:
        """A trial with inputs in the order that they have in memory, or in rows."""
        for one in (backend, InRows(backend)):
            try:
                return Trial(noted.layer, noted.chain, one, common)
            except Declined as error:
                self.declined.setdefault(backend.name, str(error))
                if all(_is_in_rows(value) for value in noted.layer.inputs):
                    break
        return None

    def _drop(self, trial: Trial, error: Exception) -> None:
        self.trials.remove(trial)
        self.declined[trial.backend.name] = str(error)

    def time(self, failed: Mapping[str, str], slow: Slow) -> Measured:
        """Times the trials but for those of backends that have failed, and the reason."""
        costs: dict[str, Cost] = {}
        for trial in list(self.trials):
            name = trial.backend.name
            best = min((cost.kernel for cost in costs.values()), default=float("inf"))
            try:
                if name in failed:
                    raise Declined(failed[name])
                if slow.has(self.noted, name):
                    raise Declined(_SLOW)
                trial.build()
                costs[name] = trial.time(_EACH, _HOPELESS * best)
            except Exception as error:
                # What a kernel of another package does wrong must not end the model's own run.
                self._drop(trial, error)
        slow.add(self.noted, costs)
        for name in costs:
            self.declined.pop(name, None)
        if self.default not in costs or len(costs) < 2:
            return Measured(self.length, {}, self.declined)
        _confirm(self.trials, costs, self.default)
        return Measured(self.length, costs, self.declined)


def _is_in_rows(value: Value | None) -> bool:
    return value is None or (value.layout is None and value.strides is None)


def _confirm(trials: Sequence[Trial], costs: dict[str, Cost], default: str) -> None:
    """Times in turns once more what seems to be faster than what a layer has: a neighbour may have
    had the processor meanwhile."""
    near = {name for name, cost in costs.items() if cost.kernel < costs[default].kernel}
    if not near or costs[default].kernel / 1e6 > LONG:  # of which chance is a small part
        return
    for _ in range(_CONFIRMED):
        for trial in trials:
            name = trial.backend.name
            if name in near or name == default:
                again = trial.time(_EACH / 2, float("inf"), least=1)
                costs[name] = costs[name].least(again)


class Measurements:
    """Measures layers until the time is over. Layers that are alike are measured once."""

    def __init__(self, known: Mapping[str, Measured], until: float) -> None:
        """`known` has what was measured before, by the keys of layers. Measuring ends before
        `until`."""
        self.found = dict(known)
        self.new: dict[str, Measured] = {}
        self.until = until
        self.skipped = 0
        self.slow = Slow()

    def measure(self, layers: Sequence[Timed], tell: Progress) -> None:
        """Measures layers that are not known yet, in order; `tell` is told how many are done."""
        wanted = {one.noted.key(): one for one in reversed(layers)}
        left = {key: wanted[key] for key in reversed(wanted) if key not in self.found}
        count, factor = len(left), _FACTOR
        while left:
            some = _that_fit(left, (self.until - perf_counter()) / factor)
            if not some:
                break
            tell(count - len(left), count)
            begin = perf_counter()
            layers = [left.pop(key) for key in some]
            results = measure(layers, self.slow)
            spent = perf_counter() - begin
            factor = max(factor / 2, spent / sum(map(_expected, layers)))
            self.new.update(zip(some, results, strict=True))
        self.skipped = len(left)
        self.found.update(self.new)
        tell(count, count)


def _that_fit(layers: Mapping[str, Timed], seconds: float) -> list[str]:
    """The first layers that are expected to be measured in so many seconds, at most as many as are
    measured at once: those that take longer are left out, or to later."""
    found: list[str] = []
    for key, one in layers.items():
        if len(found) < _AT_ONCE and _expected(one) <= seconds:
            found.append(key)
            seconds -= _expected(one)
    return found


def _expected(layer: Timed) -> float:
    """Seconds that it is expected to take to measure a layer."""
    return _SETUP + _RUNS * layer.seconds


class Progress:
    """Is told how much of something is done; this one does nothing."""

    def __call__(self, done: int, total: int) -> None:
        """`done` of `total` layers are measured."""
