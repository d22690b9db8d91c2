"""The rows of the tables, in their order. A peer fills in the rows it can run."""

from __future__ import annotations

from collections.abc import Sequence

NO_ARGUMENTS = "f()"
THREE_INTS = "f(1, 2, 3)"
STRING = "f('str')"
SHAPE = "f((3, 4))"
ZEROS = "f((3, 4), 'float32', 'cpu(0)')"
ZEROS_NUMPY_DTYPE = "f((3, 4), numpy.dtype('float32'), 'cpu(0)')"
ZEROS_PARSED = "f((3, 4), 'float32', 'cpu(0)'), typed: dtype parsed"
KEYWORDS = "f(a=1, b=2, c=3)"
NUMPY_IN = "numpy array in"
TORCH_IN = "torch tensor in"
OWN_IN = "the library's own array in"
ECHO = "string in and out"
CALLBACK = "C++ calls a Python function"
THROWN = "C++ throws ValueError, Python catches"
RETURNED = "ValueError by error code, Python catches"

CALLS = (
    NO_ARGUMENTS,
    THREE_INTS,
    STRING,
    SHAPE,
    ZEROS,
    ZEROS_NUMPY_DTYPE,
    ZEROS_PARSED,
    KEYWORDS,
    NUMPY_IN,
    TORCH_IN,
    OWN_IN,
    ECHO,
    CALLBACK,
    THROWN,
    RETURNED,
)

OBJECT_ECHO = "object of a registered class in and out"
TENSOR_ECHO = "torch tensor in, torch tensor out"
SHORT_ECHO = "string of 7 characters in and out"
LONG_ECHO = "string of 200 characters in and out"
SIZES = (10, 1000)
ARRAY_IN = {size: f"Array of a list of {size} integers" for size in SIZES}
ARRAY_OUT = {size: f"list of an Array of {size} integers" for size in SIZES}
MAP_IN = {size: f"Map of a dict of {size} strings to integers" for size in SIZES}
MAP_OUT = {size: f"dict of a Map of {size} strings to integers" for size in SIZES}

VALUES = (
    OBJECT_ECHO,
    TENSOR_ECHO,
    SHORT_ECHO,
    LONG_ECHO,
    CALLBACK,
    *ARRAY_IN.values(),
    *ARRAY_OUT.values(),
    *MAP_IN.values(),
    *MAP_OUT.values(),
)

NP_ZEROS = "zeros((3, 4))"
NP_ZEROS_DTYPE = "zeros((3, 4), dtype='float64')"
NP_ZEROS_CTX = "zeros((3, 4), dtype='float64', ctx=context)"
NP_ZEROS_CTX_MADE = "zeros((3, 4), dtype='float64', ctx=mx.cpu(0))"
NP_ZEROS_CTX_STRING = "zeros((3, 4), dtype='float64', ctx='cpu(0)')"
NP_TENSORDOT = "tensordot(a, b, ((1, 0), (0, 1))), (2, 3, 4) and (3, 2, 5)"
NP_ADD = "a + b, (2, 2)"

WORKLOADS = (
    NP_ZEROS,
    NP_ZEROS_DTYPE,
    NP_ZEROS_CTX,
    NP_ZEROS_CTX_MADE,
    NP_ZEROS_CTX_STRING,
    NP_TENSORDOT,
    NP_ADD,
)

NP_MATMUL_LARGE = "matmul(a, b), 1024 x 1024"
NP_TENSORDOT_LARGE = "tensordot(a, b, 1), 1024 x 1024"

LARGE = (NP_MATMUL_LARGE, NP_TENSORDOT_LARGE)

ELEMENTS = 1 << 16
_BINARY = ("add", "multiply", "divide", "maximum", "power", "greater")
_UNARY = ("negative", "sqrt", "exp", "log", "sin", "tanh", "sum", "max", "argmax", "cumsum")
_FLOAT64 = {
    *("add", "divide", "maximum", "power", "greater"),
    *("sqrt", "exp", "log", "sin", "tanh", "max", "argmax"),
}
# Cases by name: the function, its number of operands and their data type.
ELEMENTWISE_CASES = {
    f"{name}({'a, b' if name in _BINARY else 'a'}), {dtype}": (
        name,
        2 if name in _BINARY else 1,
        dtype,
    )
    for dtype in ("float32", "float64")
    for name in (*_BINARY, *_UNARY)
    if dtype == "float32" or name in _FLOAT64
}
ELEMENTWISE = tuple(ELEMENTWISE_CASES)

# The bodies that both this package and the library built in the run have.
LIBRARY = (NO_ARGUMENTS, THREE_INTS, STRING, SHAPE, ZEROS, KEYWORDS, ECHO)


def as_typed(case: str) -> str:
    """The name of a case whose functions are looked up as users type them, not bound to a name."""
    return f"{case}, as typed"


def both_ways(wanted: Sequence[str]) -> list[str]:
    """Cases, each followed by the same as typed."""
    return [row for case in wanted for row in (case, as_typed(case))]


def in_column(case: str, column: str) -> str:
    """The name of a case in a process that has it in several columns."""
    return f"{case}, {column}"


LOOKUP = "look a function up by name"
