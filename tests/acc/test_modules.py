"""The example of the proposal, on an accelerator: the CPU takes what that does not execute."""

from collections import namedtuple

import numpy
import pytest

import mx

Batch = namedtuple("Batch", ["data"])
SHAPE = (1, 3, 8, 8)


@pytest.fixture
def checkpoint(tmp_path):
    """A small network with random parameters, as files of MXNet."""
    net = mx.sym.Convolution(mx.sym.var("data"), kernel=(3, 3), num_filter=4, name="c1")
    net = mx.sym.Activation(net, act_type="relu")
    net = mx.sym.FullyConnected(mx.sym.Flatten(net), num_hidden=5, name="fc")
    module = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"))
    module.bind(data_shapes=[("data", SHAPE)])
    module.init_params()
    module.save_checkpoint(tmp_path / "net", 1)
    return tmp_path / "net"


def outputs(checkpoint, ctx, image):
    sym, arg_params, aux_params = mx.model.load_checkpoint(checkpoint, 1)
    mod = mx.mod.Module(symbol=sym, context=ctx)
    mod.bind(data_shapes=[("data", SHAPE)], label_shapes=mod._label_shapes)
    mod.set_params(arg_params, aux_params, allow_missing=True)
    mod.forward(Batch([mx.nd.array(image, ctx=ctx)]))
    return mod, mod.get_outputs()[0]


def test_the_example_of_the_proposal(checkpoint, load_refacc):
    refacc = load_refacc("modules", NODES="!Conv")
    image = numpy.random.default_rng(0).random(SHAPE, "float32")
    mod, output = outputs(checkpoint, refacc, image)
    assert output.ctx == refacc
    assert mod.summary() == "modules: 4 of 5 nodes; on cpu: Conv x1"
    _, expected = outputs(checkpoint, mx.cpu(), image)
    numpy.testing.assert_allclose(output.as_in_ctx(mx.cpu()), expected, rtol=1e-5)


def test_batches_from_anywhere(checkpoint, load_refacc):
    refacc = load_refacc("modules")
    mod, _ = outputs(checkpoint, refacc, numpy.zeros(SHAPE, "float32"))
    images = numpy.random.default_rng(1).random((5, *SHAPE[1:]), "float32")
    of_iterator = mod.predict(mx.io.NDArrayIter(images, batch_size=2))
    of_array = mod.predict(mx.np.array(images, ctx=refacc))
    assert of_iterator.ctx == of_array.ctx == refacc
    assert of_iterator.shape == (5, 5)
    numpy.testing.assert_allclose(
        of_iterator.as_in_ctx(mx.cpu()), of_array.as_in_ctx(mx.cpu()), rtol=1e-5
    )


def bound(checkpoint, contexts, **options):
    mod = mx.mod.Module.load(checkpoint, 1, context=contexts, **options)
    mod.bind(data_shapes=[("data", SHAPE)])
    return mod


def test_several_contexts(checkpoint, load_refacc):
    """The rows of a batch on two devices and the CPU at once; what comes out is on the first."""
    first = load_refacc("modules", NODES="!Conv")
    contexts = [first, mx.acc("modules", 1), mx.cpu()]
    images = numpy.random.default_rng(2).random((7, *SHAPE[1:]), "float32")
    mod = bound(checkpoint, contexts)
    for _ in range(3):
        mod.forward(Batch([mx.np.array(images, ctx=first)]))
    output, (parts,) = mod.get_outputs()[0], mod.get_outputs(merge_multi_context=False)
    assert output.ctx == first and [part.ctx for part in parts] == contexts
    assert [part.shape[0] for part in parts] == [2, 2, 3]
    expected = bound(checkpoint, mx.cpu()).predict(images)
    numpy.testing.assert_allclose(output.as_in_ctx(mx.cpu()), expected, rtol=1e-5)
    assert mod.summary().startswith(
        "modules(0): modules: 4 of 5 nodes; on cpu: Conv x1; modules(1)"
    )


def test_options_of_plans(checkpoint, load_refacc):
    refacc = load_refacc("modules", NODES="!Conv", WRONG="Gemm")
    batch = Batch([numpy.full(SHAPE, 1000, "float32")])
    with pytest.raises(mx.graph.MismatchError, match=r"\(Gemm\) on modules: output 'fc"):
        bound(checkpoint, refacc, verify=True).forward(batch)
    bound(checkpoint, refacc, verify=(100.0, 100.0)).forward(batch)
    with pytest.raises(
        NotImplementedError, match=r"does not execute 1 of 5 nodes: node .*\(Conv\)"
    ):
        bound(checkpoint, refacc, fallback="error").forward(batch)
    mod = bound(checkpoint, refacc, fallback="whole")
    mod.forward(batch)
    assert mod.summary().startswith("modules: 0 of 5 nodes")
    # As a PartitionedPlan: the library does not compile with an option that it does not have.
    with pytest.warns(mx.AccFallbackWarning, match="loadModel failed"):
        bound(checkpoint, [refacc], options={"no_such_option": 1}).forward(batch)


def test_parameters_that_are_set_again(checkpoint, load_refacc):
    """Models of the device that are there take them; the CPU has another plan."""
    refacc = load_refacc("modules", NODES="!Conv")
    image = numpy.random.default_rng(3).random(SHAPE, "float32")
    contexts = [refacc, mx.acc("modules", 1)]
    mods = [bound(checkpoint, contexts), bound(checkpoint, mx.cpu())]
    batch = numpy.concatenate([image, image])
    for number in range(4):
        for mod in mods:
            arguments, states = mod.get_params()
            if number:
                arguments["fc_bias"] = arguments["fc_bias"] * 2 + number
            mod.set_params(arguments, states)
            mod.forward(Batch([batch]))
        output, expected = (mod.get_outputs()[0].as_in_ctx(mx.cpu()) for mod in mods)
        numpy.testing.assert_allclose(output, expected, rtol=1e-5)
    for context in contexts:
        state = context.configure()
        assert (state["updated"], state["compiled"]) == ("3", "1"), state
    # One that was missing was an input.
    mod = bound(checkpoint, refacc)
    del arguments["fc_bias"]
    fresh = mx.mod.Module(mod.symbol, context=refacc)
    fresh.bind(data_shapes=[("data", SHAPE)])
    fresh.set_params(arguments, states, allow_missing=True)
    with pytest.raises(TypeError, match="fc_bias"):
        fresh.forward(Batch([image]))
    fresh.set_params({**arguments, "fc_bias": numpy.ones(5, "float32")}, states)
    fresh.forward(Batch([image]))
    assert fresh.get_outputs()[0].shape == (1, 5)
