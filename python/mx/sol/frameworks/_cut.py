"""Where a model is cut of which its framework executes a part, and what a warning says of it."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any, Generic, TypeVar

from .._errors import SolWarning

T = TypeVar("T")

# What plans items from one position up to another, and gives why that cannot be, or "".
Attempt = Callable[[int, int], str]
# Kinds of arguments for which a function is kept in parts.
_MOST = 16


def failing(
    count: int,
    why: str,
    attempt: Attempt,
    blamed: Callable[[str], int | None] = lambda why: None,
) -> dict[int, str]:
    """Which of the items of a model cannot be optimized, with the reasons.

    `why` is the reason that all together cannot be, and `blamed` gives the item that a reason
    names, where it does. That one is tried alone, and what is before and behind it; otherwise
    halves are, until one item is left. So a few such items among many take few attempts.
    """
    found: dict[int, str] = {}

    def search(first: int, stop: int, why: str) -> None:
        if why and stop - first == 1:
            found[first] = why
        elif why:
            item = blamed(why)
            if item is None or not first <= item < stop:
                middle = (first + stop) // 2
                parts = [(first, middle), (middle, stop)]
            else:
                parts = [(first, item), (item, item + 1), (item + 1, stop)]
            for part in parts:
                if part[0] < part[1]:
                    search(*part, attempt(*part))

    if count:
        search(0, count, why if count > 1 else attempt(0, count))
    return found


def grouped(
    reads: Sequence[Collection[Hashable]],
    writes: Sequence[Collection[Hashable]],
    apart: Collection[int],
) -> list[tuple[bool, list[int]]]:
    """Items in groups that can be executed one after the other, each at once: whether it is one of
    items that stay apart, and the numbers of its items.

    Items are in an order of execution. What reads nothing that items apart have written is in the
    first group, what depends on as many of them in a chain as other items is in a group with those.
    """
    depth: dict[Hashable, int] = {}
    groups: dict[tuple[int, bool], list[int]] = {}
    for number, (read, written) in enumerate(zip(reads, writes, strict=True)):
        at, is_apart = max((depth.get(one, 0) for one in read), default=0), number in apart
        groups.setdefault((at, is_apart), []).append(number)
        depth.update(dict.fromkeys(written, at + is_apart))
    return [(is_apart, groups[at, is_apart]) for at, is_apart in sorted(groups)]


def reason_of(error: Exception) -> str:
    """An error in a line."""
    return " ".join(str(error).split()) or type(error).__name__


def tell(
    model: str,
    framework: str,
    parts: Sequence[str],
    reasons: Sequence[str],
    stacklevel: int,
    kind: str = "",
) -> None:
    """Warns of what a framework executes, and why; `parts` are those that plans execute, and `kind`
    what these are called, where it is not what they are of all models of the framework."""
    kind = kind or _KINDS[framework]
    done = f"all except the {kind} {', '.join(parts)}" if parts else "it"
    why = "; ".join(dict.fromkeys(reasons))
    warnings.warn(f"{model}: {framework} executes {done}: {why}", SolWarning, stacklevel + 1)


_KINDS = {
    "torch": "modules",
    "Keras": "layers",
    "TensorFlow": "modules",
    "JAX": "parts",
}


class Step:
    """Operations that are executed at once, by a plan or by the framework."""

    def __init__(self, run: Any, taken: Sequence[Any], given: Sequence[Any], count: int) -> None:
        self.run, self.taken, self.given = run, taken, given
        self.count = count  # of operations


class Kept(Generic[T]):
    """A function in parts for each kind of arguments that it has been called with; of many kinds
    the oldest go."""

    def __init__(self) -> None:
        self._found: dict[Hashable, T] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> T | None:
        """What was added last by this key, if it is there."""
        return self._found.get(key)

    def add(self, key: Hashable, made: T) -> None:
        """Keeps what was made for arguments of one kind."""
        with self._lock:
            while len(self._found) >= _MOST:
                del self._found[next(iter(self._found))]
            self._found[key] = made
