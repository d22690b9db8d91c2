"""Type stubs of what is registered: `python -m ffi stubgen`, and its parts for other generators."""

from .command import main as main
from .expressions import MEANINGS as MEANINGS
from .expressions import SOURCES as SOURCES
from .expressions import Expressions as Expressions
from .functions import function as function
from .functions import parameters as parameters
from .modules import module_stub as module_stub
from .modules import stubs as stubs

__all__ = [
    "MEANINGS",
    "SOURCES",
    "Expressions",
    "function",
    "main",
    "module_stub",
    "parameters",
    "stubs",
]
