"""Deployed models, each compiled once for all tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy
import pytest

from benchmarks.models import example
from mx import sol

from .loaded import Array, Library
from .models import MODELS


@dataclass(frozen=True)
class Case:
    """A model as it was deployed, with inputs and what the plan gives for them."""

    deployed: sol.Deployed
    inputs: list[Array]
    expected: list[Array]

    def load(self) -> Library:
        """The library. Weights beside it are read."""
        return Library(self.deployed.files[0])

    def outputs(self) -> list[Array]:
        """Arrays to write into."""
        return [numpy.full(one.shape, 77, one.dtype) for one in self.expected]

    def check(self, outputs: list[Array]) -> None:
        """That they are what the plan gives."""
        for came, wanted in zip(outputs, self.expected, strict=True):
            numpy.testing.assert_allclose(came, wanted, rtol=2e-4, atol=2e-5)


def optimized(name: str, batch: int = 1) -> tuple[Any, list[Array]]:
    """A model of MODELS as sol.optimize returns it, and inputs."""
    graph = MODELS[name]()
    inputs = list(example(graph, batch).values())
    return sol.optimize(graph, *inputs), inputs


@pytest.fixture(scope="session")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Case]:
    """A function that deploys a model of MODELS, once for the same arguments."""
    kept: dict[Any, Case] = {}

    def make(name: str, kind: str = "shared", **options: Any) -> Case:
        key = (name, kind, *sorted(options.items()))
        if key not in kept:
            model, inputs = optimized(name)
            folder = tmp_path_factory.mktemp(name)
            made = sol.deploy(model, kind, path=folder, lib_name=name, **options)
            results = model(*inputs)
            expected = results if isinstance(results, list) else [results]
            kept[key] = Case(made, inputs, expected)
        return kept[key]

    return make
