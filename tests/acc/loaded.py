"""The table of an accelerator that mx has loaded, for calls that mx does not make by itself."""

from __future__ import annotations

from contextlib import nullcontext

import ffi
from mxacc_check import abi
from mxacc_check.plugin import Plugin


class Loaded(Plugin):
    """The same small host as for a library, on the table that mx has."""

    def __init__(self, name: str):
        address = ffi.get_global_func("mx.acc.table_address")(name)
        self.api = abi.MXAccApi.from_address(address)
        self.guard = nullcontext()
        self.watch = lambda function: None
        self.on_error = lambda error: None

    def close(self) -> None:
        """Nothing: mx unloads it."""
