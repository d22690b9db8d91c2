"""Assignments to many variables of TensorFlow are noticed by what is compiled for that, too."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest
from tensorflow.python.eager import context

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
        self.scale, self.nothing = tf.Variable(0.5), tf.Variable(tf.zeros((0, 3)))

    def __call__(self, x):
        return tf.add_n([x, *self.rows]) * self.scale + tf.reduce_sum(self.nothing)


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


def has_watch(watched: Watched) -> bool:
    return any(isinstance(one, _watch.Watch) for one in watched._seen._watches)


def aligned() -> np.ndarray:
    """An array that TensorFlow takes without a copy."""
    memory = np.zeros(64, "float32")
    first = -memory.ctypes.data % 64 // 4
    return memory[first : first + 8]


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
    assert has_watch(watched) and not watched.has_changed()
    for last in (model.rows[-1], model.rows[0]):
        before = fast(ROW).numpy()
        WRITES[name](last)
        assert watched.has_changed()
        np.testing.assert_allclose(fast(ROW), model(ROW), rtol=1e-6)
        assert not np.array_equal(fast(ROW), before)


NUMBERS = {
    "assign": lambda v: v.assign(v + 3.0),
    "assign_add": lambda v: v.assign_add(3.0),
    "an optimizer": lambda v: keras.optimizers.SGD(0.5).apply([tf.constant(1.5)], [v]),
    "in place": lambda v: tf.raw_ops.ResourceApplyGradientDescent(
        var=v.handle, alpha=0.5, delta=1.5
    ),
}


@pytest.mark.parametrize("count", [2, _watch._FEWEST])
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(compiled, name, count) -> None:
    model = Many(count)
    fast = sol.optimize(model, ROW)
    for _ in range(2):
        np.testing.assert_allclose(fast(ROW), model(ROW), rtol=1e-6)
        watched = watched_of(fast)
        assert not watched.has_changed()
        assert has_watch(watched) == (count > 2)
        NUMBERS[name](model.scale)
        assert watched.has_changed()


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
    assert not has_watch(watched_of(fast))


def test_few_variables_compile_nothing(monkeypatch) -> None:
    library = _watch._Library()
    monkeypatch.setattr(_watch, "_library", library)
    sol.optimize(Many(_watch._FEWEST - 3), ROW)(ROW)
    assert not library._is_asked_for


def test_a_slice_that_overlaps_the_former_one() -> None:
    model = Many(2)
    model.rows = [tf.Variable(tf.zeros(32)) for _ in range(2)]
    every, none = tf.range(64.0), np.zeros(32, "float32")
    model.rows[0].assign(every[:32])
    fast = sol.optimize(model, none)
    fast(none)
    for part in (every[16:48], every[:32]):
        model.rows[0].assign(part)
        np.testing.assert_allclose(fast(none), model(none))


def test_assignments_that_wait_for_their_turn(compiled) -> None:
    model, x = Many(_watch._FEWEST), tf.constant(ROW)
    fast = sol.optimize(model, ROW)
    fast(x)
    large = tf.ones((8, 1 << 21))
    with context.execution_mode(context.ASYNC):
        waits = tf.raw_ops.MatMul(a=large, b=large, transpose_b=True)
        waits = tf.raw_ops.Max(input=waits, axis=[1])
        tf.raw_ops.AssignVariableOp(resource=model.rows[0].handle, value=waits)
        found = watched_of(fast).has_changed()
    assert found


def test_in_a_graph(compiled) -> None:
    fast = sol.optimize(Many(_watch._FEWEST), ROW)
    with tf.Graph().as_default():
        assert not watched_of(fast).has_changed()


def test_no_thread_to_be_had(monkeypatch) -> None:
    def start(_) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_watch, "_library", _watch._Library())
    fast = sol.optimize(Many(_watch._FEWEST), ROW)
    monkeypatch.setattr(threading.Thread, "start", start)
    assert not watched_of(fast).has_changed()


def test_while_an_assignment_waits_for_python(compiled) -> None:
    model = Many(_watch._FEWEST)
    fast = sol.optimize(model, ROW)
    fast(ROW)
    last, freeing = model.rows[-1], threading.Event()
    array = aligned()

    def freed() -> None:
        freeing.set()
        time.sleep(0.5)  # with the lock of the variable

    weakref.finalize(array, freed)
    last.assign(tf.experimental.dlpack.from_dlpack(array.__dlpack__()))
    del array
    writer = threading.Thread(target=last.assign, args=[ROW])
    writer.start()
    assert freeing.wait(60)
    assert watched_of(fast).has_changed()
    writer.join()
    np.testing.assert_allclose(fast(ROW), model(ROW), rtol=1e-6)


def test_elements_of_before_are_let_go(compiled) -> None:
    model = Many(_watch._FEWEST)
    fast = sol.optimize(model, ROW)
    fast(ROW)
    array = aligned()
    gone = weakref.ref(array)
    model.rows[0].assign(tf.experimental.dlpack.from_dlpack(array.__dlpack__()))
    del array
    fast(ROW)
    fast(ROW)
    assert gone() is not None
    for one in model.rows:
        one.assign(ROW)
    fast(ROW)
    gc.collect()
    assert gone() is None


COMPILES = """
import os, sys, threading, time
import ffi
build = lambda: ffi.cpp.build("slow", "int one() { return 1; }", "one")
threading.Thread(target=build, daemon=True).start()
while not os.path.exists(sys.argv[1]):
    time.sleep(0.1)
"""
COMPILER = """#!/bin/sh
case "$*" in *slow.cc*) touch {began}; sleep 8; touch {left};; esac
exec c++ "$@"
"""


def test_a_process_does_not_wait_for_the_compiler(tmp_path) -> None:
    began, left, compiler = (tmp_path / name for name in ("began", "left", "compiler"))
    compiler.write_text(COMPILER.format(began=began, left=left))
    compiler.chmod(0o700)
    more = {"CXX": str(compiler), "MXFFI_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", COMPILES, str(began)]
    done = subprocess.run(
        command, env=os.environ | more, capture_output=True, text=True, check=True, timeout=60
    )
    assert not left.exists() and "Fatal" not in done.stderr
    time.sleep(9)
    assert not left.exists(), "it went on"
