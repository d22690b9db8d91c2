"""The function boundary between Python and C++.

`get_global_func` finds what C++ registered, `register_func` registers what Python has; a Function
is called like any other. `backend` tells whether calls take the Cython or the ctypes path.
"""

from ._backend import backend as backend
from ._backend import core as _core
from .backtrace import set_backtrace as set_backtrace
from .container import Array as Array
from .container import Dict as Dict
from .container import List as List
from .container import Map as Map
from .conversion import Opaque as Opaque
from .conversion import opaque as opaque
from .conversion import register_converter as register_converter
from .crashes import disable_crash_report as disable_crash_report
from .crashes import enable_crash_report as enable_crash_report
from .enums import get_enum as get_enum
from .enums import list_enum_names as list_enum_names
from .errors import register_error as register_error
from .library import Module as Module
from .library import load_library as load_library
from .object import Object as Object
from .object import get_class as get_class
from .object import register_class as register_class
from .registry import _init_api as _init_api
from .registry import convert as convert
from .registry import get_global_func as get_global_func
from .registry import list_global_func_names as list_global_func_names
from .registry import register_func as register_func
from .registry import remove_global_func as remove_global_func
from .tracing import Trace as Trace
from .tracing import TraceCall as TraceCall
from .tracing import trace as trace

Context = _core.Context
Function = _core.Function
NDArray = _core.NDArray
ObjectBase = _core.ObjectBase
cpu = _core.cpu
from_dlpack = _core.from_dlpack
register_object = _core.register_object

__version__: str = _core.version()[2]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from . import config as config
    from . import cpp as cpp
    from . import reference as reference
    from . import typing as typing
else:
    # Imported when first used: they take as long to import as all the rest, and few need them.
    _LATER = ("config", "cpp", "reference", "typing")

    def __dir__() -> list[str]:
        return sorted({*globals(), *_LATER})

    def __getattr__(name: str) -> "ModuleType":
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return import_module(f"{__name__}.{name}")


__all__ = [
    "Array",
    "Context",
    "Dict",
    "Function",
    "List",
    "Map",
    "Module",
    "NDArray",
    "Object",
    "ObjectBase",
    "Trace",
    "TraceCall",
    "Opaque",
    "backend",
    "config",
    "convert",
    "cpp",
    "cpu",
    "disable_crash_report",
    "enable_crash_report",
    "from_dlpack",
    "get_class",
    "get_enum",
    "get_global_func",
    "list_enum_names",
    "list_global_func_names",
    "load_library",
    "opaque",
    "reference",
    "register_class",
    "register_converter",
    "register_error",
    "register_func",
    "register_object",
    "remove_global_func",
    "set_backtrace",
    "trace",
]
