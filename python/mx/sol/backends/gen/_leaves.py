"""The tensors that the elementwise nodes of a group read, as pointers and values in C."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ._body import load, splat, value_type
from ._group import Leaf
from ._types import type_of


@dataclass
class Source:
    """A leaf of a group in a kernel."""

    leaf: Leaf
    name: str  # of its pointer
    outer: tuple[int, ...]  # strides along the axes before the last ones
    inner: tuple[int, ...]  # along those from the last ones on; the last stride is 0 or 1

    def pointer(self) -> str:
        """The statement that declares the pointer to its part in a row."""
        kind = type_of(self.leaf.dtype).memory
        terms = [f"x{axis} * {step}" for axis, step in enumerate(self.outer) if step]
        offset = " + ".join(terms) or "0"
        source = f"(const {kind} *)in[{self.leaf.position}] + {offset}"
        return f"const {kind} *const {self.name} = {source};"

    def moved(self, prefix: str) -> str:
        """The pointer in a part of a row, by the indices along the inner axes but the last."""
        terms = [f"{prefix}{axis} * {step}" for axis, step in enumerate(self.inner[:-1]) if step]
        return f"({self.name} + {' + '.join(terms)})" if terms else self.name


@dataclass
class Sources:
    """The leaves of a group in a kernel, and values that are no leaves of tensors."""

    items: list[Source]
    is_vector: bool
    values: dict[Leaf, str] = field(default_factory=dict)

    def pointers(self) -> list[str]:
        """The declarations of all pointers."""
        return [source.pointer() for source in self.items]

    def splats(self, prefix: str) -> tuple[list[str], dict[Leaf, str]]:
        """Statements for what does not change in a part of a row, and the names of those values."""
        lines, names = [], dict(self.values)
        for source in self.items:
            if source.inner[-1] == 0:
                dtype = source.leaf.dtype
                value = splat(self.is_vector, dtype, source.moved(prefix))
                lines.append(
                    f"const {value_type(self.is_vector, dtype)} s_{source.name} = {value};"
                )
                names[source.leaf] = f"s_{source.name}"
        return lines, names

    def loads(
        self, prefix: str, index: str, rest: str | None, skip: Iterable[Leaf] = ()
    ) -> tuple[list[str], dict[Leaf, str]]:
        """Statements for what changes from element to element, and the names of those values."""
        lines, names = [], {}
        for source in self.items:
            if source.inner[-1] and source.leaf not in set(skip):
                dtype = source.leaf.dtype
                value = load(self.is_vector, dtype, source.moved(prefix), index, rest)
                lines.append(
                    f"const {value_type(self.is_vector, dtype)} a_{source.name} = {value};"
                )
                names[source.leaf] = f"a_{source.name}"
        return lines, names


def sources_of(
    leaves: Sequence[Leaf],
    strides: Mapping[Leaf, tuple[tuple[int, ...], tuple[int, ...]]],
    is_vector: bool,
    prefix: str,
) -> Sources:
    """The leaves with their strides: those along outer and along inner axes."""
    items = [
        Source(leaf, f"{prefix}{number}", *strides[leaf]) for number, leaf in enumerate(leaves)
    ]
    return Sources(items, is_vector)
