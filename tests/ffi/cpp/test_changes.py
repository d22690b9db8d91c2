"""ffi.cpp.load_inline of a source that has changed, in the process that has the former loaded."""

import pytest

import ffi
from ffi.cpp import load_inline

from .inline import flags

pytestmark = pytest.mark.usefixtures("cache")


def test_a_changed_source_replaces_what_it_had_registered(c_source):
    module = load_inline("changing", c_source, **flags("changing.f"))
    assert module.f() == 1
    c_source.with_name("value.h").write_text("#define VALUE 2\n")
    changed = load_inline("changing", c_source, **flags("changing.f"))
    assert (changed.f(), module.f(), ffi.get_global_func("changing.f")()) == (2, 1, 2)
    with pytest.raises(ImportError, match="'changing.f' is registered already"):
        load_inline("another", c_source, **flags("changing.f"))


def test_a_source_that_is_changed_back(c_source):
    """As in a notebook: what is registered is what was asked for last."""
    first = load_inline("undone", c_source, **flags("undone.f"))
    c_source.with_name("value.h").write_text("#define VALUE 2\n")
    load_inline("undone", c_source, **flags("undone.f"))
    c_source.with_name("value.h").write_text("#define VALUE 1\n")
    again = load_inline("undone", c_source, **flags("undone.f"))
    assert (again.f(), first.f(), ffi.get_global_func("undone.f")()) == (1, 1, 1)
    assert load_inline("undone", c_source, **flags("undone.f")) is again


CLASS = """
#include <mxnet/runtime/class.h>
struct Counter { int value = START; };
MXNET_REGISTER_CLASS(Counter, "counting.Counter")
    .def_init<>()
    .def_readwrite("value", &Counter::value);
MXNET_REGISTER_API("counting.twice").set_body_typed([](Counter& counter) {
  return Counter{2 * counter.value};
});
"""


@pytest.mark.parametrize("asked_before", [True, False])
def test_a_changed_class_replaces_the_former_one(asked_before):
    """The Module of the former keeps its own, which its functions take and return."""
    name, start = f"counting{asked_before}", 10 * asked_before
    source = CLASS.replace("counting.", name + ".")
    former = load_inline(name, source, extra_cflags=[f"-DSTART={start + 1}", "-O0"])
    if asked_before:
        assert former.Counter is ffi.get_class(f"{name}.Counter")
    changed = load_inline(name, source, extra_cflags=[f"-DSTART={start + 2}", "-O0"])
    assert ffi.get_class(f"{name}.Counter") is changed.Counter is not former.Counter
    for module, first in ((former, start + 1), (changed, start + 2)):
        counter = module.twice(module.Counter())
        assert type(counter) is module.Counter is module[f"{name}.Counter"]
        assert counter.value == 2 * first


def test_a_class_of_python_replaces_the_one_registered_last():
    load = lambda start: load_inline("taken", source, extra_cflags=[f"-DSTART={start}"])  # noqa: E731
    source = CLASS.replace("counting.", "taken.")
    former = load(20)
    kept = former.Counter
    changed = load(21)

    @ffi.register_class("taken.Counter")
    class Counter(ffi.Object):
        pass

    assert changed.Counter is changed["taken.Counter"] is type(changed.twice(Counter())) is Counter
    assert former.Counter is former["taken.Counter"] is kept


ENUM = """
#include <mxnet/runtime/enum.h>
enum class Mode { kFirst = 1, kSecond = SECOND };
MXNET_REGISTER_ENUM(Mode, "modal.Mode").value("FIRST", Mode::kFirst).value(NAME, Mode::kSecond);
MXNET_REGISTER_API("modal.second").set_body_typed([](Mode mode) { return Mode::kSecond; });
"""


def load_enum(library, name, second, more="", prefix=None):
    source = ENUM.replace("modal.", f"{prefix or library}.")
    flags = [f'-DNAME="{name}"', f"-DSECOND={second}", "-O0"]
    return load_inline(library, source + more, extra_cflags=flags)


def test_a_changed_enum_replaces_the_former_one():
    former = load_enum("modal", "SECOND", 2)
    kept = former.Mode
    assert former.second(kept.FIRST) is kept.SECOND
    changed = load_enum("modal", "OTHER", 3)
    assert [member.name for member in changed.Mode] == ["FIRST", "OTHER"]
    assert ffi.get_enum("modal.Mode") is changed.Mode is former.Mode is not kept
    assert changed.second("FIRST") is changed.Mode.OTHER
    # A member from before counts by its value.
    assert changed.second(kept.FIRST) is changed.Mode.OTHER
    with pytest.raises(ValueError, match="modal.Mode has no member with the value 2"):
        changed.second(kept.SECOND)


def test_an_enum_of_another_library_stays():
    load_enum("modal_one", "SECOND", 2)
    with pytest.raises(ImportError, match="enum 'modal_one.Mode' is registered already.*load_inl"):
        load_enum("modal_two", "SECOND", 2, prefix="modal_one")


def test_an_enum_comes_back_where_a_changed_library_fails():
    load_enum("restored", "SECOND", 4)
    fails = 'MXNET_REGISTER_API("testing.nop").set_body_typed([] {});'
    with pytest.raises(ImportError, match="'testing.nop' is registered already"):
        load_enum("restored", "LOST", 5, fails)
    assert [member.name for member in ffi.get_enum("restored.Mode")] == ["FIRST", "SECOND"]
