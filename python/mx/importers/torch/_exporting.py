"""Who exports a module has it changed for that time."""

from __future__ import annotations

import threading

# What exports and decompositions set for their time holds for all of torch, and what they put in
# the position of weights for all who have the module.
exporting = threading.RLock()
