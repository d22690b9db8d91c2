"""What plans are made of, as files keep it: a plan made anew computes the same."""

import numpy as np
import onnx_ir
import pytest
from onnx import numpy_helper

import mx
from mx.cache._file import PieceFile, write_whole
from mx.graph import Graph, Plan
from mx.graph.lowering import OPERATORS, Chooser
from mx.graph.lowering._quick import QuickChooser, suits_quick
from mx.graph.lowering.recipes import Recipe, read, write

from .. import build


def normal(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


class Recording(Chooser):
    records = True
    may_slice = False


def recipe_of(plan, x):
    plan(x)
    return plan._program.recipe()


def graph_of(nodes, shape, **weights):
    dims = ",".join(map(str, shape))
    outputs = "float[N] y" if "z = " not in nodes else "float[N] y, float[M] z"
    model = build.model_of(f"g (float[{dims}] x) => ({outputs}) {{ {nodes} }}")
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    for name, array in weights.items():
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    graph = Graph(onnx_ir.from_proto(model))
    graph.infer()
    return graph


AXES = np.array([1], "int64")
# Nodes, the shape of x, and weights.
GRAPHS = {
    "a convolution": (
        "c = Conv <pads = [1,1,1,1]> (x, w, b) y = Relu(c)",
        (1, 16, 40, 40),
        {"w": normal(1, 24, 16, 3, 3), "b": normal(2, 24)},
    ),
    "pools and images side by side": (
        "c = Conv (x, w) p = MaxPool <kernel_shape = [2,2], strides = [2,2]> (c)\n"
        "t = ConvTranspose <strides = [2,2]> (p, v, b) y = Concat <axis = 1> (t, c)",
        (2, 3, 34, 30),
        {"w": normal(1, 12, 3, 3, 3), "v": normal(2, 12, 8, 2, 2), "b": normal(3, 8)},
    ),
    "products": (
        "f = Flatten (x) h = Gemm <transB = 1> (f, w, b) r = Relu (h) m = MatMul (r, v)\n"
        "y = Softmax (m)",
        (3, 4, 5),
        {"w": normal(1, 16, 20), "b": normal(2, 16), "v": normal(3, 16, 7)},
    ),
    "an LSTM": (
        "t = Transpose <perm = [1,0,2]> (x) h, z, c = LSTM <hidden_size = 8> (t, w, r, b)\n"
        "y = Squeeze (h, a)",
        (2, 5, 6),
        {"w": normal(1, 1, 32, 6), "r": normal(2, 1, 32, 8), "b": normal(3, 1, 64), "a": AXES},
    ),
    "numbers and types": (
        "c = Clip (x, l, u) s = ReduceMean <keepdims = 0> (c, a) i = Cast <to = 7> (s)\n"
        "y = Add (i, one) z = LeakyRelu <alpha = 0.3> (c)",
        (3, 4),
        {
            "l": np.array(-np.inf, "float32"),
            "u": np.array(0.5, "float32"),
            "a": AXES,
            "one": np.array([1], "int64"),
        },
    ),
    "what it is given": ("y = Identity (x) z = Reshape (x, s)", (2, 3), {"s": np.array([3, 2])}),
}


@pytest.mark.parametrize(("nodes", "shape", "weights"), GRAPHS.values(), ids=GRAPHS)
def test_a_plan_made_anew(nodes, shape, weights):
    graph, x = graph_of(nodes, shape, **weights), normal(9, *shape)
    assert suits_quick(graph.model.graph)
    plan = Plan(graph, chooser=QuickChooser())
    expected = plan(x)
    recipe = recipe_of(plan, x)
    assert recipe is not None
    arrays = [mx.np.array(array.asnumpy()) for array in recipe.arrays]
    again = Recipe.of(recipe.text(), arrays)
    made = again.plan().run([mx.np.array(x)])
    for one, other in zip(made, expected, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one.asnumpy(), other.asnumpy())
    assert [one.shape for one in again.inputs()] == [shape]
    assert again.bytes == sum(array.nbytes for array in arrays)
    assert recipe_of(Plan(graph, chooser=Chooser([OPERATORS])), x) is None


# Nodes that kernels of oneDNN execute, with what they do besides and in layouts of theirs.
OF_LIBRARIES = {
    "a product of what it is given": ("y = MatMul (x, x)", (64, 64), {}),
    "a product of BLAS and what is added": (
        "m = MatMul (x, x) a = Add (m, b) y = Relu (a)",
        (3, 40, 40),
        {"b": normal(1, 40)},
    ),
    "convolutions in blocks": (
        "c = Conv <pads = [1,1,1,1]> (x, w, b) r = Relu (c) d = Conv (r, v) a = Add (d, x)\n"
        "y = MaxPool <kernel_shape = [2,2]> (a)",
        (2, 64, 30, 30),
        {"w": normal(1, 96, 64, 3, 3), "b": normal(2, 96), "v": normal(3, 64, 96, 1, 1)},
    ),
    "groups and axes in another order": (
        "t = Transpose <perm = [0,3,1,2]> (x) c = Conv <group = 32> (t, w) d = Conv (c, v)\n"
        "y = Transpose <perm = [0,2,3,1]> (d)",
        (1, 20, 20, 32),
        {"w": normal(1, 32, 1, 3, 3), "v": normal(2, 48, 32, 1, 1)},
    ),
    "a product of many terms and what is added": (
        "m = Gemm <transB = 1> (x, w, b) y = Gelu (m)",
        (16, 2048),
        {"w": normal(1, 1100, 2048), "b": normal(2, 1100)},
    ),
    "a GRU": (
        "t = Transpose <perm = [1,0,2]> (x) h, z = GRU <hidden_size = 8> (t, w, r)\n"
        "y = Squeeze (h, a)",
        (2, 5, 6),
        {"w": normal(1, 1, 24, 6), "r": normal(2, 1, 24, 8), "a": AXES},
    ),
    "norms and softmax": (
        "n = LayerNormalization <axis = 2> (x, s, b) y = Softmax <axis = 2> (n)",
        (2, 50, 96),
        {"s": normal(1, 96), "b": normal(2, 96)},
    ),
}


@pytest.mark.parametrize(("nodes", "shape", "weights"), OF_LIBRARIES.values(), ids=OF_LIBRARIES)
def test_kernels_of_libraries(nodes, shape, weights, tmp_path):
    graph, x = graph_of(nodes, shape, **weights), normal(9, *shape)
    plan = Plan(graph, chooser=Recording(mx.graph.lowering.BACKENDS))
    expected = plan(x)
    recipe = recipe_of(plan, x)
    assert not recipe.is_own
    path = tmp_path / "plan"
    told = []
    write_whole(path, f"{path}.part", lambda writer: told.append(write(writer, recipe)) or {})
    with PieceFile(path) as file:
        again = read(file, told[0], is_mapped=True)
    path.unlink()
    for one, other in zip(again.plan().run([mx.np.array(x)]), expected, strict=True):
        np.testing.assert_array_equal(one.asnumpy(), other.asnumpy())


def test_a_library_that_makes_other_kernels():
    nodes, shape, weights = OF_LIBRARIES["a product of many terms and what is added"]
    plan = Plan(graph_of(nodes, shape, **weights), chooser=Recording(mx.graph.lowering.BACKENDS))
    recipe = recipe_of(plan, normal(9, *shape))
    step = next(call for call in recipe.calls if call[:2] == ["step", "onednn"])
    step[2][3] = "gemm:another"
    with pytest.raises(ValueError, match="oneDNN makes another matmul than before"):
        recipe.plan()
    for row in recipe.parts["onednn"]:
        row[-1] = [["ab f32", "another f32", number] for _, _, number in row[-1]]
    with pytest.raises(ValueError, match="a weight of packed elements alone has none"):
        recipe.plan()


# Nodes whose plans no recipe can have, if there is one plan.
OTHERS = {
    "a kernel of Python": ("y = Unique (x)", (4,)),
    "elements that decide a shape": ("n = NonZero (x) y = Cast <to = 1> (n)", (4,)),
}


@pytest.mark.parametrize(("nodes", "shape"), OTHERS.values(), ids=OTHERS)
def test_what_no_recipe_has(nodes, shape):
    plan = Plan(graph_of(nodes, shape), chooser=Recording(mx.graph.lowering.BACKENDS))
    assert recipe_of(plan, normal(9, *shape)) is None


UNSUITED = {
    "another operator": ("y = Sin (x)", (4,), {}),
    "a large weight": ("y = MatMul (x, w)", (1, 2049), {"w": np.zeros((2049, 2048), "float32")}),
    "groups": ("y = Conv <group = 2> (x, w)", (1, 4, 8, 8), {"w": normal(1, 4, 2, 3, 3)}),
    "a large image": ("y = Conv (x, w)", (1, 2, 800, 800), {"w": normal(1, 1, 2, 3, 3)}),
    "one axis": ("y = Conv (x, w)", (1, 4, 8), {"w": normal(1, 4, 4, 3)}),
    "a weight that is no constant": ("w = Abs (x) y = Conv (x, w)", (1, 1, 3, 3), {}),
    "windows that overlap": (
        "y = ConvTranspose <strides = [2,2]> (x, w)",
        (1, 4, 8, 8),
        {"w": normal(1, 4, 2, 3, 3)},
    ),
}


@pytest.mark.parametrize(("nodes", "shape", "weights"), UNSUITED.values(), ids=UNSUITED)
def test_what_libraries_are_faster_at(nodes, shape, weights):
    assert not suits_quick(graph_of(nodes, shape, **weights).model.graph)


KERNEL = "small_product"
ADD = {"operator": ["_npi.add", 1]}
SPEC = {"spec": [[2, 3], "float32"]}
INPUT = ["input", [2, 3], "float32"]
END = ["outputs", [0], 1]
# Calls that somebody else has written, and what that is.
FOREIGN = {
    "nothing": ([], ValueError, "a recipe without outputs"),
    "no call": ([["run", "x"]], ValueError, "'run' is no call of a builder"),
    "no kernel": ([INPUT, ["step", "ffi.eval", [], [0], ""]], KeyError, "ffi.eval"),
    "no argument": ([["step", KERNEL, [{"x": 1}], [], ""]], ValueError, "is no argument"),
    "no operator": (
        [["step", "operator_kernel", [{"operator": ["os.system", 1]}], [], ""]],
        ValueError,
        "is no argument",
    ),
    "an operator of another meaning": (
        [["step", "operator_kernel", [{"operator": ["_npi.add", 0]}], [], ""]],
        ValueError,
        "is no argument",
    ),
    "no array": ([["constant", 5]], IndexError, "range"),
    "no primitive": (
        [["step", "onednn", ["Input", [[3]], {}, "", [], []], [], ""]],
        ValueError,
        "'Input' makes no primitive",
    ),
    "a layout of nothing": (
        [["step", "onednn", ["matmul", [{"input": [[3, 3], "float32", [7, "inputs", 0], False]}],
                             {}, "", [], []], [], ""]],
        IndexError,
        "range",
    ),
    "no value": (
        [INPUT, ["step", "operator_kernel", [ADD, SPEC, SPEC, None], [0, 7], ""]],
        ValueError,
        "7",
    ),
    "another shape": (
        [["input", [5], "float32"], ["step", "operator_kernel", [ADD, SPEC, SPEC, None],
         [0, 0], "a"], END],
        ValueError,
        r"expected float32\(2, 3\), got float32\(5,\)",
    ),
    "a view beyond": ([INPUT, ["view", 0, [9], [1], 0], END], ValueError, "0 to 36 of 24"),
    "an output that is not there": ([INPUT, ["outputs", [3], 1]], ValueError, "3"),
    "extents below zero": ([["input", [-4], "float32"], END], ValueError, "-4"),
}  # fmt: skip


@pytest.mark.parametrize(("calls", "error", "message"), FOREIGN.values(), ids=FOREIGN)
def test_recipes_of_others(calls, error, message):
    with pytest.raises(error, match=message):
        Recipe(calls, [], {"onednn": []}).plan()
