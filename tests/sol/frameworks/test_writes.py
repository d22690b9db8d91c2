"""What models of TensorFlow assign: done in training, left out in inference, or an error."""

from __future__ import annotations

import numpy as np
import pytest

import mx
from mx import sol
from tests.importers.tensorflow.running import tf

ROWS = np.random.default_rng(3).standard_normal((12, 10)).astype("float32")


class Writing(tf.Module):
    """Writes to `kept` in a call as it is told, and returns what it is told."""

    def __init__(self, write, result) -> None:
        super().__init__(name="writing")
        self.kept = tf.Variable(tf.zeros(10), trainable=False)
        self.write, self.result = write, result

    def __call__(self, x, training=False):
        before = self.kept + x
        self.write(self.kept, x[0])
        return before if self.result == "before" else x + self.kept


def in_branch(v, x):
    tf.cond(x[0] > -9, lambda: v.assign_add(x), lambda: v.read_value())


def in_loop(v, x):
    tf.while_loop(lambda n: n < 2, lambda n: (v.assign_add(x), n + 1)[1:], [0])


def in_function(v, x):
    tf.function(lambda: in_branch(v, x))()


WRITES = {
    "a branch": (in_branch, "AssignAddVariableOp"),
    "a loop": (in_loop, "AssignAddVariableOp"),
    "a function": (in_function, "AssignAddVariableOp"),
    "a slice": (lambda v, x: v[0].assign(7.0), "ResourceStridedSliceAssign"),
    "rows": (
        lambda v, x: v.scatter_update(tf.IndexedSlices([7.0], [1])), "ResourceScatterUpdate",
    ),
    "elements": (lambda v, x: v.scatter_nd_add([[0]], [1.0]), "ResourceScatterNdAdd"),
    "rows in a branch": (
        lambda v, x: tf.cond(
            x[0] > 0, lambda: v.scatter_add(tf.IndexedSlices([7.0], [1])), lambda: v.read_value()
        ),
        "ResourceScatterAdd",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITES)
def test_writes_that_are_left_out(name) -> None:
    write, operator = WRITES[name]
    with pytest.warns(sol.SolWarning, match="assigns to kept in a call"):
        fast = sol.optimize(Writing(write, "before"), ROWS)
    np.testing.assert_array_equal(fast(ROWS), ROWS)
    with pytest.raises(mx.graph.GraphError, match=operator):
        fast(ROWS, training=True)
    with pytest.raises(mx.graph.GraphError, match=f"reads kept, .* before: {operator}"):
        sol.optimize(Writing(write, "after"), ROWS)


def plainly(v, x):
    v[0].assign(7.0)
    v.assign(x)
    tf.function(lambda: v.assign_add(x))()


def test_assigned_in_inference() -> None:
    with pytest.warns(sol.SolWarning, match="assigns to kept in a call"):
        fast = sol.optimize(Writing(plainly, "after"), ROWS)
    np.testing.assert_allclose(fast(ROWS), ROWS + 2 * ROWS[0], rtol=1e-6)


def test_a_loop_reads_what_it_has_written() -> None:
    def loop(v, x):
        def body(n, total):
            total = total + v[0]
            in_branch(v, x)
            return n + 1, total

        v.assign_add(x * tf.while_loop(lambda n, _: n < 2, body, [0, 0.0])[1])

    with pytest.raises(mx.graph.GraphError, match="reads kept, .* before: AssignAddVariableOp"):
        sol.optimize(Writing(loop, "before"), ROWS)
