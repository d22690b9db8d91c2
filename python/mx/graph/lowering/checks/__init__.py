"""What has to hold for a node, whoever executes it: attributes and inputs that fit one another.

What is asked of an operator stands in the module of its family, a function each. Backends may
take for granted what holds behind these; elements that only a run tells are looked at then.
"""

from . import _attributes, _indices, _numbers, _recurrence, _shapes, _windows
from ._checked import check_node

__all__ = ["check_node"]
_FAMILIES = (_attributes, _indices, _numbers, _recurrence, _shapes, _windows)
