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


CLASS = """
#include <mxnet/runtime/class.h>
struct Counter { int value = START; };
MXNET_REGISTER_CLASS(Counter, "counting.Counter")
    .def_init<>()
    .def_readwrite("value", &Counter::value);
"""


def test_a_changed_class_replaces_the_former_one():
    former, changed = (
        load_inline("counting", CLASS, extra_cflags=[f"-DSTART={start}", "-O0"]) for start in (1, 2)
    )
    kept = ffi.get_class("counting.Counter")()
    assert (former.Counter().value, changed.Counter().value, kept.value) == (2, 2, 2)
    assert former is not changed


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
    assert ffi.get_enum("modal.Mode") is changed.Mode is not kept
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
