"""Models that draw random numbers, deployed: these follow from a seed that callers give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from torch import nn

from mx import sol
from mx.graph import GraphError
from mx.sol.backends.gen import Target
from mx.sol.deployments._lower import lower
from mx.sol.deployments._random import seeded
from mx.sol.operators.dropout import dropout_training, uniform
from mx.sol.operators.random import random_normal, random_uniform
from tests.graph.build import graph_of

from .conftest import Case
from .loaded import Array, Library
from .merged import Merged
from .programs import output_of, run, write_main
from .test_c import STRICT, compiler, source_of

C = Target.named("c")
SEED = numpy.array([7 << 40 | 3, -5], "int64")
X = numpy.random.default_rng(1).standard_normal((3, 5)).astype("float32")


def second(seed: Array) -> Array:
    """The seed of the second node that draws."""
    return seed + numpy.array([0, 1 << 32])


def bits(seed: float) -> Array:
    return numpy.array([int(numpy.float32(seed).view("uint32")), 0])


# Nodes, and what they give for x and the seed.
RATIO = "r = Constant<value = float {0.3}>() t = Constant<value = bool {1}>()"
CASES: dict[str, tuple[str, Any]] = {
    "uniform": ("y = RandomUniformLike(x)", lambda x: random_uniform(SEED, x.shape)),
    "uniform of a range": (
        "y = RandomUniformLike<low = -1.0, high = 3.0>(x)",
        lambda x: random_uniform(SEED, x.shape, low=-1, high=3),
    ),
    "uniform of a shape": (
        "u = RandomUniform<shape = [3,1]>() y = Add(x, u)",
        lambda x: x + random_uniform(SEED, (3, 1)),
    ),
    "normal": (
        "y = RandomNormalLike<mean = 1.0, scale = 2.0>(x)",
        lambda x: random_normal(SEED, x.shape, mean=1, scale=2),
    ),
    "normal of a shape": (
        "u = RandomNormal<shape = [2,1,5], dtype = 11>() y = Cast<to = 1>(u)",
        lambda x: random_normal(SEED, (2, 1, 5)),
    ),
    "two": (
        "a = RandomNormalLike(x) b = RandomUniformLike(x) y = Sub(a, b)",
        lambda x: random_normal(SEED, x.shape) - random_uniform(second(SEED), x.shape),
    ),
    "a seed of its own": (
        "y = RandomNormalLike<seed = 1.5>(x)", lambda x: random_normal(bits(1.5), x.shape)
    ),
    "bernoulli": (
        "p = Sigmoid(x) b = Bernoulli<dtype = 9>(p) y = Cast<to = 1>(b)",
        lambda x: uniform(SEED, x.size).reshape(x.shape) < 1 / (1 + numpy.exp(-x)),
    ),
    "dropout": (
        f"{RATIO} y = Dropout(x, r, t)", lambda x: dropout_training(x, SEED, ratio=0.3)[0]
    ),
    "dropout and its mask": (
        f"{RATIO} a, m = Dropout(x, r, t) b = Cast<to = 1>(m) y = Sub(a, b)",
        lambda x: numpy.subtract(*dropout_training(x, SEED, ratio=0.3)),
    ),
    "dropout of float64": (
        f"{RATIO} a = Cast<to = 11>(x) b = Dropout(a, r, t) y = Cast<to = 1>(b)",
        lambda x: dropout_training(x, SEED, ratio=0.3)[0],
    ),
    "dropout of all": (
        "r = Constant<value = float {1.0}>() t = Constant<value = bool {1}>() y = Dropout(x, r, t)",
        lambda x: 0 * x,
    ),
    "dropout of half": (
        "t = Constant<value = bool {1}>() y = Dropout(x, , t)",
        lambda x: dropout_training(x, SEED, ratio=0.5)[0],
    ),
}  # fmt: skip


def test_numbers_are_those_of_the_seed() -> None:
    programs, inputs = [], []
    for nodes, _ in CASES.values():
        graph = graph_of(f"g (float[3,5] x) => (y) {{ {nodes} }}")
        graph.infer()
        made = seeded(graph)
        has_seed = "seed =" not in nodes
        assert [one.name for one in made.inputs] == ["x", *["seed"] * has_seed]
        programs.append(lower(made, C))
        inputs += [X, SEED][: 1 + has_seed]
    outputs = Merged(programs, C).call(inputs)
    for (name, (_, of)), found in zip(CASES.items(), outputs, strict=True):
        numpy.testing.assert_allclose(found, of(X), rtol=1e-5, atol=1e-5, err_msg=name)


def test_classes_are_drawn_as_often_as_they_say() -> None:
    chances = numpy.array([[0.1, 0.2, 0.7], [0.5, 0, 0.5]], "float32")
    graph = graph_of(
        "g (float[2,3] x) => (int64[2,4000] y) {"
        " y = Multinomial<sample_size = 4000, dtype = 7>(x) }"
    )
    graph.infer()
    with numpy.errstate(divide="ignore"):
        (found,) = Merged([lower(seeded(graph), C)], C).call([numpy.log(chances), SEED])
    for row, wanted in zip(found, chances, strict=True):
        numpy.testing.assert_allclose(numpy.bincount(row, minlength=3) / 4000, wanted, atol=0.03)


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        (
            """n = Constant<value = int64 {2}>() on = Constant<value = bool {1}>()
            y = Loop(n, on, x) <body = b (int64 i, bool k, float[3,5] a)
              => (bool q, float[3,5] c) { q = Identity(k) d = RandomNormalLike(a) c = Add(a, d) }>
            """,
            "RandomNormalLike.*other numbers each time",
        ),
        (
            """m = ReduceMax<keepdims = 0>(x) t = Constant<value = bool {1}>()
            y = Dropout(x, m, t)""",
            "Dropout.*drops other elements each time",
        ),
    ],
    ids=["inside of a loop", "a ratio that is computed"],
)
def test_what_is_rejected(tmp_path: Path, nodes: str, reason: str) -> None:
    graph = graph_of(f"g (float[3,5] x) => (float[3,5] y) {{ {nodes} }}")
    with pytest.raises(GraphError, match=reason):
        sol.deploy(graph, "source", path=tmp_path)


class Encoder(nn.Module):
    """Draws between what it encodes and what it decodes, as variational autoencoders do."""

    def __init__(self) -> None:
        super().__init__()
        self.encode, self.decode = nn.Linear(5, 8), nn.Linear(4, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mean, spread = self.encode(x).chunk(2, -1)
        return self.decode(mean + torch.randn_like(mean) * spread.exp())


def test_a_model_that_was_trained(tmp_path: Path) -> None:
    """Clean for compilers and sanitizers, too; another seed gives other numbers."""
    torch.manual_seed(0)
    model, x = Encoder(), torch.tensor(X)
    fast = sol.optimize(model, x)
    optimizer = torch.optim.Adam(fast.parameters(), 0.01)
    for _ in range(3):
        optimizer.zero_grad()
        (fast(x) - x).square().mean().backward()
        optimizer.step()
    made = sol.deploy(fast.eval(), "source", path=tmp_path, lib_name="encoder", target="c")
    assert "const int64_t *seed_2" in (tmp_path / "encoder.h").read_text()
    with torch.no_grad():
        mean, spread = model.encode(x).chunk(2, -1)
        noise = torch.tensor(random_normal(SEED, mean.shape))
        expected = model.decode(mean + noise * spread.exp()).numpy()
        center = model.decode(mean).numpy()
    case = Case(made, [X, SEED], [expected])
    main = write_main(case, "encoder", tmp_path)
    sources = [path for path in made.files if path.suffix in (".c", ".S")]
    flags = [*STRICT, "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    gcc = compiler("gcc")
    run([gcc, *STRICT, "-O1", "-c", source_of(case), "-o", "x.o"], tmp_path)
    folder = f"-Wa,-I,{tmp_path}"
    run([gcc, flags[0], *flags[len(STRICT) :], folder, *sources, main, "-lm"], tmp_path)
    run(["./a.out"], tmp_path)
    case.check(output_of(case, tmp_path))
    library = Library(sol.deploy(fast, path=tmp_path, lib_name="encoder").files[0])
    found = [numpy.zeros_like(expected) for _ in range(2000)]
    for number, one in enumerate(found):
        assert library.call([X, numpy.array([number, 1]), one]) == 0
    assert len({one.tobytes() for one in found}) == len(found)
    numpy.testing.assert_allclose(numpy.mean(found, 0), center, atol=0.2)
