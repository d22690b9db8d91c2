"""MXNet's checkpoints: `prefix-symbol.json` and `prefix-0000.params`.

`mx.sym` and `mx.model` are what users have of it.
"""

from .conversion import convert, draws_in_training, make_graph, only_in_training, to_onnx
from .exporting import from_graph
from .params import load_arrays, load_params, save_arrays, save_params
from .symbol_json import read_json, write_json

__all__ = [
    "convert",
    "draws_in_training",
    "from_graph",
    "load_arrays",
    "load_params",
    "make_graph",
    "only_in_training",
    "read_json",
    "save_arrays",
    "save_params",
    "to_onnx",
    "write_json",
]
