"""The threads, which this library and plans of the CPU share, as they share oneDNN."""

import subprocess
import sys
import textwrap

import pytest

HEAD = """
import os, sys, threading, warnings
import numpy
import mx
from mx import _onednn

warnings.simplefilter("ignore", mx.AccFallbackWarning)
path = sys.argv[1]
is_mapped = lambda: path in open("/proc/self/maps").read()
count = lambda: len(os.listdir("/proc/self/task"))
before = count()
random = numpy.random.default_rng(0)
a, b = (random.standard_normal((256, 256), "float32") for _ in range(2))
expected = a @ b


def library():
    context = mx.load_acc(path)
    context.configure(threads=3)
    for _ in range(5):
        product = mx.np.dot(mx.np.array(a, ctx=context), mx.np.array(b, ctx=context))
        numpy.testing.assert_allclose(product.asnumpy(), expected, rtol=1e-3, atol=1e-3)


def plan():
    dnn = _onednn.load()
    made = dnn.matmul(dnn.Input((256, 256)), mx.np.array(b))
    for _ in range(5):
        (product,) = made.kernel.run([mx.np.array(a)])
        numpy.testing.assert_allclose(product.asnumpy(), expected, rtol=1e-3, atol=1e-3)


def both():
    threads = [threading.Thread(target=one) for one in (plan, library)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()

mx.set_num_threads(3)
# Two beside each of the two that compute at once, and two of the pool of operators.
MOST = 3 * 2
"""
CASES = {
    "threads end with the library": """
        for _ in range(3):
            library()
            assert is_mapped() and count() == before + 2
            mx.unload_acc("onednn")
            assert not is_mapped() and count() == before
    """,
    "the library first": """
        library(), plan(), both()
        assert before + 2 <= count() <= before + MOST
        mx.unload_acc("onednn")
        # The plan computes on.
        assert is_mapped()
        plan()
    """,
    "a plan first": """
        plan(), library(), both()
        assert before + 2 <= count() <= before + MOST
        mx.unload_acc("onednn")
        assert not is_mapped()
        plan()
    """,
}


@pytest.mark.parametrize("case", CASES)
def test_shared_with_plans(accelerators, case):
    script = HEAD + textwrap.dedent(CASES[case])
    path = accelerators / "libonednn.so"
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
