"""What keeps threads from each other where the interpreter does not."""

from __future__ import annotations

import os
from _thread import RLock

# Held for few steps, none of which waits for another thread.
exclusion = RLock()

# A thread that held it at a fork does not exist in the child.
os.register_at_fork(after_in_child=exclusion._at_fork_reinit)  # type: ignore[attr-defined]
