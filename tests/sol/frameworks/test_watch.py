"""Assignments to many variables of TensorFlow are noticed by what is compiled for that, too."""

from __future__ import annotations

import numpy as np
import pytest

from mx import sol
from mx.sol.frameworks.tensorflow import _watch
from mx.sol.frameworks.tensorflow._variables import Watched
from tests.importers.tensorflow.running import keras, tf

ROW = np.linspace(-1, 1, 8).astype("float32")


class Many(tf.Module):
    """The sum of so many variables and what it is given."""

    def __init__(self, count: int) -> None:
        super().__init__(name="many")
        self.rows = [tf.Variable(tf.fill(8, float(n))) for n in range(count)]

    def __call__(self, x):
        return tf.add_n([x, *self.rows])


@pytest.fixture(scope="module")
def library():
    made = _watch._Library()
    made._make()
    assert made.operations is not None, "a C++ compiler and the headers of TensorFlow are missing"
    return made


@pytest.fixture
def compiled(library, monkeypatch):
    monkeypatch.setattr(_watch, "_library", library)


def watched_of(fast) -> Watched:
    return fast._sol.compiled.holder.watched


WRITES = {
    "assign": lambda v: v.assign(ROW),
    "assign_add": lambda v: v.assign_add(ROW),
    "in a function": lambda v: tf.function(lambda: v.assign_sub(ROW))(),
    "an element": lambda v: v[2].assign(7.0),
    "rows": lambda v: v.scatter_update(tf.IndexedSlices([7.0], [1])),
    "an optimizer": lambda v: keras.optimizers.SGD(0.5).apply([tf.constant(ROW)], [v]),
    "momentum": lambda v: keras.optimizers.SGD(0.5, momentum=0.9).apply([tf.constant(ROW)], [v]),
    "an operation": lambda v: tf.raw_ops.AssignVariableOp(resource=v.handle, value=ROW),
    "in place": lambda v: tf.raw_ops.ResourceApplyGradientDescent(
        var=v.handle, alpha=0.5, delta=tf.constant(ROW)
    ),
}


@pytest.mark.parametrize("name", WRITES)
def test_assigned(compiled, name) -> None:
    model = Many(_watch._FEWEST)
    fast = sol.optimize(model, ROW)
    np.testing.assert_allclose(fast(ROW), model(ROW))
    watched = watched_of(fast)
    assert isinstance(watched._watched[1], _watch.Watch) and not watched.has_changed()
    for last in (model.rows[-1], model.rows[0]):
        before = fast(ROW).numpy()
        WRITES[name](last)
        assert watched.has_changed()
        np.testing.assert_allclose(fast(ROW), model(ROW), rtol=1e-6)
        assert not np.array_equal(fast(ROW), before)


def test_without_a_compiler(monkeypatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    monkeypatch.setattr(_watch, "_SOURCE", _watch._SOURCE + "// not in the cache\n")
    library = _watch._Library()
    monkeypatch.setattr(_watch, "_library", library)
    library._make()
    assert library.operations is None
    model = Many(_watch._FEWEST)
    fast = sol.optimize(model, ROW)
    np.testing.assert_allclose(fast(ROW), model(ROW))
    model.rows[0].assign(ROW)
    np.testing.assert_allclose(fast(ROW), model(ROW))
    assert watched_of(fast)._watched[1] is None


def test_few_variables_compile_nothing(monkeypatch) -> None:
    library = _watch._Library()
    monkeypatch.setattr(_watch, "_library", library)
    sol.optimize(Many(_watch._FEWEST - 1), ROW)(ROW)
    assert not library._is_asked_for
