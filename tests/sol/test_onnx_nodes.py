"""The onnx package's own tests of its operators, through sol.optimize."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from typing import Any

import onnx_ir
import pytest

from mx import sol
from mx.graph import Graph
from tests.graph.test_onnx_nodes import CASES, NOT_RUN, check_equal, content_of

# What cannot be called with arrays, by the error that says so.
REJECTED = {
    r"input '\w+': expected a tensor, got (seq|optional)\(": "identity_opt identity_sequence "
    "loop13_seq loop16_seq_none optional_get_element_optional_* optional_get_element_sequence "
    "optional_has_element_optional_input optional_has_element_tensor_input "
    "optional_has_element_empty_optional_input sequence_insert_* sequence_map_*",
}
PARTS = 8


def reason_of(name: str) -> str | None:
    """The error that a test of the onnx package ends with."""
    short = name.removeprefix("test_")
    for reason, patterns in REJECTED.items():
        if any(fnmatch.fnmatchcase(short, one) for one in patterns.split()):
            return reason
    return None


def outputs_of(case: Any, inputs: Sequence[Any]) -> list[Any]:
    """What an optimized model gives."""
    fast = sol.optimize(Graph(onnx_ir.serde.deserialize_model(case.model)))
    found = fast(*map(content_of, inputs))
    return [found] if len(case.model.graph.output) == 1 else list(found)


@pytest.mark.parametrize("part", range(PARTS))
def test_nodes(part: int) -> None:
    """What operators are short for is the same once more, and left out."""
    names = [name for name in sorted(CASES) if "expanded" not in name]
    for name in names[part::PARTS]:
        case, reason = CASES[name], reason_of(name)
        if any(name.startswith(begin) for begin in NOT_RUN):
            continue
        for inputs, outputs in case.data_sets:
            if reason is not None:
                with pytest.raises((TypeError, ValueError), match=reason):
                    outputs_of(case, inputs)
                continue
            for one, proto in zip(outputs_of(case, inputs), outputs, strict=True):
                try:
                    check_equal(one, content_of(proto), case.rtol, max(case.atol, 1e-6))
                except AssertionError as error:
                    raise AssertionError(f"{name}: {error}") from None
