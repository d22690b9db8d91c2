"""What tuning has found out about a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._text import shortened, table


@dataclass(frozen=True)
class Candidate:
    """A backend for a layer."""

    backend: str
    implementations: tuple[str, ...]
    microseconds: float | None  # of its kernels; None where it was not measured
    around: float  # to bring values to the order in memory that it wants, and back
    declined: str  # why it does not execute the layer, "" where it does


@dataclass(frozen=True)
class TunedLayer:
    """A layer of a model and its candidates."""

    name: str
    operators: tuple[str, ...]
    position: int  # among the nodes behind the passes
    untuned: str  # the backend that it has without tuning
    chosen: str
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class Tuning:
    """Candidates for the layers of one model on one processor, and what was chosen."""

    layers: tuple[TunedLayer, ...]
    untuned: float  # microseconds of the model without tuning; 0 where nothing else was tried
    tuned: float
    kept: bool  # whether what was chosen is faster as a whole, and so used
    seconds: float  # that tuning took
    asked: float = 0.0  # the seconds that it was given
    skipped: int = 0  # layers for which there was no time
    from_cache: bool = False

    @property
    def chosen(self) -> dict[int, str]:
        """The backends of layers that have another one than without tuning, by position."""
        if not self.kept:
            return {}
        return {one.position: one.chosen for one in self.layers if one.chosen != one.untuned}

    def is_enough(self, seconds: float) -> bool:
        """Whether so many seconds would find out no more, as far as can be told: where nothing was
        measured something else has taken the time."""
        return not self.skipped or (bool(self.layers) and self.asked >= seconds)

    def __str__(self) -> str:
        lines = [self._head()]
        if self.layers:
            rows: list[tuple[str, ...]]
            rows = [("layer (operators)", "backend", "implementation", "us", "around", "")]
            for layer in self.layers:
                rows += _rows(layer, self.kept)
            lines += [f"  {line}" for line in table(rows, left=3)]
        return "\n".join(lines)

    def _head(self) -> str:
        others = sum(one.chosen != one.untuned for one in self.layers)
        where = "from the cache, measured" if self.from_cache else "measured"
        head = f"Tuning, {where} in {self.seconds:.1f} s: {len(self.layers)} layers"
        if self.skipped:
            head += f", {self.skipped} not measured for want of time"
        if not others:
            return f"{head}; all stay as they are"
        change = f"{self.untuned:.1f} us to {self.tuned:.1f} us for the model"
        if not self.kept:
            return f"{head}; {others} were faster elsewhere, but not the model ({change}): not used"
        return f"{head}; {others} changed ({change})"

    def as_json(self) -> dict[str, Any]:
        """What `from_json` reads."""
        return {
            "untuned": self.untuned, "tuned": self.tuned, "kept": self.kept,
            "seconds": self.seconds, "asked": self.asked, "skipped": self.skipped,
            "layers": [_as_json(one) for one in self.layers],
        }  # fmt: skip

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Tuning:
        """What was kept. Raises KeyError, TypeError or ValueError for what is none."""
        layers = [
            TunedLayer(
                str(one["name"]),
                tuple(map(str, one["operators"])),
                int(one["position"]),
                str(one["untuned"]),
                str(one["chosen"]),
                tuple(_candidate(*parts) for parts in one["candidates"]),
            )
            for one in data["layers"]
        ]
        return Tuning(
            tuple(layers),
            float(data["untuned"]),
            float(data["tuned"]),
            bool(data["kept"]),
            float(data["seconds"]),
            float(data["asked"]),
            int(data["skipped"]),
            from_cache=True,
        )


def _as_json(layer: TunedLayer) -> dict[str, Any]:
    candidates = [
        [one.backend, list(one.implementations), one.microseconds, one.around, one.declined]
        for one in layer.candidates
    ]
    return {
        "name": layer.name, "operators": list(layer.operators), "position": layer.position,
        "untuned": layer.untuned, "chosen": layer.chosen, "candidates": candidates,
    }  # fmt: skip


def _candidate(backend: Any, names: Any, time: Any, around: Any, declined: Any) -> Candidate:
    microseconds = None if time is None else float(time)
    return Candidate(
        str(backend), tuple(map(str, names)), microseconds, float(around), str(declined)
    )


def _rows(layer: TunedLayer, kept: bool) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    used = layer.chosen if kept else layer.untuned
    for number, one in enumerate(layer.candidates):
        name = shortened(f"{layer.name} ({', '.join(layer.operators)})") if number == 0 else ""
        star = "*" if one.backend == used else ""
        if one.microseconds is None:
            rows.append((name, one.backend, shortened(one.declined), "-", "-", star))
            continue
        names = shortened(", ".join(one.implementations))
        time, around = f"{one.microseconds:.1f}", f"{one.around:.1f}"
        rows.append((name, one.backend, names, time, around, star))
    return rows
