# A process has one runtime, so only one of its interpreters can have this module.
from ffi import _interpreter

if PyInterpreterState_GetID(PyInterpreterState_Get()) != 0:
    raise ImportError(_interpreter.MESSAGE)
