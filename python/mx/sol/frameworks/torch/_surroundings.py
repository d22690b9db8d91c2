"""What torch does around a call of a module that only its own operators take part in."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from torch.autograd import forward_ad

_is_autocast_enabled = torch._C._is_any_autocast_enabled
_are_transforms_active = torch._C._are_functorch_transforms_active
_is_tracing = torch._C._is_tracing
# Why torch executes a model.
_AUTOCAST = "torch.autocast is on, and other precisions are not implemented yet"
_TRANSFORM = "torch.func transforms it, which knows torch's operators only"
_FORWARD = "derivatives are computed in forward mode, for which plans have no rules"
_TRACED = "torch traces or compiles it, and sees its own operators only"

# Functions that return False wherever a plan may run, and a dictionary, a key and the object there.
PREVENTS = (_is_autocast_enabled, _are_transforms_active, _is_tracing)
UNLESS = (forward_ad.__dict__, "_current_level", -1)


def prevents() -> str:
    """Why torch has to execute what is called now; "" where nothing is in the way of a plan."""
    if _is_autocast_enabled():
        return _AUTOCAST
    if _are_transforms_active():
        return _TRANSFORM
    if forward_ad._current_level >= 0:
        return _FORWARD
    return _TRACED if _is_tracing() or torch.compiler.is_compiling() else ""


def check_surroundings(name: str) -> None:
    """RuntimeError where only torch could execute a model of this name, and torch has none."""
    why = prevents()
    if why and why != _AUTOCAST:
        raise RuntimeError(f"{name}: torch cannot execute a model of another framework: {why}")


@contextlib.contextmanager
def plain() -> Iterator[None]:
    """Has torch's operators compute in the types that they are given, as plans run outside of
    torch.autocast only."""
    with contextlib.ExitStack() as entered:
        if _is_autocast_enabled():
            for device in ("cpu", "cuda", "xpu", "mps"):
                if torch.is_autocast_enabled(device):
                    entered.enter_context(torch.autocast(device, enabled=False))
        yield
