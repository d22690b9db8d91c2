"""Values and outcomes in a form that is compared exactly: with types, and across both paths."""

import ctypes

import numpy

from ffi._backend import core


def plain(value, api=core):
    """A value of a path as nested tuples of strings, numbers and bytes that tell all about it."""
    kind = type(value).__name__
    if isinstance(value, numpy.ndarray):
        packed = numpy.ascontiguousarray(value).reshape(value.shape)
        return "ndarray", packed.dtype.name, packed.shape, packed.tobytes()
    if isinstance(value, (tuple, list)):
        return kind, tuple(plain(item, api) for item in value)
    if isinstance(value, dict):
        return kind, tuple((plain(key, api), plain(item, api)) for key, item in value.items())
    if isinstance(value, api.ObjectBase):
        return _object(value, api)
    return kind, repr(value)


def _object(value, api):
    key = value.type_key
    if key == "ffi.NDArray":
        # The result of a copy, so its elements lie without gaps.
        content = ctypes.string_at(value.data_ptr, value.nbytes)
        return "ndarray", str(value.dtype), value.shape, content
    if key == "ffi.Function":
        return "Function", value.name
    size, item = {
        "ffi.Array": ("ffi.ArraySize", "ffi.ArrayItem"),
        "ffi.Map": ("ffi.MapSize", "ffi.MapItem"),
    }[key]
    count = api.get_global(size)(value)
    return key, tuple(plain(api.get_global(item)(value, i), api) for i in range(count))


def outcome(api, function, *args, **kwargs):
    """What a call does: the plain value it returns, or the class and text of what it raises."""
    try:
        result = function(*args, **kwargs)
    except Exception as error:
        return "raised", type(error).__name__, str(error)
    return "returned", plain(result, api)
