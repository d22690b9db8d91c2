"""Runs for inputs such as came last, which go another way than the first: what takes it, and what
comes out on it is what comes out on the other."""

import threading

import numpy as np
import pytest

import mx
from mx.graph import Plan, _latest, _portable

from . import build

ADD = "g (float[N, 2] a, float[N, 2] b) => (float[N, 2] c) { c = Add (a, b) }"
MODULES = (_latest, _portable)
CLASSES = list(dict.fromkeys(module.Latest for module in MODULES))
ATTEMPTS = list(dict.fromkeys(module.Attempt for module in MODULES))
X = np.arange(4, dtype="float32").reshape(2, 2)
A = mx.np.array(X)


# What is given by name, and whether it is passed on.
GIVEN = {
    "arrays of mx": ({"a": A, "b": A}, True),
    "in another order": ({"b": A, "a": A}, True),
    "arrays of NumPy": ({"a": X, "b": X}, True),
    "of both": ({"a": A, "b": X}, True),
    "of another shape": ({"a": A[:1], "b": A}, True),
    "of bytes in another order": ({"a": A, "b": X.astype(">f4")}, False),
    "of texts": ({"a": A, "b": np.array(["x"])}, False),
    "of objects": ({"a": A, "b": np.array([None])}, False),
    "numbers": ({"a": A, "b": 1.0}, False),
    "lists": ({"a": A, "b": [[1, 2]]}, False),
    "None": ({"a": A, "b": None}, False),
    "a NumPy scalar": ({"a": A, "b": np.float32(1)}, False),
    "an array of a class that derives": ({"a": A, "b": X.view(np.matrix)}, False),
    "one missing": ({"a": A}, False),
    "one more": ({"a": A, "b": A, "c": A}, False),
    "other names": ({"a": A, "c": A}, False),
    "names that are none": ({"a": A, 1: A}, False),
    "no mapping": ([A, A], False),
    "nothing": (None, False),
}


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize(("given", "passes"), GIVEN.values(), ids=GIVEN)
def test_what_is_passed_on(kind, given, passes):
    latest = kind(("a", "b"), mx.np.ndarray, np.ndarray, frozenset({np.dtype("float32")}))
    assert latest.by_name(given) is None  # as nothing came before
    seen = []

    def run(arrays):
        seen.append(list(arrays))
        return (arrays[1],)

    latest.run = run
    found = latest.by_name(given)
    assert (found is not None) == passes == bool(seen)
    if passes:
        assert type(found) is list
        assert found[0] is given["b"]
        assert seen[0][0] is given["a"]
        in_order = latest.in_order((given["a"], given["b"]))
        assert in_order[0] is given["b"]
    latest.run = lambda arrays: None
    assert latest.by_name(given) is None


@pytest.mark.parametrize("kind", CLASSES)
def test_what_a_run_raises(kind):
    latest = kind(("a",), mx.np.ndarray, np.ndarray, frozenset())

    def run(arrays):
        raise KeyError("of the run")

    latest.run = run
    with pytest.raises(KeyError, match="of the run"):
        latest.by_name({"a": A})
    with pytest.raises(KeyError, match="of the run"):
        latest.in_order((A,))
    assert latest.in_order((A, A)) is None


# What is called, and what comes of an attempt to: a value, or an error.
CALLS = {
    "outputs": (lambda arrays: (arrays[0],), (A,)),
    "nothing": (lambda arrays: None, None),
    "a failure": (lambda arrays: 1 / 0, ("instead", A, "division by zero")),
    "another error": (lambda arrays: {}[3], KeyError),
}


@pytest.mark.parametrize("by_latest", [False, True])
@pytest.mark.parametrize("kind", ATTEMPTS)
@pytest.mark.parametrize(("call", "expected"), CALLS.values(), ids=CALLS)
def test_attempts(kind, call, expected, by_latest):
    def instead(arrays, error):
        return ("instead", *arrays, str(error))

    attempt = kind(call, instead, (ArithmeticError, ValueError))
    run = attempt
    if by_latest:
        latest = _latest.Latest(("a",), mx.np.ndarray, np.ndarray, frozenset())
        latest.run = attempt

        def run(arrays):
            return latest.by_name({"a": arrays[0]})

    for _ in range(2):
        if isinstance(expected, type):
            with pytest.raises(expected):
                run([A])
        else:
            found = run([A])
            assert (None if found is None else tuple(found)) == expected
    attempt.end()
    assert run([A]) is None


@pytest.mark.parametrize("kind", ATTEMPTS)
def test_an_attempt_that_fails_again_instead(kind):
    def instead(arrays, error):
        raise error

    with pytest.raises(ZeroDivisionError):
        kind(lambda arrays: 1 / 0, instead, (ArithmeticError,))([A])


# Inputs one after another, each with what a run gives or raises.
SEQUENCES = {
    "the same": [(A, A), (A, A), (A, A)],
    "shapes in turns": [(A, A), (A[:1], A[:1]), (A, A), (A[:1], A[:1]), (A, A)],
    "mx and NumPy in turns": [(A, A), (X, X), (A, X), (X, A), (A, A)],
    "strides": [(A, A), (A.T, A), (A[::-1], A[:, ::-1]), (X.T, X[::-1])],
    "another type": [(A, A), (A, A), (A.astype("int32"), A), (A, A)],
    "another rank": [(A, A), (A, A), (A[0], A), (A, A)],
    "shapes that do not go together": [(A, A), (A, A), (A[:1], A), (A, A)],
    "lists": [(A, A), ([[1, 2]], [[3, 4]]), (A, A)],
    "none": [(A, A), (A, A), (None, A), (A, A)],
}


@pytest.mark.parametrize("by_name", [True, False])
@pytest.mark.parametrize("inputs", SEQUENCES.values(), ids=SEQUENCES)
def test_what_plans_give(inputs, by_name):
    """Each run is that of a plan that nothing ran before."""

    def outcome(plan, a, b):
        try:
            (made,) = plan.run({"a": a, "b": b}) if by_name else plan(a, b)
            assert type(made) is mx.np.ndarray
            return made.tolist()
        except (TypeError, ValueError) as error:
            return type(error), str(error)

    plan = Plan(build.graph_of(ADD))
    for a, b in inputs * 2:
        if isinstance(a, list):
            a, b = np.array(a, "float32"), np.array(b, "float32")
        assert outcome(plan, a, b) == outcome(Plan(build.graph_of(ADD)), a, b)


def test_outputs_are_new():
    plan = Plan(build.graph_of(ADD))
    runs = [plan.run({"a": A, "b": A})[0] for _ in range(4)]
    runs[-1][0, 0] = 5
    assert [run[0, 0].item() for run in runs] == [0, 0, 0, 5]
    assert len({run.data_ptr for run in runs}) == 4


def test_threads_with_shapes_of_their_own():
    plan = Plan(build.graph_of(ADD))
    wrong = []

    def work(rows):
        x = mx.np.full((rows, 2), rows, dtype="float32")
        for _ in range(300):
            (made,) = plan.run({"a": x, "b": x})
            if made.shape != (rows, 2) or not (made.asnumpy() == 2 * rows).all():
                wrong.append(rows)

    workers = [threading.Thread(target=work, args=(rows,)) for rows in range(1, 5)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []
