"""Kernels of oneDNN in threads and forks, and what loading it does to a process."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import mx
from mx import _onednn

from .. import layers
from .kernels import Input, array, check, dnn, normal, run


def test_threads():
    """Eight threads run one kernel at once, each with memory of its own."""
    weights = normal(32, 16, 3, 3)
    made = dnn.convolution(Input((1, 16, 20, 20)), array(weights))
    wrong = []

    def work():
        random = np.random.default_rng(threading.get_ident())
        data = random.standard_normal((1, 16, 20, 20)).astype("float32")
        expected = layers.convolution(data, weights)
        for _ in range(30):
            (result,) = run(made, array(data))
            if np.abs(result.asnumpy() - expected).max() > 1e-3:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_number_of_threads_is_that_of_mx():
    before = mx.get_num_threads()
    data, weights = normal(1, 16, 20, 20), normal(32, 16, 3, 3)
    try:
        for count in (1, 3):
            mx.set_num_threads(count)
            made = dnn.convolution(Input(data.shape), array(weights))
            check(made, [data], layers.convolution(data, weights))
    finally:
        mx.set_num_threads(before)


FORKS = """
import os, signal
import numpy
import mx
from mx import _onednn

dnn = _onednn.load()
run = lambda made, data: made.kernel.run([data])[0].asnumpy()
random = numpy.random.default_rng(0)
weights = mx.np.array(random.standard_normal((32, 16, 3, 3), "float32"))
data = mx.np.array(random.standard_normal((1, 16, 20, 20), "float32"))
make = lambda: dnn.convolution(dnn.Input((1, 16, 20, 20), layout=None, keep=True), weights)
made = make()
expected = run(made, data)
agrees = lambda: all((run(each, data) == expected).all() for each in (made, make()))
child = os.fork()
if child == 0:
    good = False
    signal.alarm(60)
    try:
        grandchild = os.fork()
        good = agrees() and (grandchild == 0 or os.waitpid(grandchild, 0)[1] == 0)
    finally:
        os._exit(0 if good else 1)
assert os.waitpid(child, 0)[1] == 0
"""


def test_forks():
    """A child makes and runs kernels although the threads of its parent are none of its own."""
    # In a process alone: what other tests have imported does not like forks.
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKS], check=True)


def test_the_environment_is_left_alone():
    """Loading oneDNN sets nothing; `import mx` alone loads nothing."""
    script = (
        "import os, mx\n"
        "before = dict(os.environ)\n"
        "loaded = lambda: 'libdnnl' in open('/proc/self/maps').read()\n"
        "assert not loaded()\n"
        "from mx import _onednn\n"
        "assert not loaded()\n"
        "_onednn.load()\n"
        "assert loaded() and dict(os.environ) == before\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_missing_package_is_told(monkeypatch):
    monkeypatch.setattr(_onednn, "_PACKAGE", "onednn-of-nobody")
    with pytest.raises(ImportError, match="onednn-of-nobody is not installed"):
        _onednn.load.__wrapped__()
