"""Which operators of ONNX can be deployed, and why the others cannot."""

from __future__ import annotations

from typing import Any

import onnx

from ...graph import OPSET
from ..backends.gen._emit_group import is_in_groups
from ..backends.gen._table import EMITTERS
from ._aliases import has_alias
from ._expansions import expansion_of
from ._random import RANDOM

_REASONS = {
    "elements decide the shape of its output": "NonMaxSuppression NonZero Unique",
    "sequences and optionals have no type in C, and what is in them is not known": "SequenceMap "
    "ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt "
    "SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength SplitToSequence",
    "texts have no type in C": "RegexFullMatch StringConcat StringNormalizer StringSplit "
    "TfIdfVectorizer",
    "it reads formats of files": "ImageDecoder",
    "there is no kernel for it": "BitCast",
    "it is computed beforehand only, of inputs that are known": "BlackmanWindow Constant "
    "ConstantOfShape HammingWindow HannWindow MelWeightMatrix Range",
}
# By operator, why it cannot be deployed where its inputs are not known.
WITHOUT = {name: reason for reason, names in _REASONS.items() for name in names.split()}
# What draws otherwise follows from the seed.
WITHOUT |= dict.fromkeys(
    RANDOM.keys() - {"Dropout"},
    "it gives other numbers each time, and has no seed inside of a branch or a loop",
)
_CONTROL = frozenset(("If", "Loop", "Scan"))
_BEFOREHAND = frozenset(("Shape", "Size"))  # by the shape of the input alone


def coverage() -> dict[str, tuple[str, ...]]:
    """The operators of ONNX by how they are deployed, where types and attributes allow it.

    "kernel": by a generated kernel, or as the memory of their input; "nodes": by nodes of others;
    "control": as branches and loops of C; "error": not, for a reason that `WITHOUT` has.
    """
    names: dict[str, list[str]] = {"kernel": [], "nodes": [], "control": [], "error": []}
    for name in sorted({schema.name for schema in _schemas()}):
        if name in RANDOM:
            names["nodes"].append(name)
        elif name in WITHOUT:
            names["error"].append(name)
        elif name in _CONTROL:
            names["control"].append(name)
        elif name in EMITTERS or is_in_groups(name) or has_alias(name) or name in _BEFOREHAND:
            names["kernel"].append(name)
        elif expansion_of(name, OPSET) is not None or _has_body(name):
            names["nodes"].append(name)
    return {kind: tuple(found) for kind, found in names.items()}


def _schemas() -> list[onnx.defs.OpSchema]:
    return [
        one
        for one in onnx.defs.get_all_schemas()
        if one.domain == "" and one.since_version <= OPSET
    ]


def _has_body(name: str) -> bool:
    schema: Any = onnx.defs.get_schema(name, OPSET, "")  # of which the stubs lack a part
    return bool(schema.has_function or schema.has_context_dependent_function)


def table() -> str:
    """What cannot be deployed, as a table of Markdown: the page about deployment has it."""
    errors = coverage()["error"]
    lines = ["| why not | operators |", "|---|---|"]
    for reason, names in _REASONS.items():
        lines.append(f"| {reason} | {', '.join(n for n in names.split() if n in errors)} |")
    return "\n".join(lines)
