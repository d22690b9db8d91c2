"""Models of Keras, modules, and what is noted of them."""

from __future__ import annotations

import numpy as np
import pytest

import mx

from .running import check, floats, ints, keras, run, tf

layers, Input = keras.layers, keras.Input


def images():
    x = given = Input((16, 16, 3))
    x = layers.ZeroPadding2D(1)(x)
    x = layers.Conv2D(8, 3, strides=2)(x)
    x = layers.ReLU()(layers.BatchNormalization()(x))
    x = layers.MaxPooling2D(3, strides=2, padding="same")(x)
    y = layers.BatchNormalization(scale=False)(layers.Conv2D(8, 3, padding="same")(x))
    x = layers.ReLU(max_value=6)(layers.Add()([x, y]))
    y = layers.LeakyReLU()(layers.SeparableConv2D(8, 3, padding="same")(x))
    squeezed = layers.GlobalAveragePooling2D(keepdims=True)(y)
    squeezed = layers.Conv2D(4, 1, activation="swish")(squeezed)
    y = layers.Multiply()([y, layers.Conv2D(8, 1, activation="sigmoid")(squeezed)])
    y = layers.UpSampling2D(2, interpolation="bilinear")(layers.Concatenate()([x, y]))
    y = layers.Conv2DTranspose(4, 3, strides=2, padding="same")(y)
    y = layers.Conv2D(4, 3, dilation_rate=2, padding="same")(layers.AveragePooling2D(2)(y))
    return keras.Model(given, layers.Dense(3)(layers.Flatten()(y)))


def recurrent():
    return keras.Sequential(
        [
            Input((5, 8)),
            layers.LSTM(6, return_sequences=True),
            layers.GRU(4, return_sequences=True, go_backwards=True),
            layers.GRU(4, return_sequences=True, reset_after=False),
            layers.Bidirectional(layers.LSTM(3)),
            layers.Dense(2),
        ]
    )


def loops():
    """Recurrent layers that no operator of ONNX is, which Keras writes as loops."""
    return keras.Sequential(
        [Input((5, 8)), layers.LSTM(6, return_sequences=True, activation="relu"),
         layers.SimpleRNN(3, use_bias=False)]
    )  # fmt: skip


def transformer():
    tokens = Input((7,), dtype="int32")
    x = layers.Embedding(20, 16)(tokens)
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 8)(x, x, use_causal_mask=True))
    x = layers.LayerNormalization()(x + layers.Dense(16)(layers.Dense(32, activation="gelu")(x)))
    pooled = layers.GlobalAveragePooling1D()(x)
    return keras.Model(tokens, {"scores": layers.Dense(20)(x), "pooled": pooled})


def signals():
    return keras.Sequential(
        [
            Input((20, 4)),
            layers.Conv1D(6, 3, padding="causal", dilation_rate=2),
            layers.MaxPooling1D(2),
            layers.Conv1D(6, 3, strides=2),
            layers.GlobalMaxPooling1D(),
            layers.GroupNormalization(2),
            layers.Dropout(0.5),
            layers.Dense(3, activation="log_softmax"),
        ]
    )


def volumes():
    return keras.Sequential(
        [Input((6, 6, 6, 2)), layers.Conv3D(4, 3, padding="same"), layers.BatchNormalization(),
         layers.MaxPooling3D(2), layers.Conv3DTranspose(2, 3, strides=2)]
    )  # fmt: skip


MODELS = [images, recurrent, transformer, signals, volumes]


def made(make):
    keras.utils.set_random_seed(1)
    model = make()
    for weight in model.weights:
        weight.assign(weight + 0.05 * np.arange(weight.shape[-1], dtype="float32"))
    return model


def example(model, batch: int) -> np.ndarray:
    shape = (batch, *model.inputs[0].shape[1:])
    return ints(*shape, low=1, high=19) if model.inputs[0].dtype == "int32" else floats(*shape)


@pytest.mark.parametrize("make", MODELS)
def test_models(make) -> None:
    model = made(make)
    graph = check(model, example(model, 2), others=[[example(model, 3)]], dynamic=True)
    assert set(graph.weights) <= {weight.path for weight in model.weights}
    assert len(graph.weights) == len({weight.path for weight in model.weights})


def test_loops() -> None:
    model = made(loops)
    graph = check(model, example(model, 2))
    assert {"Loop"} == {node.op_type for node in graph.nodes if node.op_type in ("Loop", "LSTM")}


def test_layers_are_kept_whole() -> None:
    recurrent_graph = mx.importers.tensorflow.load(made(recurrent))
    kinds = [node.op_type for node in recurrent_graph.nodes]
    assert (kinds.count("LSTM"), kinds.count("GRU"), kinds.count("Loop")) == (3, 2, 0)
    graph = mx.importers.tensorflow.load(made(images))
    kinds = [node.op_type for node in graph.nodes]
    assert kinds.count("BatchNormalization") == 2
    assert [str(spec) for spec in graph.inputs] == ["inputs: float32 (inputs_0, 16, 16, 3)"]


class Module(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.parts = [tf.Variable(floats(4, 3)), tf.Variable(floats(3), trainable=False)]

    def __call__(self, first, second=None, *, training=True):
        result = first["x"] @ self.parts[0] + (0 if second is None else second)
        return {"b": result, "a": (result if training else -result, self.parts[1])}


def test_modules() -> None:
    module, x, y = Module(), floats(2, 4), floats(3)
    graph = mx.importers.tensorflow.load(module, ({"x": x},), {"second": y})
    assert [spec.name for spec in graph.inputs] == ["first_x", "second"]
    assert [spec.name for spec in graph.outputs] == ["a_0", "a_1", "b"]
    assert list(graph.weights) == ["parts/0", "parts/1"]
    got = run(graph, [x, y])
    wanted = module({"x": tf.constant(x)}, y, training=False)
    for one, other in zip(got, tf.nest.flatten(wanted), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_what_nodes_note() -> None:
    graph = mx.importers.tensorflow.load(made(signals))
    notes = [node.metadata_props for node in graph.nodes if node.op_type == "Conv"]
    assert all("/conv1d_" in note["mx.module"] for note in notes) and len(notes) == 2
    module = mx.importers.tensorflow.load(Module(), ({"x": floats(2, 4)},))
    (note,) = [node.metadata_props for node in module.nodes if node.op_type == "Gemm"]
    assert __file__ in note["mx.source"]


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: (3, ()), TypeError, "expected a keras.Model, a tf.Module with __call__"),
        (lambda: (tf.identity, ()), TypeError, "expected an example of the arguments"),
        (lambda: (tf.function(lambda x: tf.cast(x, tf.quint8)), (floats(2),)),
         mx.graph.GraphError, "no data type for quint8"),
    ],
)  # fmt: skip
def test_what_is_rejected(call, kind, text) -> None:
    with pytest.raises(kind, match=text):
        mx.importers.tensorflow.load(*call())


@pytest.mark.parametrize("dynamic", [{"y": (None,)}, {"x": ("n",)}])
def test_wrong_dimensions(dynamic) -> None:
    with pytest.raises(ValueError, match="dynamic"):
        mx.importers.tensorflow.load(tf.function(tf.nn.relu6), (floats(2, 3),), dynamic=dynamic)
