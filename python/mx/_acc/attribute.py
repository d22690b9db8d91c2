"""`mx.<name>` of accelerators that can be found and that nobody has asked for yet.

A module with a `__getattr__` has every name of it looked up slowly, `mx.np` among them. So mx has
one only where there is something to be found at a glance, in the environment or the package, and
only until somebody has looked. What other packages have, `mx.acc(name)` finds.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from ffi import Context

from . import loading
from .loading import CONTEXTS

VARIABLE = "MXNET_ACC_LIBRARIES"
AUTOLOAD = "MXNET_ACC_AUTOLOAD"
BUNDLED = os.path.join(os.path.dirname(os.path.dirname(__file__)), "lib", "accelerators")


def is_on() -> bool:
    """Whether anything is loaded but what load_acc is given."""
    return os.environ.get(AUTOLOAD, "1") != "0"


def offer() -> None:
    """Has `mx.<name>` look for accelerators, where the environment or the package may have any."""
    if is_on() and (os.environ.get(VARIABLE) or os.path.isdir(BUNDLED)):
        loading.namespace["__getattr__"] = find


def withdraw() -> None:
    """What there was to be found is in mx now."""
    loading.namespace.pop("__getattr__", None)


def find(name: str) -> Callable[..., Context]:
    """What `mx.<name>` is where mx has no such attribute yet: an accelerator that can be found.

    Raises AttributeError, with the reason where an accelerator was found and did not load.
    """
    from .discovery import DISCOVERY

    if not name.startswith("_"):
        DISCOVERY.look_for(name, installed=False)
        if name in CONTEXTS:
            return CONTEXTS[name]
    text = f"module 'mx' has no attribute {name!r}"
    for failure in DISCOVERY.failures(name):
        text = f"mx.{name}: {failure.path} ({failure.found}) did not load: {failure.error}"
        raise AttributeError(text) from failure.error
    if not name.startswith("_"):
        text += f"; mx.acc({name!r}) looks for an accelerator in installed packages, too"
    raise AttributeError(text)
