"""Graphs of modules kept for the next start: found again by a key that needs no torch.export.

A key describes what torch.export would look at: the code that `forward` reaches, with the globals,
closures and attributes that this reads, the structure and the tensors of the module, the example,
the versions and the settings of torch. Where something is found that cannot be described for
certain, nothing is kept and nothing that is kept is used. `_code` reads functions, `_known` says
what of torch, NumPy and Python is taken for what it is by its name, `_description` describes
objects, `_modules` modules and examples; `_environment` has versions and settings, `_graphs` what
is in a file, and `_captures` brings all that together.
"""

from ._captures import Key, capture, capture_training

__all__ = ["Key", "capture", "capture_training"]
