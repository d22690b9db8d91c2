"""What makes models smaller before they are planned: `sol.passes`, an ordered list.

The passes are those of `mx.graph.passes`, and those that others add: by an entry point in the group
`mx.sol.passes`, or by `sol.passes.add`.
"""

from ...graph.passes import CPU_PASSES as _OWN
from ._list import PassList, Removed, run
from .bf16 import BF16
from .int8 import INT8

__all__ = ["PASSES", "PassList", "Removed", "run"]

_OFF = (INT8, BF16)
PASSES = PassList([*_OWN[:-1], *_OFF, _OWN[-1]], off=[one.name for one in _OFF])
