"""Headers as Cython has to be told of them."""

from __future__ import annotations

from collections.abc import Iterator

from .header import Function, Header, Value

INDENT = "    "


def write(header: Header, include: str, typed: tuple[str, ...]) -> str:
    """All of it in one block; typed: enums whose name is the type of a member."""
    names = {name for enum in typed for name in header.enums[enum]}
    blocks = [["enum:", *(INDENT + name for name in header.constants if name not in names)]]
    for enum in typed:
        blocks.append([f"ctypedef enum {enum}:", *(INDENT + name for name in header.enums[enum])])
    blocks += [list(_type(header, name)) for name in header.types]
    for name, function in header.functions.items():
        blocks.append([f"{_returning(function)}{name}({_params(function, True)}) noexcept"])
    text = "\n\n".join("\n".join(INDENT + line for line in block) for block in blocks)
    return f'cdef extern from "{include}" nogil:\n{text}\n'


def _type(header: Header, name: str) -> Iterator[str]:
    made = header.types[name]
    if isinstance(made, str):
        yield f"ctypedef {made} {name}"
    elif isinstance(made, Function):
        yield f"ctypedef {_declared(Value('', name, function=made))}"
    else:
        yield f"ctypedef {'union' if name in header.unions else 'struct'} {name}:"
        yield from (INDENT + _declared(member) for member in made)


def _declared(value: Value) -> str:
    if value.function is not None:
        function = value.function
        return f"{_returning(function)}(*{value.name})({_params(function, False)}) noexcept"
    return f"{value.type} {value.name}" + (f"[{value.count}]" if value.count else "")


def _returning(function: Function) -> str:
    return f"{function.returns} "


def _params(function: Function, named: bool) -> str:
    return ", ".join(_declared(param) if named else param.type for param in function.params)
