"""A function that applies an epilogue to results that lie in memory, a row of them at a time."""

from __future__ import annotations

from collections.abc import Sequence

from ._epilogue import Operand, Step, apply

_FUNCTION = """\
static void {name}({parameters}) {{
  int64_t i = 0;
  for (; i + VW <= count; i += VW) {{
    vf v = vf_load(c + i);
{whole}    vf_store(c + i, v);
  }}
  const int64_t rest = count - i;
  if (rest) {{
    vf v = vf_load_n(c + i, rest);
{last}    vf_store_n(c + i, v, rest);
  }}
}}
"""


def finish_function(name: str, steps: Sequence[Step], operands: Sequence[Operand]) -> str:
    """The function name(c, operands..., count); an operand of kind "row" is one for all of c."""

    def load(is_whole: bool, index: int, operand: Operand) -> str:
        if operand.kind != "full":
            return f"vf_set1(e{index}[0])"
        return f"vf_load(e{index} + i)" if is_whole else f"vf_load_n(e{index} + i, rest)"

    def changes(is_whole: bool) -> str:
        lines = apply(steps, operands, "v", lambda i, operand: load(is_whole, i, operand))
        return "".join(f"    {line}\n" for line in lines)

    given = [f"const float *e{i}" for i in range(len(operands))]
    parameters = ", ".join(["float *c", *given, "int64_t count"])
    return _FUNCTION.format(
        name=name, parameters=parameters, whole=changes(True), last=changes(False)
    )


def finish_call(
    name: str, c: str, operands: Sequence[Operand], row: str, full: str, count: str
) -> str:
    """C of a call, with what to add to operands for each row and for all."""
    shifts = {"row": row, "full": full}
    given = [f"{operand.source} + {shifts.get(operand.kind, '0')}" for operand in operands]
    return f"{name}({', '.join([c, *given, count])});"
