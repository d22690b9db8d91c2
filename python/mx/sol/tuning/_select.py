"""Chooses a backend for each layer of a model so that all of it takes the least time.

Of its own, a layer takes what its kernel takes. What bringing values to another order in memory
takes is spared between two layers of one backend, so layers are looked at alone and in groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...graph.lowering._trial import Cost


@dataclass
class Site:
    """A layer with what each backend takes for it, and which layers give what it reads."""

    costs: Mapping[str, Cost]
    default: str
    producers: Mapping[int, int]  # by the position among the operands: the index of the site
    consumers: list[int] = field(default_factory=list)
    ends: bool = True  # whether others than sites read what it gives


def select(sites: Sequence[Site], margin: float) -> list[str]:
    """The backend of each site. Another one than without tuning has to take less than `margin` of
    the time: a little less may be chance."""
    return _Selection(sites, margin).run()


class _Selection:
    def __init__(self, sites: Sequence[Site], margin: float) -> None:
        self.sites, self.margin = sites, margin
        self.labels = [site.default for site in sites]

    def run(self) -> list[str]:
        names = {name for site in self.sites for name in site.costs}
        for _ in range(8):
            changed = sum(map(self._improve, range(len(self.sites)))) > 0
            for name in sorted(names):
                for group in self._groups(name):
                    changed |= self._flip(group, name)
            if not changed:
                break
        return self.labels

    def _improve(self, index: int) -> bool:
        return sum(self._flip([index], name) for name in self.sites[index].costs) > 0

    def _flip(self, group: Sequence[int], name: str) -> bool:
        """Gives sites a backend if all gets faster by it."""
        near = set(group)
        for index in group:
            near.update(self.sites[index].producers.values(), self.sites[index].consumers)
        before = sum(map(self._cost, near))
        own = sum(map(self._cost, group))
        old = [self.labels[index] for index in group]
        for index in group:
            self.labels[index] = name
        was_default = all(
            label == self.sites[index].default for index, label in zip(group, old, strict=True)
        )
        wanted = own * (1 - self.margin) if was_default else 0.0
        if before - sum(map(self._cost, near)) > wanted + 1e-9:
            return old != [name] * len(group)
        for index, label in zip(group, old, strict=True):
            self.labels[index] = label
        return False

    def _cost(self, index: int) -> float:
        """Microseconds of a site between its neighbours as they are chosen now."""
        site, label = self.sites[index], self.labels[index]
        cost = site.costs[label]
        time = cost.kernel
        if label == site.default:
            return time
        for position, into in cost.into.items():
            producer = site.producers.get(position)
            if producer is None or self.labels[producer] != label:
                time += into
        if site.ends or any(self.labels[one] != label for one in site.consumers):
            time += cost.out
        return time

    def _groups(self, name: str) -> list[list[int]]:
        """Neighbours whose kernels are faster by a backend that they do not have yet."""
        wanted = {
            index
            for index, site in enumerate(self.sites)
            if name in site.costs
            and self.labels[index] != name
            and site.costs[name].kernel < site.costs[self.labels[index]].kernel
        }
        groups = []
        while wanted:
            going, group = [wanted.pop()], []
            while going:
                index = going.pop()
                group.append(index)
                site = self.sites[index]
                near = wanted.intersection([*site.producers.values(), *site.consumers])
                wanted -= near
                going += near
            groups.append(group)
        return groups
