"""Operators on several threads: the same results, whoever else calls, forks or asks for fewer."""

import os
import subprocess
import sys
import threading

import numpy
import pytest

import mx

np = mx.np
SIZE = 300_007  # far beyond what is done on one thread, and no multiple of anything
X = np.arange(SIZE, dtype="float32") / 7 - 10_000
MATRIX = np.arange(SIZE - 7, dtype="float64").reshape((1000, 300))
COLUMNS = np.arange(300) * 7 % 290
POSITIONS = np.arange(SIZE)  # where X is, which another thread's arrays need not be
CASES = {
    "two dense operands": lambda: X + X * 2,
    "one operand": lambda: np.exp(X / 1e4),
    "integers": lambda: np.arange(SIZE) // 7 % 5,
    "a comparison": lambda: X > 3,
    "strided": lambda: X[::-2][:150_000] - X[1::2][:150_000],
    "transposed": lambda: MATRIX.T * 2 + MATRIX.T,
    "rows broadcast": lambda: MATRIX - MATRIX[0],
    "columns broadcast": lambda: MATRIX * MATRIX[:, :1],
    "few long rows": lambda: MATRIX.reshape((2, -1)) + MATRIX.reshape((2, -1))[:1],
    "conversion": lambda: MATRIX.astype("int16"),
    "copy": lambda: MATRIX.T.copy(),
    "half": lambda: np.sin(MATRIX.astype("float16")),
    "clip": lambda: np.clip(X, -50, 50),
    "where": lambda: np.where(X > 0, X, -1),
    "power": lambda: np.abs(X) ** 0.3,
    "dot": lambda: np.dot(X, X),
    "rows reduced": lambda: MATRIX.sum(0),
    "lines reduced": lambda: MATRIX.sum(1),
    "inner axis of three reduced": lambda: MATRIX[:996].reshape((4, 249, 300)).sum(1),
    "integers reduced": lambda: MATRIX.astype("int16").mean(0),
    "variance": lambda: MATRIX.var(1),
    "largest": lambda: MATRIX.max(0),
    "true": lambda: (MATRIX > 5).all(0),
    "all true": lambda: (X < 1e6).all(),
    "the first is not": lambda: (X > X[0]).all(),
    "the last is not": lambda: (X < X[-1]).all(),
    "any at steps": lambda: (X > X[-2])[::-2].any(),
    "none": lambda: np.any(X > 1e6),
    "position in rows": lambda: (MATRIX % 7).argmax(0),
    "position in lines": lambda: (MATRIX % 7).argmin(1),
    "scan of rows": lambda: np.cumsum(MATRIX / 7, 0),
    "scan of lines": lambda: np.cumsum(MATRIX / 7, 1),
    "scan of bytes": lambda: np.cumprod(MATRIX.astype("uint8"), 0),
    "softmax": lambda: mx.npx.softmax(MATRIX / 7),
    "softmax of converted": lambda: mx.npx.log_softmax(MATRIX.astype("int32")),
    "by position": lambda: X[POSITIONS[::-1] // 3 - 5],
    "taken from a view": lambda: np.take(X[::3], POSITIONS // 7),
    "columns": lambda: MATRIX[:, COLUMNS],
    "columns of a view": lambda: np.take(MATRIX[::-1, ::2], COLUMNS // 2, 1),
    "rows by position": lambda: MATRIX[COLUMNS],
    "columns assigned": lambda: assigned(MATRIX[:, ::-1]),
    "columns filled": lambda: assigned(5),
    "filled by position": lambda: filled(X.copy()),
    "filled by position, at steps": lambda: filled(np.zeros(2 * SIZE, dtype="uint8")[::2]),
    "out": lambda: np.sqrt(np.abs(X), out=np.zeros_like(X)),
    "in place": lambda: X.copy().__iadd__(X),
}


def filled(array):
    """With one value at positions that are named more than once."""
    array[POSITIONS[::-1] // 3 - 5] = 7
    return array


def assigned(value):
    """MATRIX, with values in columns that are named once or more often."""
    made = MATRIX.copy()
    made[:, COLUMNS] = value
    return made


@pytest.fixture(autouse=True)
def as_many_as_before():
    before = mx.get_num_threads()
    yield
    mx.set_num_threads(before)


@pytest.mark.parametrize("name", CASES)
def test_results_do_not_depend_on_threads(name):
    results = []
    for count in (1, 2, 5):
        mx.set_num_threads(count)
        results += [CASES[name]().asnumpy() for _ in range(3)]
    for other in results[1:]:
        numpy.testing.assert_array_equal(results[0], other)


def test_two_threads_of_the_program_at_once():
    mx.set_num_threads(3)
    wanted = {name: case().asnumpy() for name, case in CASES.items()}
    wrong = []

    def compute():
        for _ in range(3):
            for name, case in CASES.items():
                if not numpy.array_equal(case().asnumpy(), wanted[name], equal_nan=True):
                    wrong.append(name)

    threads = [threading.Thread(target=compute) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_elements_that_are_written_twice():
    memory = numpy.zeros(400_000)
    overlapping = numpy.lib.stride_tricks.as_strided(memory, (64, 200_000), (8, 8))
    source = numpy.arange(64 * 200_000, dtype="float64").reshape((64, 200_000))
    mx.set_num_threads(4)
    np.add(np.from_dlpack(source), 0.0, out=np.from_dlpack(overlapping))
    numpy.testing.assert_array_equal(memory[63:200_063], source[63])


@pytest.mark.parametrize("masks", [False, True], ids=["indices", "a mask"])
def test_rows_that_share_elements_are_assigned_in_order(masks):
    memory = numpy.zeros(4000, "float32")
    array = np.from_dlpack(numpy.lib.stride_tricks.as_strided(memory, (2000, 1000), (4, 4)))
    expected = numpy.zeros(4000, "float32")
    random = numpy.random.default_rng(3)
    key = random.random(1000) < 0.5 if masks else random.permutation(1000)
    columns = numpy.flatnonzero(key) if masks else key
    values = random.random((2000, len(columns))).astype("float32")
    for i, row in enumerate(values):
        expected[i + columns] = row
    mx.set_num_threads(4)
    for _ in range(20):
        memory[:] = 0
        array[:, np.array(key)] = np.array(values)
        numpy.testing.assert_array_equal(memory, expected)


# In a process of its own: other packages of the tests warn of every fork.
FORK = """
import os
import mx
mx.set_num_threads(2)
x = mx.np.arange(300_007, dtype="float64")
before = mx.np.exp(x / 1e6).tolist()
child = os.fork()
if child == 0:
    os._exit(0 if mx.np.exp(x / 1e6).tolist() == before else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_process_has_threads_of_its_own():
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"


@pytest.mark.parametrize(
    ("count", "error", "said"),
    [
        (0, ValueError, r"mx\.set_num_threads: count has to be 1 to 1024, got 0"),
        (-3, ValueError, "got -3"),
        (1025, ValueError, "got 1025"),
        ("2", TypeError, r"mx\.set_num_threads: .*count"),
        (1.5, TypeError, "count"),
        (None, TypeError, "count"),
    ],
)
def test_a_wrong_count(count, error, said):
    before = mx.get_num_threads()
    with pytest.raises(error, match=said):
        mx.set_num_threads(count)
    assert mx.get_num_threads() == before


@pytest.mark.parametrize(
    ("variable", "count"),
    [("3", 3), ("1", 1), ("99999", 1024), ("0", None), ("many", None), ("-2", None)],
)
def test_the_environment_says_how_many(variable, count):
    done = subprocess.run(
        [sys.executable, "-c", "import mx; print(mx.get_num_threads())"],
        env={**os.environ, "MXNET_NUM_THREADS": variable},
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) == (count or len(os.sched_getaffinity(0)))


# In a process of its own: threads of other tests' packages may be bound to processors, too.
BOUND = """
import os
import mx

def others():
    threads = {int(name) for name in os.listdir("/proc/self/task")} - {os.getpid()}
    return {thread: os.sched_getaffinity(thread) for thread in threads}

allowed = os.sched_getaffinity(0)
before = set(others())
mx.set_num_threads(3)
x = mx.np.arange(300_007, dtype="float64")
for _ in range(3):
    expected = mx.np.exp(x / 1e6).tolist()
    own = [mask for thread, mask in others().items() if thread not in before]
    assert len(own) == 2
    if len(allowed) > 1:
        assert all(mask < allowed and len(allowed - mask) == 1 for mask in own), own
assert os.sched_getaffinity(0) == allowed
os.sched_setaffinity(0, {min(allowed)})
assert mx.np.exp(x / 1e6).tolist() == expected
"""


def test_threads_keep_away_from_the_processor_of_the_caller():
    done = subprocess.run([sys.executable, "-c", BOUND], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
