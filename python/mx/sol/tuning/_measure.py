"""Times the candidates of layers, the longest layers first, for as long as there is time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from ...graph.lowering import Backend
from ...graph.lowering._lowering import Finisher
from ...graph.lowering._trial import Cost, Trial
from ...graph.lowering._value import REJECTIONS, BackendFailed, Declined
from ._choices import InRows, all_backends, by_table
from ._layers import Noted

# Seconds of runs of one candidate of one layer.
_EACH = 0.004
# Layers whose candidates are compiled at once, and in memory at the same time.
_AT_ONCE = 4
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


def measure(layers: Sequence[Noted]) -> list[Measured]:
    """Times all backends that can execute layers; what has to be compiled is compiled at once."""
    finishers: dict[Any, Finisher] = {}
    sites = [_Site(noted, finishers) for noted in layers]
    failed: dict[str, str] = {}
    for finisher in finishers.values():
        try:
            finisher.finish()
        except BackendFailed as error:
            failed[error.backend.name] = str(error)
    return [site.time(failed) for site in sites]


class _Site:
    """A layer with a trial of each backend, lowered but not built."""

    def __init__(self, noted: Noted, finishers: dict[Any, Finisher]) -> None:
        self.default = noted.backend
        self.trials: list[Trial] = []
        self.declined: dict[str, str] = {}
        self.length = noted.taken
        asked = [one for one in all_backends() if one.is_asked(noted.layer.operator)]
        order = sorted(asked, key=lambda one: one.name != noted.backend)
        for backend in order:
            trial = self._trial(noted, backend, finishers)
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

    def _trial(
        self, noted: Noted, backend: Backend, finishers: dict[Any, Finisher]
    ) -> Trial | None:
        """A trial with inputs in the order that they have in memory, or in rows."""
        for one in (backend, InRows(backend)):
            try:
                return Trial(noted.layer, noted.chain, one, finishers)
            except Declined as error:
                self.declined.setdefault(backend.name, str(error))
                if not any(value is not None and value.layout for value in noted.layer.inputs):
                    break
        return None

    def _drop(self, trial: Trial, error: Exception) -> None:
        self.trials.remove(trial)
        self.declined[trial.backend.name] = str(error)

    def time(self, failed: Mapping[str, str]) -> Measured:
        """Times the trials but for those of backends that have failed, and the reason."""
        costs: dict[str, Cost] = {}
        for trial in list(self.trials):
            name = trial.backend.name
            best = min((cost.kernel for cost in costs.values()), default=float("inf"))
            try:
                if name in failed:
                    raise Declined(failed[name])
                trial.build()
                costs[name] = trial.time(_EACH, _HOPELESS * best)
            except Exception as error:
                # What a kernel of another package does wrong must not end the model's own run.
                self._drop(trial, error)
        for name in costs:
            self.declined.pop(name, None)
        if self.default not in costs or len(costs) < 2:
            return Measured(self.length, {}, self.declined)
        _confirm(self.trials, costs, self.default)
        return Measured(self.length, costs, self.declined)


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
        keys = list(left)
        longest, begin = 0.0, perf_counter()
        for number in range(0, len(keys), _AT_ONCE):
            # Layers come in the order of their times, so that the next ones take no longer.
            longest, now = max(longest, perf_counter() - begin), perf_counter()
            begin = now
            if now + longest > self.until:
                self.skipped = len(keys) - number
                break
            tell(number, len(keys))
            some = keys[number : number + _AT_ONCE]
            results = measure([left[key] for key in some])
            self.new.update(zip(some, results, strict=True))
        self.found.update(self.new)
        tell(len(left), len(left))


class Progress:
    """Is told how much of something is done; this one does nothing."""

    def __call__(self, done: int, total: int) -> None:
        """`done` of `total` layers are measured."""
