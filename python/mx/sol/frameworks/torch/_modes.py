"""The modes that a module's modules have while it is captured for other frameworks, or planned."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ....importers.torch._exporting import exporting


@contextlib.contextmanager
def in_mode(module: Any, training: bool) -> Iterator[None]:
    """Has all modules in training, unless one is already, or all in eval mode, unless the module
    itself is: then each of them keeps its mode."""
    modules = list(module.modules())
    before = [one.training for one in modules]
    is_as_wanted = any(before) if training else not module.training
    with exporting if not is_as_wanted else contextlib.nullcontext():
        if not is_as_wanted:
            _set(modules, [training] * len(modules))
        try:
            yield
        finally:
            if not is_as_wanted:
                _set(modules, before)


def _set(modules: list[Any], modes: list[bool]) -> None:
    # Not by train() and eval(), which a class may define: they could do more than that.
    for one, mode in zip(modules, modes, strict=True):
        one.training = mode
