"""The onnx package's own tests of its operators, deployed: many of them as one library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import onnx
import onnx_ir
import pytest
from onnx_ir.serde import SerdeError

from mx.graph import Graph, GraphError
from mx.sol.backends.gen import Target
from mx.sol.deployments._coverage import WITHOUT, coverage, table
from mx.sol.deployments._lower import lower
from mx.sol.deployments._program import Program
from mx.sol.passes import PASSES, run
from tests.graph.test_onnx_nodes import CASES, check_equal, content_of

from .loaded import Array
from .merged import Merged

PAGE = Path(__file__).parents[3] / "docs/guide/sol-deploy.md"
C = Target.named("c")
# Libraries for all tests: functions that ctypes calls have at most 1024 arguments.
PARTS = 3
# As many tests of an operator as are deployed.
_MOST = 8


def arrays_of(case: Any) -> list[Any]:
    """The inputs of a test, zero-dimensional ones as arrays, too."""
    found = map(content_of, case.data_sets[0][0])
    return [numpy.asarray(one) if isinstance(one, numpy.generic) else one for one in found]


def program_of(case: Any, are_known: bool) -> tuple[Program, list[Array]]:
    """A test's graph as calls of kernels, and what its function is given.

    All inputs but the first are constants of the graph where `are_known`: shapes, axes, numbers.
    """
    arrays = arrays_of(case)
    if any(not isinstance(one, numpy.ndarray) or one.dtype == object for one in arrays):
        raise GraphError("an input is no tensor of numbers")
    graph = Graph(onnx_ir.serde.deserialize_model(case.model))
    inside = graph.model.graph
    given = list(zip(list(inside.inputs), arrays, strict=True))
    for value, array in given[1:] if are_known else ():
        value.const_value = onnx_ir.tensor(array, name=value.name)
        inside.inputs.remove(value)
        inside.register_initializer(value)
    given = given[:1] if are_known else given
    graph.infer({str(value.name): array.shape for value, array in given})
    run(PASSES.enabled, graph)
    return lower(graph, C), [array for _, array in given]


def chosen(part: int) -> Iterator[Any]:
    """The tests of one part of all, which are shared out evenly: not what operators are short for,
    which is the same once more, and of operators with many tests some."""
    counts: dict[str, int] = {}
    for number, name in enumerate(sorted(CASES)):
        family = CASES[name].model.graph.node[0].op_type
        counts[family] = counts.get(family, 0) + 1
        if number % PARTS == part and "expanded" not in name and counts[family] <= _MOST:
            yield CASES[name]


@pytest.mark.parametrize("part", range(PARTS))
def test_nodes(part: int) -> None:
    programs, inputs, cases = [], [], []
    for case in chosen(part):
        for are_known in (False, True):
            try:
                program, given = program_of(case, are_known)
            except (GraphError, SerdeError):
                continue
            if program.calls:
                programs.append(program)
                inputs += given
                cases.append(case)
            break
    assert len(cases) > 100
    outputs = Merged(programs, C).call(inputs)
    for case, program in zip(cases, programs, strict=True):
        for expected in case.data_sets[0][1]:
            check_equal(outputs.pop(0), content_of(expected), case.rtol, max(case.atol, 1e-6))
        assert len(program.outputs) == len(case.data_sets[0][1]), case.name
        node, *others = case.model.graph.node
        assert others or node.domain or node.op_type not in WITHOUT, case.name


def test_every_operator_is_listed() -> None:
    wanted = {one.name for one in onnx.defs.get_all_schemas() if one.domain == ""}
    found = [name for names in coverage().values() for name in names]
    assert sorted(found) == sorted(wanted)


def test_the_page_has_the_table() -> None:
    assert table() in PAGE.read_text(encoding="utf-8")
