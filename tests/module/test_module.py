"""Modules: the proposal's example, and what is wrong at each step."""

from collections import namedtuple

import numpy
import onnx_ir
import pytest

import mx

Batch = namedtuple("Batch", ["data"])
SHAPE = (1, 3, 12, 12)


def network():
    data = mx.sym.var("data")
    net = mx.sym.Convolution(data, kernel=(3, 3), num_filter=4, pad=(1, 1), name="c1")
    net = mx.sym.BatchNorm(net, fix_gamma=False, name="bn1")
    net = mx.sym.Activation(net, act_type="relu")
    net = mx.sym.Pooling(net, kernel=(2, 2), stride=(2, 2), pool_type="max")
    net = mx.sym.FullyConnected(mx.sym.Flatten(net), num_hidden=10, name="fc")
    return mx.sym.SoftmaxOutput(net, name="softmax")


def images(count=1):
    return numpy.random.default_rng(0).random((count, *SHAPE[1:]), "float32")


@pytest.fixture
def module():
    made = mx.mod.Module(network())
    made.bind(data_shapes=[("data", SHAPE)])
    made.init_params()
    return made


def expected(module, data):
    """What the network gives, by NumPy."""
    arguments, states = ({k: v.asnumpy() for k, v in part.items()} for part in module.get_params())
    padded = numpy.pad(data, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = numpy.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    y = numpy.einsum("ncijkl,ockl->noij", windows, arguments["c1_weight"])
    y += arguments["c1_bias"].reshape(-1, 1, 1)
    mean, var = (states[f"bn1_moving_{name}"].reshape(-1, 1, 1) for name in ("mean", "var"))
    gamma, beta = (arguments[f"bn1_{name}"].reshape(-1, 1, 1) for name in ("gamma", "beta"))
    y = numpy.maximum((y - mean) / numpy.sqrt(var + 1e-3) * gamma + beta, 0)
    n, c, h, w = y.shape
    y = y.reshape(n, c, h // 2, 2, w // 2, 2).max((3, 5)).reshape(n, -1)
    y = y @ arguments["fc_weight"].T + arguments["fc_bias"]
    y = numpy.exp(y - y.max(1, keepdims=True))
    return y / y.sum(1, keepdims=True)


def test_the_example_of_the_proposal(module, tmp_path):
    prefix = str(tmp_path / "net")
    module.save_checkpoint(prefix, 3)
    ctx = mx.cpu()

    sym, arg_params, aux_params = mx.model.load_checkpoint(prefix, 3)
    mod = mx.mod.Module(symbol=sym, context=ctx)
    mod.bind(data_shapes=[("data", SHAPE)], label_shapes=mod._label_shapes)
    mod.set_params(arg_params, aux_params, allow_missing=True)
    mod.forward(Batch([mx.nd.array(images(), ctx=ctx)]))

    (output,) = mod.get_outputs()
    assert mod.output_shapes == [("softmax_output", (1, 10))]
    numpy.testing.assert_allclose(output, expected(module, images()), rtol=1e-5)


def test_parameters_go_in_and_out(module, tmp_path):
    arguments, states = module.get_params()
    assert sorted(arguments) == sorted(
        ["c1_weight", "c1_bias", "bn1_gamma", "bn1_beta", "fc_weight", "fc_bias"]
    )
    assert sorted(states) == ["bn1_moving_mean", "bn1_moving_var"]
    module.forward(Batch([images()]))
    before = module.get_outputs()[0].asnumpy()
    module.set_params({"fc_bias": mx.np.arange(10, dtype="float32")}, {}, allow_missing=True)
    module.forward(Batch([images()]))
    assert not numpy.allclose(module.get_outputs()[0], before)
    numpy.testing.assert_allclose(module.get_outputs()[0], expected(module, images()), rtol=1e-5)


@pytest.mark.parametrize("merge", [True, False])
def test_predict(module, merge, capsys):
    data = images(7)
    iterator = mx.io.NDArrayIter(data, batch_size=3)
    found = module.predict(iterator, merge_batches=merge, progress=True)
    if not merge:
        assert [len(batch[0]) for batch in found] == [3, 3, 1]
        found = numpy.concatenate([batch[0] for batch in found])
    numpy.testing.assert_allclose(found, expected(module, data), rtol=1e-5)
    assert capsys.readouterr().err.endswith("3 of 3 batches\n")
    numpy.testing.assert_allclose(module.predict(data), expected(module, data), rtol=1e-5)
    assert module.predict(iterator, num_batch=2).shape == (6, 10)


def test_other_shapes_by_reshape(module):
    module.reshape([("data", (4, 3, 12, 12))])
    module.forward(Batch([images(4)]))
    numpy.testing.assert_allclose(module.get_outputs()[0], expected(module, images(4)), rtol=1e-5)


def test_initializers(module):
    seen = []

    def fill(name, array):
        seen.append(name)
        array[:] = 1

    module.init_params(fill, force_init=True)
    assert "c1_weight" in seen
    assert (module.get_params()[0]["c1_weight"] == 1).all()


def graph_of_onnx():
    x = onnx_ir.val("x", onnx_ir.DataType.FLOAT, ("N", 2))
    w = onnx_ir.tensor(numpy.array([[1, 2], [3, 4]], "float32"), name="w")
    weight = onnx_ir.Value(name="w", const_value=w, type=onnx_ir.TensorType(w.dtype), shape=w.shape)
    node = onnx_ir.node("MatMul", [x, weight], name="product")
    node.outputs[0].name = "y"
    graph = onnx_ir.Graph(
        [x], [node.outputs[0]], nodes=[node], initializers=[weight], opset_imports={"": 22}
    )
    return mx.graph.Graph(onnx_ir.Model(graph, ir_version=10))


def test_module_of_a_graph():
    module = mx.mod.Module(graph_of_onnx())
    module.bind([("x", (1, 2))])
    module.forward(Batch([mx.np.array([[1.0, 10.0]])]))
    assert module.get_outputs()[0].tolist() == [[31, 42]]
    module.set_params({"w": mx.np.zeros((2, 2))}, {})
    module.forward(Batch([mx.np.array([[1.0, 10.0]])]))
    assert module.get_outputs()[0].tolist() == [[0, 0]]
    with pytest.raises(TypeError, match="the model is a graph"):
        module.save_checkpoint("prefix", 0)


def unbound():
    return mx.mod.Module(network())


def bound():
    made = unbound()
    made.bind([("data", SHAPE)])
    return made


def ready():
    made = bound()
    made.init_params()
    return made


@pytest.mark.parametrize(
    ("make", "use", "error", "text"),
    [
        (unbound, lambda m: m.forward(Batch([images()])), RuntimeError, "forward: call bind first"),
        (unbound, lambda m: m.data_shapes, RuntimeError, "data_shapes: call bind first"),
        (unbound, lambda m: m.reshape([("data", SHAPE)]), RuntimeError, "call bind first"),
        (unbound, lambda m: m.bind([("x", SHAPE)]), ValueError, r"\['data'\], got \['x'\]"),
        (unbound, lambda m: m.bind([5]), TypeError, "pairs of name and shape, got 5"),
        (unbound, lambda m: m.bind([], for_training=True), NotImplementedError, "training"),
        (bound, lambda m: m.forward(Batch([images()])), RuntimeError, "no parameters"),
        (bound, lambda m: m.get_params(), RuntimeError, "no parameters"),
        (bound, lambda m: m.set_params({}, {}), ValueError, "no parameter bn1_beta, .* is given"),
        (ready, lambda m: m.set_params({"z": 1}, {}), ValueError, "has no parameter z"),
        (ready, lambda m: m.get_outputs(), RuntimeError, "call forward first"),
        (ready, lambda m: m.forward(images()), TypeError, "list of 1 arrays"),
        (ready, lambda m: m.forward(Batch([])), TypeError, "list of 1 arrays"),
        (ready, lambda m: m.forward(Batch([images()]), True), NotImplementedError, "training"),
        (
            ready,
            lambda m: m.forward(Batch([images().astype("float64")])),
            TypeError,
            "'data': expected float32, got float64",
        ),
        (
            ready,
            lambda m: m.forward(Batch([images()[:, :2]])),
            ValueError,
            r"'data': expected shape \(N, 3, 12, 12\), got \(1, 2, 12, 12\)",
        ),
        (lambda: 5, lambda m: mx.mod.Module(m), TypeError, "expected a Symbol or a Graph, got int"),
        (network, lambda m: mx.mod.Module(m, ["x"]), ValueError, "no input 'x'"),
    ],
)
def test_what_modules_reject(make, use, error, text):
    made = make()
    with pytest.raises(error, match=text):
        use(made)
