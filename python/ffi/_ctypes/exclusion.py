"""The lock of what threads share, for interpreters without the GIL."""

from __future__ import annotations

import os
from _thread import RLock

# Held only for a few steps that never wait.
exclusion = RLock()

# The thread that holds it at a fork does not exist in the child.
os.register_at_fork(after_in_child=exclusion._at_fork_reinit)  # type: ignore[attr-defined]
