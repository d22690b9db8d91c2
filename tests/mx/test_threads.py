"""Arrays used from several threads."""

import threading

import numpy as np

import mx


def run_in_threads(work, count=8):
    """Runs work(i) in threads that start together; the first exception is raised here."""
    barrier, failures = threading.Barrier(count), []

    def target(number):
        barrier.wait()
        try:
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=target, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def test_each_thread_computes_its_own():
    results = {}

    def work(number):
        total = mx.np.zeros((16, 16))
        for _ in range(200):
            total += mx.np.full((16, 16), number)
            total = total.reshape(-1).reshape(16, 16)
        results[number] = total

    run_in_threads(work)
    for number, total in results.items():
        np.testing.assert_array_equal(total.asnumpy(), np.full((16, 16), 200 * number))


def test_arrays_are_freed_by_other_threads():
    arrays = [[mx.np.full((n % 50,), n) for n in range(500)] for _ in range(8)]

    def work(number):
        mine = arrays[(number + 1) % 8]
        while mine:
            array = mine.pop()
            assert not array.size or array[0].item() == array.asnumpy()[-1]

    run_in_threads(work)
    assert not any(arrays)


def test_large_operators_run_side_by_side():
    left = np.random.default_rng(0).standard_normal((200, 200))
    expected = left @ left

    def work(number):
        for _ in range(3):
            np.testing.assert_allclose(mx.np.matmul(left, left).asnumpy(), expected)
            np.testing.assert_array_equal(mx.np.add(left, number).asnumpy(), left + number)

    run_in_threads(work)


def test_errors_stay_in_their_thread():
    def work(number):
        for _ in range(200):
            try:
                mx.np.zeros((2, -number - 1))
            except ValueError as error:
                assert str(-number - 1) in str(error)
            else:
                raise AssertionError("no error")

    run_in_threads(work)
