"""Einsum as nodes of simpler operators: the pass, for extents that are known and for others."""

from __future__ import annotations

import numpy
import onnx_ir
import pytest
from onnx.reference import ReferenceEvaluator

from mx.graph import Graph, Plan, passes

from .build import graph_of

# Equation, shapes of the operands, operators for extents that are known, and whether the equation
# is written for extents that all vary, too.
EQUATIONS = [
    ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)], "MatMul", True),
    ("...j,jk", [(2, 3, 4), (4, 5)], "MatMul", True),
    ("cd,abc->abd", [(3, 4), (2, 5, 3)], "MatMul", True),
    ("ck,nct->nkt", [(3, 4), (2, 3, 5)], "Transpose MatMul", True),
    ("...ij,...jk", [(2, 1, 3, 4), (1, 5, 4, 6)], None, True),
    ("...ij,jk...->ik...", [(7, 3, 4), (4, 5, 7)], "Transpose MatMul Transpose", True),
    ("aecd,abcd->acbe", [(2, 5, 3, 4), (2, 6, 3, 4)], "Transpose Transpose MatMul", True),
    ("acbe,aecd->abcd", [(2, 3, 6, 5), (2, 5, 3, 4)], "Transpose MatMul Transpose", True),
    ("abc,cde->abde", [(2, 5, 6), (6, 3, 4)], "Reshape MatMul Reshape", False),
    ("abcd,cde->abe", [(2, 5, 3, 4), (3, 4, 6)], "Reshape Reshape MatMul", False),
    ("nt,nct->nc", [(2, 5), (2, 3, 5)], "Unsqueeze Transpose MatMul Squeeze", True),
    ("ij,ij->", [(3, 4), (3, 4)], "Reshape Reshape MatMul", True),
    ("i,i", [(4,), (4,)], "MatMul", True),
    ("i,j->ij", [(3,), (4,)], "Unsqueeze Mul", True),
    ("ab, ab -> ab", [(2, 3), (2, 3)], "Mul", True),
    ("a,->a", [(2,), ()], "Mul", True),
    ("ij,j,i->j", [(3, 4), (4,), (3,)], None, True),
    ("bi,bj,bk->bijk", [(2, 3), (2, 4), (2, 5)], None, True),
    ("ab,bc,cd", [(2, 3), (3, 4), (4, 5)], "MatMul MatMul", True),
    ("bc,ab,cd->ad", [(3, 4), (2, 3), (4, 5)], None, True),
    ("abcd,abce,f->abdef", [(2, 3, 4, 2), (2, 3, 4, 3), (2,)], None, True),
    ("a,b,ab->", [(2,), (3,), (2, 3)], None, True),
    ("ij->ji", [(3, 4)], "Transpose", True),
    ("ij->ij", [(3, 4)], "Identity", True),
    ("abc->b", [(2, 3, 4)], "ReduceSum", True),
    ("ii->i", [(4, 4)], "Transpose Reshape Slice", False),
    ("iii", [(3, 3, 3)], None, False),
    ("...ii->...i", [(2, 4, 4)], "Transpose Reshape Slice", False),
    ("abb,b->ab", [(2, 3, 3), (3,)], None, False),
    ("ij,jk->ik", [(2, 0), (0, 3)], "MatMul", True),
]  # fmt: skip
NAMES = {"float32": "float", "float64": "double"}


def operands(shapes: list[tuple[int, ...]], dtype: str) -> list[numpy.ndarray]:
    random = numpy.random.default_rng(len(shapes))
    return [numpy.asarray(random.standard_normal(shape)).astype(dtype) for shape in shapes]


def graph(equation: str, shapes: list[tuple[int, ...]], dtype: str, varies: bool = False) -> Graph:
    """An Einsum of inputs x0, x1, ..., whose extents are known or all vary."""
    kind = NAMES[dtype]
    texts = [
        ",".join(f"D{n}_{axis}" if varies else str(extent) for axis, extent in enumerate(shape))
        for n, shape in enumerate(shapes)
    ]
    inputs = [f"{kind}[{text}] x{n}" if text else f"{kind} x{n}" for n, text in enumerate(texts)]
    given = ", ".join(f"x{n}" for n in range(len(shapes)))
    node = f'[e] y = Einsum<equation="{equation}">({given})'
    made = graph_of(f"g ({', '.join(inputs)}) => ({kind}[] y) {{ {node} }}")
    made.infer()
    return made


@pytest.mark.parametrize("varies", [False, True])
@pytest.mark.parametrize(("equation", "shapes", "left", "is_general"), EQUATIONS)
def test_the_pass(equation, shapes, left, is_general, varies) -> None:
    arrays = operands(shapes, "float64" if len(shapes) == 3 else "float32")
    made = graph(equation, shapes, str(arrays[0].dtype), varies)
    report = passes.run(made, ["einsum"])
    operators = [node.op_type for node in made.nodes]
    if varies and not is_general:
        assert operators == ["Einsum"] and not report
    else:
        assert "Einsum" not in operators and report.removed == {"einsum": ("e",)}
        assert varies or left is None or operators == left.split()
    expected = numpy.einsum(equation, *arrays)
    given = {f"x{n}": array for n, array in enumerate(arrays)}
    (came,) = ReferenceEvaluator(onnx_ir.to_proto(made.model)).run(None, given)
    assert came.shape == expected.shape
    numpy.testing.assert_allclose(came, expected, rtol=1e-4, atol=1e-5)
    onnx_ir.passes.common.CheckerPass()(made.model)


@pytest.mark.parametrize("equation", ["i->ii", "ij,jk", "abc->a", "ij,kl,mn"])
def test_what_stays(equation) -> None:
    made = graph_of(f'g (float[3] x) => (float[] y) {{ y = Einsum<equation="{equation}">(x) }}')
    assert not passes.run(made, ["einsum"])
    assert [node.op_type for node in made.nodes] == ["Einsum"]


ATTENTION = """g (float[2,6,24] x, float[24,3,8] wq, float[24,3,8] wk, float[24,3,8] wv,
  float[3,8,24] wo) => (float[2,6,24] y) <float s = {0.35}> {
  q = Einsum<equation="abc,cde->abde">(x, wq)
  k = Einsum<equation="abc,cde->abde">(x, wk)
  v = Einsum<equation="abc,cde->abde">(x, wv)
  t = Mul(q, s)
  a = Einsum<equation="aecd,abcd->acbe">(k, t)
  p = Softmax(a)
  o = Einsum<equation="acbe,aecd->abcd">(p, v)
  y = Einsum<equation="abcd,cde->abe">(o, wo)
}"""


def test_attention_is_recognized_behind_it() -> None:
    """As Keras has it."""
    made = graph_of(ATTENTION)
    made.infer()
    random = numpy.random.default_rng(0)
    given = {
        name: random.standard_normal(shape).astype("float32") / 4 for name, _, shape in made.inputs
    }
    (expected,) = ReferenceEvaluator(onnx_ir.to_proto(made.model)).run(None, given)
    passes.run(made, [one.name for one in passes.CPU_PASSES])
    operators = [node.op_type for node in made.nodes]
    assert "Einsum" not in operators and operators.count("Attention") == 1, operators
    (came,) = Plan(made, optimize=False)(*given.values())
    numpy.testing.assert_allclose(came, expected, rtol=1e-4, atol=1e-5)
