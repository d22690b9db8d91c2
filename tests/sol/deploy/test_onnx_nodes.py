"""The onnx package's own tests of its operators, deployed: many of them as one library.

MXFFI_ALL_NODES=1 compiles all of them. All are brought to calls of kernels anyway, and those that
cannot be are a list with reasons.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Sequence
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
PARTS = 3
# As many tests of a library: functions that ctypes calls have at most 1024 arguments.
_OF_A_LIBRARY = 200
# As many tests of an operator as are deployed.
_MOST = 1 << 30 if os.environ.get("MXFFI_ALL_NODES") == "1" else 8
# Tests that cannot be deployed, by what the error says. More must not become of them; and what can
# be deployed from now on is to be taken off.
_REJECTED = {
    "an input is no tensor of numbers": "ai_onnx_ml_label_encoder_* equal_string* identity_opt "
    "identity_sequence loop13_seq loop16_seq_none optional_get_element_*sequence "
    "optional_has_element_empty_optional_input regex_full_match_* sequence_* string_* "
    "strnormalizer_*",
    "sequences and optionals have no type in C|_type; its inputs|a tensor, got optional": "if_opt "
    "if_seq optional_get_element_optional_tensor optional_has_element_optional_input "
    "optional_has_element_tensor_input split_to_sequence_*",
    "texts have no type in C": "tfidfvectorizer_*",
    "elements of type (float32 as )?(float[48]|u?int[24])": "cast_*FLOAT8* cast_*FLOAT4* "
    "cast_*INT[24]* castlike_*FLOAT8* castlike_*FLOAT4* castlike_*INT[24]* dequantizelinear_e* "
    "dequantizelinear_*float4* dequantizelinear_*int[24] quantizelinear_e[45]* "
    "quantizelinear_float4* quantizelinear_*int[24]",
    "elements decide the shape of its output": "nonmaxsuppression_* nonzero_* unique_*",
    "it is computed beforehand only": "blackmanwindow* constantofshape_* hammingwindow* "
    "hannwindow* melweightmatrix range_*_delta",
    "it gives other numbers each time|it drops other": "bernoulli* training_dropout "
    "training_dropout_default* training_dropout_mask",
    "it reads formats of files": "image_decoder_*",
    "there is no kernel for it": "bitcast_*",
    "no emitter for (Ada|Momentum|Array|Binarizer|Tree)": "adagrad* adam* momentum* "
    "nesterov_momentum ai_onnx_ml_array_feature_extractor ai_onnx_ml_binarizer "
    "ai_onnx_ml_tree_ensemble_*",
    "it has subgraphs|depends on the model's inputs": "flexattention_*_mask "
    "flexattention_*_mod flexattention_relative_* flexattention_soft_cap loop11 scan_sum",
    "no emitter for DFT": "dft_*_opset19 dft_opset19",
    "tf_crop_and_resize": "resize_tf_crop_*",
    "a scale of another type or shape|shapes .2, 2, 4. and": "qlinearmatmul_2D_*_float16 "
    "qlinearmatmul_3D_*",
}
# What is known already without any kernel.
_WITHOUT_CALLS = ("test_if",)


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


def lowered(case: Any) -> tuple[Program | None, list[Array], str]:
    """A test's program and its inputs; else the last error."""
    said = ""
    for are_known in (False, True):
        try:
            program, given = program_of(case, are_known)
        except (GraphError, SerdeError) as error:
            said = str(error)
            continue
        if program.calls:
            return program, given, ""
    return None, [], said


def has_no_elements(case: Any) -> bool:
    """Whether a test expects nothing that a kernel would have to write."""
    expected = [content_of(one) for one in case.data_sets[0][1]]
    return all(isinstance(one, numpy.ndarray) and one.size == 0 for one in expected)


def reason_of(name: str) -> str | None:
    """The pattern of the error that a test is known to end with."""
    short = name.removeprefix("test_")
    for reason, patterns in _REJECTED.items():
        if any(fnmatch.fnmatchcase(short, one) for one in patterns.split()):
            return reason
    return None


@pytest.mark.parametrize("part", range(PARTS))
def test_nodes(part: int) -> None:
    """Not what operators are short for, which is the same once more, and of operators with many
    tests some."""
    programs, inputs, cases = [], [], []
    counts: dict[str, int] = {}
    for number, name in enumerate(sorted(CASES)):
        case = CASES[name]
        node, *others = case.model.graph.node
        counts[node.op_type] = counts.get(node.op_type, 0) + 1
        if number % PARTS != part or "expanded" in name:
            continue
        program, given, said = lowered(case)
        reason = reason_of(name)
        if program is None:
            known = name in _WITHOUT_CALLS or has_no_elements(case)
            known = known or (reason is not None and re.search(reason, said) is not None)
            assert known, f"{name}: {said}"
            continue
        assert reason is None, f"{name} is deployed, and on the list of those that are not"
        why = "" if others or node.domain else WITHOUT.get(node.op_type, "")
        assert not why or "known" in why, name
        if counts[node.op_type] <= _MOST:
            programs.append(program)
            inputs += given
            cases.append(case)
    assert len(cases) > 100
    for begin in range(0, len(cases), _OF_A_LIBRARY):
        part_of = slice(begin, begin + _OF_A_LIBRARY)
        count = sum(len(one.inputs) for one in programs[part_of])
        check(cases[part_of], programs[part_of], inputs[:count])
        del inputs[:count]


def check(cases: Sequence[Any], programs: Sequence[Program], inputs: Sequence[Array]) -> None:
    """Compiles programs as one, and compares what it gives."""
    outputs = Merged(programs, C).call(inputs)
    for case, program in zip(cases, programs, strict=True):
        assert len(program.outputs) == len(case.data_sets[0][1]), case.name
        for expected in case.data_sets[0][1]:
            try:
                check_equal(outputs.pop(0), content_of(expected), case.rtol, max(case.atol, 1e-6))
            except AssertionError as error:
                raise AssertionError(f"{case.name}: {error}") from None


def test_every_operator_is_listed() -> None:
    wanted = {one.name for one in onnx.defs.get_all_schemas() if one.domain == ""}
    found = [name for names in coverage().values() for name in names]
    assert sorted(found) == sorted(wanted)


def test_the_page_has_the_table() -> None:
    assert table() in PAGE.read_text(encoding="utf-8")
