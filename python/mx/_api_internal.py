"""The operators as the registry has them: `_api_internal.zeros(shape, dtype, ctx)`."""

import ffi

from . import _library  # noqa: F401  registers the operators

ffi._init_api("_npi", __name__)
