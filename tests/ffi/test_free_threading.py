"""Everything at once from many threads, over objects that they share.

Under the GIL threads take turns between steps of Python; without it the same work overlaps
everywhere, so these tests find more there.
"""

import sys
import sysconfig
import threading
import time

import numpy
import pytest

import ffi
from tests.ffi.values import VALUES

THREADS = 6
SECONDS = 0.4

IS_FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


@pytest.fixture(autouse=True)
def frequent_switches():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def run_together(*steps):
    """Runs every step again and again, each in threads of its own, all at once.

    A step is a function of the number of the round; what the first of them raises ends the test.
    """
    count = max(THREADS, len(steps))
    start, end, failures = threading.Barrier(count), threading.Event(), []

    def repeat(step):
        start.wait()
        until, round_number = time.monotonic() + SECONDS, 0
        try:
            while time.monotonic() < until and not end.is_set():
                step(round_number)
                round_number += 1
        except BaseException as error:
            failures.append(error)
            end.set()

    threads = [threading.Thread(target=repeat, args=(steps[i % len(steps)],)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


@pytest.mark.skipif(not IS_FREE_THREADED or sys.version_info < (3, 14), reason="has a GIL")
def test_importing_leaves_the_gil_off(run_python):
    script = "import sys, ffi, mx; sys.exit(sys._is_gil_enabled())"
    assert run_python(script, PYTHON_GIL=None).returncode == 0


def test_values_of_every_kind(api, echo):
    made = [value.make(api) for value in VALUES.values()]
    expected = [type(echo(value)) for value in made]

    def cross(number):
        index = number % len(made)
        assert type(echo(made[index])) is expected[index]

    run_together(cross)


OBJECTS = {
    "array": lambda api: api.from_dlpack(numpy.ones(3)),
    "container": lambda api: ffi.Array([1]),
    "instance": lambda api: ffi.get_class("testing.Counter")(1),
    "callback": lambda api: api.convert_function(lambda: None),
}
each_object = pytest.mark.parametrize("make", OBJECTS.values(), ids=OBJECTS.keys())


@each_object
def test_one_wrapper_that_comes_and_goes(make, api, echo):
    """Threads that find an object without a wrapper, with one, or with one just going."""
    kept = ffi.Array([make(api)])
    handle = kept[0].handle

    def hold(number):
        first, second = kept[0], echo((kept[0],))[0]
        assert first is second and first.handle == handle

    def drop(number):
        assert kept[0].handle == handle

    run_together(hold, drop)


@each_object
def test_a_wrapper_dropped_by_another_thread(make, api, echo):
    slots = [make(api) for _ in range(4)]

    def swap(number):
        slots[number % 4] = echo(slots[(number + 1) % 4])

    def replace(number):
        slots[number % 4] = make(api)

    run_together(swap, replace)


def test_lists_and_dicts_that_change_while_they_cross(echo):
    items, entries = [[1], "text"], {"key": [1]}

    def cross(number):
        for item in echo(items):
            assert item == "text" or item[0] == 1
        for key, value in echo(entries).items():
            assert key[:3] == "key" and value[0] == 1

    def grow(number):
        items.append([1])
        entries[f"key {number % 50}"] = [1]

    def shrink(number):
        if len(items) > 50:
            items.clear()
        try:
            entries.popitem()
        except KeyError:
            pass  # another thread was faster

    run_together(cross, grow, shrink)


def test_a_list(api):
    shared = ffi.List([[0]])

    def change(number):
        shared.append([number])
        shared.insert(0, f"text {number}")
        shared[-1] = (number,)
        if len(shared) > 40:
            del shared[10:]

    def read(number):
        for item in shared:
            assert item[0] == "t" or item[0] >= 0
        assert len(shared.to_list()) <= 200
        assert len(list(shared[2:5])) <= 3
        try:
            assert shared[1] is not None
        except IndexError:
            pass  # it has become shorter

    def change_or_not(number):
        try:
            change(number)
        except IndexError:
            pass  # it has become shorter

    run_together(change_or_not, read)


def test_a_dict(api):
    shared = ffi.Dict({"a": [1]})

    def change(number):
        shared[f"key {number % 20}"] = [number]
        try:
            del shared[f"key {(number + 7) % 20}"]
        except (KeyError, IndexError):
            pass  # another thread was faster

    def read(number):
        assert shared["a"][0] == 1
        assert shared.get(f"key {number % 20}", [0])[0] >= 0
        try:
            for key, value in shared.items():
                assert key[0] in "ka" and value[0] >= 0
            assert "a" in shared.to_dict()
        except RuntimeError as error:
            assert "changed size during iteration" in str(error)

    run_together(change, read)


def test_the_registry(register):
    def add(number):
        ffi.register_func(f"tests.many_{number % 8}", lambda: "value", override=True)

    def find(number):
        found = ffi.get_global_func(f"tests.many_{number % 8}", allow_missing=True)
        assert found is None or (found() == "value" and found.name.startswith("tests.many_"))

    def remove(number):
        try:
            ffi.remove_global_func(f"tests.many_{number % 8}")
        except KeyError:
            pass  # another thread was faster

    def names(number):
        listed = ffi.list_global_func_names()
        assert listed == sorted(listed)

    run_together(add, find, remove, names)
    for number in range(8):
        register(f"tests.many_{number}", lambda: None, override=True)


def test_attributes_of_a_function(api):
    function = api.convert_function(lambda: None, "tests.named")

    def write(number):
        function.__name__ = f"name {number}"
        function.__module__ = "module"

    def read(number):
        assert function.__name__.startswith("name")
        assert function.__module__ in ("ffi", "module")
        assert function.front_end().same_as(function)
        assert repr(function) == "<ffi.Function tests.named>"

    run_together(write, read)


def test_callbacks_and_errors(call):
    class Rejected(ValueError):
        pass

    def fail(number):
        raise Rejected(number)

    throw = ffi.get_global_func("testing.throw_error")

    def raise_own(number):
        with pytest.raises(Rejected) as caught:
            call(fail, number)
        assert caught.value.args == (number,)

    def raise_from_cpp(number):
        kind = ("ValueError", "IndexError", "Unknown", "tests.Error")[number % 4]
        with pytest.raises((ValueError, IndexError, RuntimeError)) as caught:
            throw(kind, f"text {number}")
        assert f"text {number}" in str(caught.value)

    classes = [type("TestsError", (ValueError,), {}) for _ in range(4)]

    def name_errors(number):
        ffi.register_error("tests.Error", classes[number % 4])

    run_together(raise_own, raise_from_cpp, name_errors)


def test_types_that_come_go_and_change(echo):
    """Addresses of types are used again, and a type is converted by another rule from now on."""

    class Changing:
        def __ffi_convert__(self):
            return 1

    def convert_new(number):
        made = type("New", (), {"__ffi_convert__": lambda self: number})
        assert echo(made()) == number

    def convert_callable(number):
        made = type("Callable", (), {"__call__": lambda self: number})
        assert echo(made())() == number

    def convert_changing(number):
        assert echo(Changing()) in (1, 2, 3)

    def change(number):
        Changing.__ffi_convert__ = (lambda self: 2) if number % 2 else (lambda self: 3)

    def register(number):
        cls = type("Registered", (), {})
        ffi.register_converter(cls, lambda value: number)
        assert echo(cls()) == number

    def dtypes(number):
        assert echo(numpy.float32) == numpy.dtype("float32")
        assert echo(numpy.dtype("int8")) == numpy.dtype("int8")
        assert echo(numpy.int16(number % 100)) == number % 100

    run_together(convert_new, convert_callable, convert_changing, change, register, dtypes)


def test_fields():
    node = ffi.get_class("testing.NamedCounter")(1)
    texts = [f"a text of a length that has memory of its own: {i}" * (i + 1) for i in range(4)]
    node.name = texts[0]

    def write(number):
        node.name = texts[number % 4]

    def read(number):
        assert node.name in texts
        assert "name" in repr(node)

    run_together(write, read)


CLASSES = """
import threading
import ffi

start = threading.Barrier(8)
found = []

def find(key):
    start.wait()
    cls = ffi.get_class(key)
    made = cls(1)
    assert type(ffi.get_global_func("ffi.echo")([made])[0]) is cls
    found.append((key, cls))

def register():
    start.wait()
    class Account(ffi.get_class("testing.Account")):
        pass
    ffi.register_class("testing.Account")(Account)

threads = [threading.Thread(target=find, args=(key,))
           for key in ("testing.Counter", "testing.NamedCounter") for _ in range(3)]
threads += [threading.Thread(target=register) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(found) == 6 and len(set(found)) == 2, found
assert issubclass(ffi.get_class("testing.NamedCounter"), ffi.get_class("testing.Counter"))
"""


def test_classes_appear_in_several_threads(run_python):
    for _ in range(4):
        ran = run_python(CLASSES)
        assert ran.returncode == 0, ran.stderr


def test_tensors_handed_over(api):
    array = api.from_dlpack(numpy.arange(4.0))
    shared = [numpy.from_dlpack(array)]

    def export(number):
        shared[0] = numpy.from_dlpack(array)
        array.__dlpack__(max_version=(1, 0))

    def read(number):
        assert shared[0][2] == 2
        assert api.from_dlpack(shared[0]).shape == (4,)

    run_together(export, read)
