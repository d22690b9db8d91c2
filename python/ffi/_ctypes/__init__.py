"""The portable path: everything through ctypes, with the behaviour of the Cython path."""

from .abi import version as version
from .arguments import make_opaque as make_opaque
from .arguments import register_converter as register_converter
from .callback import convert_function as convert_function
from .classes import Field as Field
from .classes import class_info as class_info
from .containers import ArrayBase as ArrayBase
from .containers import DictBase as DictBase
from .containers import FrozenMapBase as FrozenMapBase
from .containers import ListBase as ListBase
from .containers import MapBase as MapBase
from .containers import SeqBase as SeqBase
from .context import Context as Context
from .context import cpu as cpu
from .errors import set_error_class as set_error_class
from .function import Function as Function
from .ndarray import NDArray as NDArray
from .ndarray import from_dlpack as from_dlpack
from .objects import ObjectBase as ObjectBase
from .objects import adopt as adopt
from .objects import register_object as register_object
from .objects import set_class_factory as set_class_factory
from .registry import get_global as get_global
from .registry import list_global_names as list_global_names
from .registry import register_global as register_global
from .registry import remove_global as remove_global
