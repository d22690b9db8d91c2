"""Times the candidates of layers, the longest layers first, for as long as there is time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from ...graph.lowering._trial import Cost, Trial
from ...graph.lowering._value import Declined
from ._choices import by_table
from ._layers import Noted

# Seconds of runs of one candidate of one layer.
_EACH = 0.004
# How often candidates that are near are timed again.
_CONFIRMED = 2
# How many times slower than the best a candidate is after one run so that it gets no second one.
_HOPELESS = 2.0


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


def measure(noted: Noted) -> Measured:
    """Times all backends that can execute a layer, the one that it has first."""
    order = by_table(noted.layer.operator)
    trials: list[Trial] = []
    declined: dict[str, str] = {}
    for backend in sorted(order, key=lambda one: one.name != noted.backend):
        try:
            trials.append(Trial(noted.layer, noted.chain, backend))
        except Declined as error:
            declined[backend.name] = str(error)
    names = {trial.backend.name for trial in trials}
    if noted.backend not in names or len(trials) < 2:
        return Measured(noted.taken, {}, declined)
    length = max(trial.taken for trial in trials)
    costs: dict[str, Cost] = {}
    layouts = None
    for trial in trials:
        name = trial.backend.name
        best = min((cost.kernel for cost in costs.values()), default=float("inf"))
        try:
            trial.finish(length, by_table, layouts)
            costs[name] = trial.time(_EACH, _HOPELESS * best)
        except Exception as error:
            # Whatever a kernel of another package does wrong must not end the model's own run.
            declined[name] = f"{type(error).__name__}: {error}"
            if name == noted.backend:
                return Measured(noted.taken, {}, declined)
            continue
        layouts = trial.layouts if layouts is None else layouts
    _confirm(trials, costs, noted.backend)
    return Measured(length, costs, declined)


def _confirm(trials: Sequence[Trial], costs: dict[str, Cost], default: str) -> None:
    """Times in turns once more what seems to be faster than what a layer has: a neighbour may have
    had the processor meanwhile."""
    near = {name for name, cost in costs.items() if cost.kernel < costs[default].kernel}
    if not near:
        return
    for _ in range(_CONFIRMED):
        for trial in trials:
            name = trial.backend.name
            if name in near or name == default:
                again = trial.time(_EACH / 2, float("inf"))
                costs[name] = costs[name].least(again)


class Measurements:
    """Measures layers until the time is over. Layers that are alike are measured once."""

    def __init__(self, known: Mapping[str, Measured], until: float) -> None:
        """`known` has what was measured before, by the keys of layers."""
        self.found = dict(known)
        self.new: dict[str, Measured] = {}
        self.until = until
        self.skipped = 0

    def measure(self, layers: Sequence[Noted], tell: Progress) -> None:
        """Measures layers that are not known yet; `tell` is told how many are done."""
        wanted = {one.key(): one for one in layers}
        left = {key: one for key, one in wanted.items() if key not in self.found}
        for number, (key, noted) in enumerate(left.items()):
            if perf_counter() > self.until:
                self.skipped = len(left) - number
                break
            tell(number, len(left))
            self.found[key] = self.new[key] = measure(noted)
        tell(len(left), len(left))


class Progress:
    """Is told how much of something is done; this one does nothing."""

    def __call__(self, done: int, total: int) -> None:
        """`done` of `total` layers are measured."""
