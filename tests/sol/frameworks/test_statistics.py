"""Statistics of normalization that files have as one tensor with other weights."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mx import sol
from mx.graph import load
from mx.sol.frameworks._graph_source import GraphSource

from .networks import arrays
from .trainings import ROWS, file_with

SHARING = "f (float[N, 6] x) => (float[N, 6] y) {"
# Files that have equal weights once, as who writes them leaves others out, and the names of all.
ONCE = {
    "directly": (
        "z = BatchNormalization(x, one, zero, zero, one)"
        " y = BatchNormalization(z, one, zero, zero, one) }",
        {"one", "zero", "z_mean", "z_var", "y_mean", "y_var"},
    ),
    "by name": (
        "a = Identity(zero) b = Identity(one) c = Identity(a) d = Identity(one)"
        " z = BatchNormalization(x, one, zero, a, b) y = BatchNormalization(z, one, zero, c, d) }",
        {"one", "zero", "a", "b", "c", "d"},
    ),
    "both statistics": (
        "z = BatchNormalization(x, one, zero, zero, one)"
        " y = BatchNormalization(z, one, zero, three, three) }",
        {"one", "zero", "z_mean", "z_var", "y_mean", "three"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("framework", ["torch", "keras", "tensorflow"])
@pytest.mark.parametrize("name", ONCE)
def test_statistics_that_are_other_weights(name, framework) -> None:
    text, names = ONCE[name]
    values = {"one": 1, "zero": 0} | ({"three": 3} if "three" in names else {})
    weights = {key: np.full(6, one, "float32") for key, one in values.items()}
    fast = sol.optimize(file_with(SHARING + text, **weights), ROWS, framework=framework)
    if framework == "torch":
        made = fast.train()(torch.tensor(ROWS)).detach().numpy()
        trained, now = dict(fast.named_parameters()), fast.state_dict()
    else:
        made = fast(ROWS, training=True)
        trained, now = (
            {one.name.partition(":")[0]: one for one in every}
            for every in (fast.trainable_variables, fast.variables)
        )
    wanted = [(ROWS - ROWS.mean(0)) / np.sqrt(ROWS.var(0) + 1e-5)]
    wanted.append(wanted[0] / np.sqrt(wanted[0].var(0) + 1e-5))
    np.testing.assert_allclose(made, wanted[1], rtol=1e-3, atol=1e-5)
    assert set(trained) == {"one", "zero"}
    assert set(now) == names
    # What is trained is as it was, and each statistic as the layers' own would be.
    found = sorted(float(arrays(one)[0]) for one in now.values())
    first = 3 if "three" in names else 0
    moved = [0.1 * ROWS.mean(0)[0], 0.9 + 0.1 * ROWS.var(0)[0]]
    moved += [0.9 * first, 0.9 * (first or 1) + 0.1 * wanted[0].var(0)[0]]
    np.testing.assert_allclose(found, sorted([0, 1, *moved]), rtol=1e-4, atol=1e-5)


def test_files_keep_their_key() -> None:
    """To ask for modes and statistics reads a file, and changes nothing."""
    (text, _), ones = ONCE["directly"], np.ones(6, "float32")
    source = GraphSource(load(file_with(SHARING + text, one=ones, zero=0 * ones)), [ROWS], {}, True)
    key = source.key()
    assert key is not None
    assert source.has_modes
    assert set(source.frozen()) == {"z_mean", "z_var", "y_mean", "y_var"}
    assert source.key() == key
