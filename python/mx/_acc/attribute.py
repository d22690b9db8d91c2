"""`mx.<name>` of accelerators that can be found and that nobody has asked for yet.

A `__getattr__` makes every look-up of a module's names slow, that of `mx.np` too. So mx has one
only where the environment or the package has accelerators, until they have been looked for.
`mx.acc(name)` finds those of other packages.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from . import loading

VARIABLE = "MXNET_ACC_LIBRARIES"
AUTOLOAD = "MXNET_ACC_AUTOLOAD"
BUNDLED = os.path.join(os.path.dirname(os.path.dirname(__file__)), "lib", "accelerators")


def is_on() -> bool:
    """Whether accelerators are loaded without load_acc."""
    return os.environ.get(AUTOLOAD, "1") != "0"


def offer(find: Callable[[str], Any]) -> None:
    """Has find give `mx.<name>`, where the environment or the package may have accelerators."""
    if is_on() and (os.environ.get(VARIABLE) or os.path.isdir(BUNDLED)):
        loading.namespace["__getattr__"] = find


def withdraw() -> None:
    """Removes `__getattr__`: what can be found is an attribute of mx by now."""
    loading.namespace.pop("__getattr__", None)
