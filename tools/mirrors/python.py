"""The structs of headers as classes of ctypes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .header import Function, Header, Value

NUMBERS = {
    "int": "c_int",
    "float": "c_float",
    "double": "c_double",
    "char": "c_char",
    "size_t": "c_size_t",
    **{
        f"{sign}int{bits}_t": f"c_{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
    },
}
PREFIX = re.compile(r"^(?:kMXNet|kMXAcc|MXNET_|MXACC_)")
DLPACK = re.compile(r"^(?:kDL|DLPACK_)")


def constant(name: str) -> str:
    """kMXNetFuncHandle is FUNC_HANDLE, kDLCPU is DL_CPU."""
    name = DLPACK.sub("DL_", PREFIX.sub("", name))
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()


def flags(header: Header, enums: Sequence[str]) -> str:
    """The numbers of some enums, and of each the names in their order: MXNetParamRole has ROLES."""
    lines = []
    for enum in enums:
        names = {constant(name): number for name, number in header.enums[enum].items()}
        lines += [f"{name} = {number}" for name, number in names.items()]
        if list(names.values()) == list(range(len(names))):
            texts = [name.partition("_")[2].lower() for name in names]
            lines.append(f"{next(iter(names)).partition('_')[0]}S = {tuple(texts)!r}")
    return "\n".join(lines) + "\n"


class Writer:
    """calls: whether functions in structs are called from Python and so have their types there.

    Else they are addresses, and what points to something is one in every function, too: ctypes
    converts to a declared type for each call. under_lock: functions that are called with the GIL.
    without: enums whose numbers stand in another mirror.
    """

    def __init__(
        self,
        header: Header,
        calls: bool,
        under_lock: Sequence[str] = (),
        without: Sequence[str] = (),
    ):
        self._header, self._calls, self._under_lock = header, calls, under_lock
        self._left_out = {name for enum in without for name in header.enums[enum]}
        self._written: set[str] = set()
        self._lines: list[str] = []

    def write(self) -> str:
        self._lines = [
            f"{constant(name)} = {number}"
            for name, number in self._header.constants.items()
            if name not in self._left_out
        ]
        for name, made in self._header.types.items():
            if isinstance(made, list):
                self._struct(name, made)
            elif isinstance(made, Function):
                kind = "PYFUNCTYPE" if name in self._under_lock else "CFUNCTYPE"
                self._lines.append(f"{name} = {self._function(made, kind)}")
            else:
                self._lines.append(f"{name} = {self._type(made)}")
            self._written.add(name)
        text = "\n".join(self._lines) + "\n"
        names = r"\b(?:c_\w+|POINTER|\w+FUNCTYPE|Structure|Union)\b"
        imports = ", ".join(sorted(set(re.findall(names, text))))
        return f"from ctypes import {imports}\n\n{text}"

    def _struct(self, name: str, members: list[Value]) -> None:
        base = "Union" if name in self._header.unions else "Structure"
        # What a run of elements begins at, and bytes, which end where their size says.
        pairs = zip(members, members[1:], strict=False)
        sized = {a.name for a, b in pairs if b.name == "size" and a.type.endswith("*")}
        fields = [
            f'    ("{m.name}", {"c_void_p" if m.name in sized else self._member(m)}),'
            for m in members
        ]
        text = "\n".join(fields)
        later = [
            other
            for other, made in self._header.types.items()
            if isinstance(made, list) and other not in self._written
        ]
        if forward := [other for other in later if re.search(rf"\b{other}\b", text)]:
            if forward != [name]:
                raise ValueError(f"{name} has members of types that are declared behind it")
            self._lines += [f"class {name}({base}):", "    pass"]
            self._lines += [f"{name}._fields_ = [", text, "]"]
        else:
            self._lines += [f"class {name}({base}):", "    _fields_ = [", text, "    ]"]

    def _member(self, member: Value) -> str:
        if member.function is not None:
            return self._function(member.function, "CFUNCTYPE") if self._calls else "c_void_p"
        if isinstance(self._header.types.get(member.type), Function):
            return member.type
        made = self._type(member.type)
        return f"{made} * {member.count}" if member.count else made

    def _function(self, function: Function, kind: str) -> str:
        parts = [self._type(function.returns)]
        sizes = [param.name.endswith("size") for param in function.params[1:]]
        for param, sized in zip(function.params, [*sizes, False], strict=False):
            made = self._type(param.type)
            if made == "c_char_p" and sized:
                made = "POINTER(c_char)"
            parts.append(made if self._calls or "*" not in param.type else "c_void_p")
        return f"{kind}({', '.join(parts)})"

    def _type(self, text: str) -> str:
        text = re.sub(r"\bconst\b", "", text).strip()
        if text == "void":
            return "None"
        if text == "char*":
            return "c_char_p"
        if text.endswith("*"):
            inner = text[:-1].strip()
            known = inner.endswith("*") or inner in NUMBERS or inner in self._header.types
            return f"POINTER({self._type(inner)})" if known else "c_void_p"
        return "c_int32" if text in self._header.enums else NUMBERS.get(text, text)
