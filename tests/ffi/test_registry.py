"""The global registry: names, overriding, removing, and modules made of it."""

import pickle
import sys
import threading
import time
from types import ModuleType

import pytest

import ffi
from ffi import registry


def one():
    return 1


def two():
    return 2


@pytest.mark.parametrize(
    ("take", "name"),
    [
        (lambda: ffi.register_func("tests.taken", one), "tests.taken"),
        (lambda: ffi.register_func("tests.taken")(one), "tests.taken"),
        (lambda: ffi.register_func("tests.taken", override=True)(one), "tests.taken"),
        (lambda: ffi.register_func(one), "one"),
        (lambda: ffi.register_func()(one), "one"),
        (lambda: ffi.register_func("tests.ünï", one), "tests.ünï"),
    ],
    ids=["call", "decorator", "override", "bare decorator", "empty decorator", "not ASCII"],
)
def test_registering(take, name):
    assert take() is one
    assert ffi.get_global_func(name)() == 1
    assert ffi.get_global_func(name).name == name
    assert name in ffi.list_global_func_names()
    ffi.remove_global_func(name)
    assert name not in ffi.list_global_func_names()
    assert ffi.get_global_func(name, allow_missing=True) is None


def test_registering_a_function_of_the_registry(register):
    nop = ffi.get_global_func("testing.nop")
    assert register("tests.nop", nop) == nop


def test_taken_name(register):
    register("tests.taken", one)
    with pytest.raises(ValueError, match="'tests.taken' is registered already"):
        ffi.register_func("tests.taken", two)
    assert ffi.get_global_func("tests.taken")() == 1


def test_override(register):
    before = register("tests.taken", one)
    after = register("tests.taken", two, override=True)
    assert (before(), after(), ffi.get_global_func("tests.taken")()) == (1, 2, 2)


def test_removed_function_still_works(register):
    function = register("tests.gone", one)
    ffi.remove_global_func("tests.gone")
    assert function() == 1
    with pytest.raises(KeyError, match="no function is registered as 'tests.gone'"):
        ffi.remove_global_func("tests.gone")


@pytest.mark.parametrize(
    "change",
    [
        lambda: ffi.remove_global_func("tests.changes"),
        lambda: ffi.register_func("tests.changes", two, override=True),
    ],
    ids=["removed", "overridden"],
)
def test_function_that_goes_while_it_is_called(change):
    def changes(value):
        change()
        return [value, "still here"]

    ffi.register_func("tests.changes", changes)
    del changes
    assert list(ffi.get_global_func("tests.changes")("text")) == ["text", "still here"]
    if ffi.get_global_func("tests.changes", allow_missing=True) is not None:
        ffi.remove_global_func("tests.changes")


def test_names_are_sorted(register):
    register("tests.b", one)
    register("tests.a", one)
    names = ffi.list_global_func_names()
    assert names == sorted(names)
    assert {"testing.nop", "ffi.echo", "tests.a", "tests.b"} <= set(names)


@pytest.fixture
def module():
    made = ModuleType("tests_made_module")
    sys.modules[made.__name__] = made
    yield made
    del sys.modules[made.__name__]


def test_module_of_a_prefix(module, register):
    register("tests_prefix.one", one)
    register("tests_prefix.deeper.two", two)
    register("tests_prefixed", two)
    ffi._init_api("tests_prefix", module.__name__)
    assert module.one() == 1
    assert [name for name in vars(module) if not name.startswith("__")] == ["one"]


def test_module_gets_what_is_registered_later(module, register):
    ffi._init_api("tests_prefix", module.__name__)
    assert not hasattr(module, "later")
    register("tests_prefix.later", two)
    register("tests_prefix.deeper.two", two)
    assert module.later() == 2 and not hasattr(module, "two")
    ffi.register_func("tests_prefix.later", one, override=True)
    assert module.later() == 1
    ffi.register_func("tests_prefix.gone", one)
    ffi.remove_global_func("tests_prefix.gone")
    assert not hasattr(module, "gone")
    assert "__getattr__" not in vars(module)


def test_module_keeps_what_it_has_from_elsewhere(module, register):
    """Dunders, what was there before, and what replaced a function."""
    module.own, module.nop = "own", ffi.get_global_func("testing.nop")
    register("tests_prefix.replaced", one)
    ffi._init_api("tests_prefix", module.__name__)
    module.replaced = kept = ffi.get_global_func("ffi.echo")
    before = dict(vars(module))
    for name in ("own", "nop", "__name__", "__doc__", "replaced"):
        ffi.register_func(f"tests_prefix.{name}", two, override=True)
    assert vars(module) == before
    for name in ("own", "nop", "__name__", "__doc__"):
        ffi.remove_global_func(f"tests_prefix.{name}")
    assert vars(module) == before and module.replaced is kept


def test_module_misses_nothing_that_is_registered_meanwhile(module, register, monkeypatch):
    """Between the listing of names and the watching for others."""
    listed = registry.core.list_global_names

    def slow():
        names = listed()
        register("tests_prefix.meanwhile", one)
        return names

    monkeypatch.setattr(registry.core, "list_global_names", slow)
    ffi._init_api("tests_prefix", module.__name__)
    assert module.meanwhile() == 1


def test_module_has_the_last_of_what_threads_register(module, register, monkeypatch):
    """A thread that has found its function and is slow to put it there overwrites none newer."""
    found, waiting = registry.core.get_global, threading.Event()
    ffi._init_api("tests_prefix", module.__name__)

    def slow(name):
        function = found(name)
        if threading.current_thread() is other and not waiting.is_set():
            waiting.set()
            time.sleep(0.05)
        return function

    monkeypatch.setattr(registry.core, "get_global", slow)
    other = threading.Thread(target=register, args=("tests_prefix.raced", one))
    other.start()
    assert waiting.wait(60)
    ffi.register_func("tests_prefix.raced", two, override=True)
    other.join()
    assert module.raced() == 2


def test_module_that_is_not_imported_yet(tmp_path, monkeypatch, register):
    (tmp_path / "tests_unimported_module.py").write_text("present = True\n")
    monkeypatch.syspath_prepend(tmp_path)
    register("tests_prefix.one", one)
    ffi._init_api("tests_prefix", "tests_unimported_module")
    module = sys.modules.pop("tests_unimported_module")
    assert module.present and module.one() == 1


def test_a_registered_function_is_pickled_by_name():
    nop = ffi.get_global_func("testing.nop")
    assert pickle.loads(pickle.dumps(nop)).same_as(nop)
    with pytest.raises(TypeError, match="not registered under its name"):
        pickle.dumps(ffi.convert(lambda: None))
