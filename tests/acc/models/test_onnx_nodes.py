"""The onnx package's own tests of its operators, on accelerators with the CPU beside them.

Of tests that differ neither in operators and names of attributes nor in types of inputs refacc runs
one, and the others, which compile for long or execute few operators, one of each operator and type.
opencl, which compiles a kernel for each of them, runs one of each operator, with the types in turn:
tests/acc/kernels has a type of each family for each formula. MXFFI_ALL_NODES=1 has all of them run.
"""

import gc
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy
import onnx_ir
import pytest

import mx
from mx.graph import Graph, PartitionedPlan
from tests.graph.test_onnx_nodes import CASES, NOT_RUN, check_equal, content_of

from ..conftest import FILES, need


def all_of(case: Any) -> Any:
    """What a test is alone with: nothing is left out."""
    return case.name


def kinds_of(case: Any) -> Any:
    """The operators, the names of attributes and the types of inputs."""
    nodes = case.model.graph.node
    types = tuple(each.type.tensor_type.elem_type for each in case.model.graph.input)
    operators = tuple(
        (node.op_type, *sorted(attribute.name for attribute in node.attribute)) for node in nodes
    )
    return operators, types


def single_of(case: Any) -> Any:
    """The operator and the type of the first input of a model of one node; None for all others."""
    node, *others = case.model.graph.node
    return None if others else (node.op_type, kinds_of(case)[1][:1])


@dataclass(frozen=True)
class Library:
    """An accelerator, and by what its tests are told apart: the first of the same is run."""

    key: Callable[[Any], Any]
    least: int  # how many run on the device as a whole
    apart: dict[str, str] = field(default_factory=dict)  # what is not run, and why
    rejections: str = "(?!)"  # what it may say of models that it has taken: by default, nothing
    takes_turns: bool = False  # whether an operator is run with one of its types


LIBRARIES = {
    "refacc": Library(kinds_of, 150),
    "onednn": Library(single_of, 20),
    "opencl": Library(single_of, 80, takes_turns=True),
    "openvino": Library(
        single_of,
        50,
        apart={
            "test_dynamicquantizelinear_expanded": "it multiplies with what others divide by, "
            "whose last bit may decide between two numbers"
        },
        rejections="(?s).*(operation with dynamic rank|loadModel gave 1 inputs and)",
    ),
}


def chosen(library: str) -> list[str]:
    """The names of the tests that are run on a library."""
    is_all = os.environ.get("MXFFI_ALL_NODES") == "1"
    key = all_of if is_all else LIBRARIES[library].key
    found: dict[Any, str] = {}
    for name, case in sorted(CASES.items(), key=lambda item: (len(item[0]), item[0])):
        if not name.startswith((*NOT_RUN, *LIBRARIES[library].apart)):
            found.setdefault(key(case), name)
    if is_all or not LIBRARIES[library].takes_turns:
        return list(found.values())
    of_operator: dict[Any, list[str]] = {}
    for of_case, name in found.items():
        of_operator.setdefault(of_case and of_case[0], []).append(name)
    return [names[i % len(names)] for i, names in enumerate(of_operator.values())]


ROWS = [(library, name) for library in LIBRARIES for name in chosen(library)]
on_device: dict[str, int] = dict.fromkeys(LIBRARIES, 0)


@pytest.fixture(scope="module")
def device(request, accelerators) -> Iterator[mx.Context]:
    """The first device of a library."""
    kind = request.param
    path = accelerators / FILES[kind]
    if not path.exists():
        need(kind)
    ctx = mx.load_acc(path, f"nodes{kind}")
    yield ctx
    gc.collect()
    if kind == "refacc":
        assert ctx.configure(check=1)["violations"] == "0"
    mx.unload_acc(ctx.device_type)


@pytest.mark.parametrize(
    ("device", "kind", "name"),
    [(kind, kind, name) for kind, name in ROWS],
    indirect=["device"],
    ids=[f"{kind}-{name}" for kind, name in ROWS],
)
def test_node(device, kind, name) -> None:
    case = CASES[name]
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("error", mx.AccFallbackWarning)  # of failures
        warnings.filterwarnings("ignore", LIBRARIES[kind].rejections)
        warnings.simplefilter("ignore", mx.AccPlacementWarning)
        warnings.filterwarnings("ignore", "(?s).*Nodes whose shapes that leaves unknown run on the")
        plan = PartitionedPlan(Graph(onnx_ir.from_proto(case.model)), device, cache=False)
        for given, expected in case.data_sets:
            outputs = plan(*(content_of(item) for item in given))
            for output, other in zip(outputs, expected, strict=True):
                got = output.asnumpy() if isinstance(output, mx.np.ndarray) else output
                check_equal(got, content_of(other), case.rtol, max(case.atol, 1e-6))
    on_device[kind] += plan.placement().is_whole


@pytest.mark.parametrize("kind", LIBRARIES)
def test_many_ran_on_the_device(kind) -> None:
    """So that the others are not the CPU alone."""
    run = on_device[kind]
    if run:  # where the tests before have been run
        assert run >= LIBRARIES[kind].least
