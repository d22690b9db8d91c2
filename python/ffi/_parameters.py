"""What these headers say: dlpack.h, c_runtime_api.h.

Written by tools/write_mirrors.py; do not edit.
"""

from __future__ import annotations

PARAM_REQUIRED = 0
PARAM_OPTIONAL = 1
PARAM_VARIADIC = 2
PARAM_FRONT_END = 4
PARAM_KEYWORD_ONLY = 8
PARAM_MUTATED = 16
ROLE_ATTRIBUTE = 0
ROLE_ARRAY = 1
ROLE_ARRAYS = 2
ROLE_OUT = 3
ROLE_CONTEXT = 4
ROLE_DTYPE = 5
ROLE_SHAPE = 6
ROLE_AXES = 7
ROLES = ("attribute", "array", "arrays", "out", "context", "dtype", "shape", "axes")
