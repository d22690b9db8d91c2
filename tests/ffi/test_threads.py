"""Calls, callbacks and registration from several threads, and from threads Python did not start."""

import ctypes
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy
import pytest

import ffi
from tests.native import LIB

THREADS = 4
ROUNDS = 300


@pytest.fixture(autouse=True)
def frequent_switches():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def in_threads(work):
    """Runs work(number) in several threads at once; raises what any of them raises."""
    start = threading.Barrier(THREADS)

    def run(number):
        start.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


def test_registry():
    """Names come and go in all threads; a look-up finds a function that works, or nothing."""

    def work(number):
        wrong = []
        for i in range(ROUNDS):
            name = f"tests.shared_{i % 3}"
            ffi.register_func(name, lambda: "value", override=True)
            ffi.register_func(f"tests.own_{number}", lambda i=i: i, override=True)
            found = ffi.get_global_func(name, allow_missing=True)
            if found is not None and found() != "value":
                wrong.append(name)
            if ffi.get_global_func(f"tests.own_{number}")() != i:
                wrong.append(i)
            names = ffi.list_global_func_names()
            if names != sorted(names):
                wrong.append("order")
            try:
                ffi.remove_global_func(name)
            except KeyError:
                pass  # another thread was quicker
        ffi.remove_global_func(f"tests.own_{number}")
        return wrong

    assert in_threads(work) == [[]] * THREADS
    assert not [name for name in ffi.list_global_func_names() if name.startswith("tests.shared")]


def test_a_name_goes_to_one_thread():
    def work(number):
        try:
            ffi.register_func("tests.contended", lambda: number)
        except ValueError:
            return None
        return number

    for _ in range(20):
        winners = [number for number in in_threads(work) if number is not None]
        assert winners == [ffi.get_global_func("tests.contended")()]
        ffi.remove_global_func("tests.contended")


def test_calls(echo, call):
    def work(number):
        value = (number, f"text {number}", [number], {"k": number})
        for _ in range(ROUNDS):
            assert echo(value)[:2] == value[:2]
            assert call(lambda x: x * 2, number) == number * 2
            assert numpy.asarray(echo(numpy.full(3, number)))[1] == number

    in_threads(work)


def test_errors_stay_in_their_thread(call):
    throw = ffi.get_global_func("testing.throw_error")

    def work(number):
        def fail():
            raise KeyError(number)

        for i in range(ROUNDS):
            with pytest.raises(IndexError) as caught:
                throw("IndexError", f"{number}:{i}")
            assert str(caught.value) == f"{number}:{i}"
            with pytest.raises(KeyError) as caught:
                call(fail)
            assert caught.value.args == (number,)

    in_threads(work)


def test_keywords_are_resolved_once_for_all():
    def work(number):
        function = ffi.get_global_func("testing.keywords")
        return [function(number, d=i) for i in range(ROUNDS)]

    for number, results in enumerate(in_threads(work)):
        assert results == [(number, 2, 3, i) for i in range(ROUNDS)]


def run_in_foreign_thread(function):
    """Runs a C function pointer's callable in a thread that Python did not start."""
    posix = ctypes.CDLL(None)
    start = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(function)
    thread = ctypes.c_ulong()
    assert posix.pthread_create(ctypes.byref(thread), None, start, None) == 0
    assert posix.pthread_join(thread, None) == 0


def test_foreign_thread(echo, call):
    results = []

    def body(_):
        results.append(threading.current_thread() is not threading.main_thread())
        results.append(echo("text"))
        results.append(call(lambda x: x + 1, 1))
        try:
            ffi.get_global_func("testing.throw_error")("ValueError", "m")
        except ValueError as error:
            results.append(str(error))

    run_in_foreign_thread(body)
    assert results == [True, "text", 2, "m"]


def test_last_reference_goes_in_a_foreign_thread(echo):
    """Whoever drops an object, what it held of Python's is released."""
    import weakref

    class Held:
        def __call__(self):
            return None

    function = Held()
    alive = weakref.ref(function)
    held = [echo([function])]
    del function
    run_in_foreign_thread(lambda _: held.clear())
    assert alive() is None


def test_error_that_ends_with_its_thread(call):
    """The last error of a thread that ends is released with what it refers to."""

    def fail():
        raise ValueError("text")

    for _ in range(50):
        run_in_foreign_thread(lambda _: pytest.raises(ValueError, call, fail) and None)


def test_other_threads_run_during_a_callback(call):
    ran = threading.Event()
    thread = threading.Thread(target=ran.set)

    def wait():
        thread.start()
        return ran.wait(timeout=60)

    assert call(wait) is True
    thread.join()


CLOSED = """
import _ctypes, ctypes, threading
runtime = ctypes.CDLL({library!r})
runtime.MXNetGetLastError.restype = ctypes.c_void_p
used, closed = threading.Event(), threading.Event()
def use():
    runtime.MXNetGetLastError()
    used.set()
    closed.wait()
thread = threading.Thread(target=use)
thread.start()
used.wait()
_ctypes.dlclose(runtime._handle)
closed.set()
thread.join()
print("over")
"""


def test_a_thread_may_end_after_the_library_is_closed(run_python):
    done = run_python(CLOSED.format(library=str(LIB / "libmxnet_runtime.so")))
    assert (done.returncode, done.stdout) == (0, "over\n"), done.stderr
