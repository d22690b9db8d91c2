"""The portable path: everything through ctypes, with the behaviour of the Cython path."""

from .abi import version as version
from .context import Context as Context
from .context import cpu as cpu
from .errors import set_error_class as set_error_class
from .function import Function as Function
from .function import convert_function as convert_function
from .function import get_global as get_global
from .function import list_global_names as list_global_names
from .function import register_global as register_global
from .function import remove_global as remove_global
from .ndarray import NDArray as NDArray
from .ndarray import from_dlpack as from_dlpack
from .objects import ObjectBase as ObjectBase
from .objects import register_object as register_object
