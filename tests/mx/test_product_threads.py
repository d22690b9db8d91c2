"""Products of matrices on the threads of operators: at once, after a fork, and idle afterwards."""

import os
import subprocess
import sys
import textwrap

import pytest

HEAD = """
import os, threading, time
import numpy
import mx

mx.set_num_threads(3)
random = numpy.random.default_rng(0)
A, B = (random.standard_normal((400, 400)) for _ in range(2))
a, b = mx.np.array(A), mx.np.array(B)
PRODUCTS = {
    "matrices": (lambda: mx.np.dot(a, b), A @ B),
    "a matrix and its transpose": (lambda: mx.np.dot(a, a.T), A @ A.T),
    "matrix and vector": (lambda: mx.np.dot(a, b[0]), A @ B[0]),
    "vector and matrix": (lambda: mx.np.dot(b[0], a), B[0] @ A),
    "complex": (lambda: mx.np.dot(a + 1j * b, b), (A + 1j * B) @ B),
    "single precision": (
        lambda: mx.np.dot(a.astype("float32"), b.astype("float32")), (A @ B).astype("float32")
    ),
}

def check():
    for name, (product, expected) in PRODUCTS.items():
        tolerance = 1e-3 if expected.dtype == "float32" else 1e-9
        numpy.testing.assert_allclose(
            product().asnumpy(), expected, rtol=tolerance, atol=tolerance, err_msg=name
        )

check()
"""
CASES = {
    "as many threads as asked for": """
        for count in (1, 2, 5, 3):
            mx.set_num_threads(count)
            check()
    """,
    "from several threads, beside other loops": """
        failures = []

        def compute(work):
            try:
                for _ in range(20):
                    work()
            except BaseException as error:
                failures.append(error)

        long = mx.np.arange(300_007, dtype="float64")
        loops = [check, check, check, lambda: mx.np.exp(long / 1e6)]
        threads = [threading.Thread(target=compute, args=(work,)) for work in loops]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
    """,
    "after a fork": """
        child = os.fork()
        if child == 0:
            check()
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        check()
    """,
    "an error where the system starts fewer threads": """
        import resource

        mx.set_num_threads(64)
        size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + (40 << 20), -1))
        try:
            mx.np.dot(a, b)
        except RuntimeError as error:
            words = "a product of matrices: expected 63 threads beside the calling one"
            assert words in str(error), error
        else:
            raise AssertionError("no error")
    """,
    # The BLAS's own threads would look for work for 0.1 seconds.
    "idle afterwards": """
        time.sleep(0.3)
        PRODUCTS["matrices"][0]()
        time.sleep(0.001)
        before = time.process_time()
        time.sleep(0.2)
        assert time.process_time() - before < 0.05
    """,
}


@pytest.mark.parametrize("case", CASES)
def test_products(case):
    script = HEAD + textwrap.dedent(CASES[case])
    # A variable of the user's may ask for more threads of the BLAS than operators have.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "6"}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
