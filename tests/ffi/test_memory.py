"""Nothing leaks: every kind of value in every position, every error, every way to call."""

import ctypes
import sys
import threading

import pytest

import ffi
from ffi._ctypes import abi

from .growth import LIMITS, SANITIZED, WHY_NOT
from .rejections import REJECTIONS
from .values import VALUES, Converts, DoNothing

pytestmark = pytest.mark.skipif(SANITIZED, reason=WHY_NOT)

Counter = ffi.get_class("testing.Counter")
Node = ffi.get_class("testing.Node")
Mode = ffi.get_enum("testing.Mode")

echo = ffi.get_global_func("ffi.echo")
call = ffi.get_global_func("ffi.call")
keywords = ffi.get_global_func("testing.keywords")
overloaded = ffi.get_global_func("testing.overloaded")
each_value = pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())


def default(value):
    ffi.register_func("tests.default", lambda x=value: x, override=True)
    ffi.get_global_func("tests.default")()
    ffi.remove_global_func("tests.default")


def as_key(value):
    try:
        hash(value)
    except TypeError:
        return
    echo({value: 1})
    ffi.Dict({value: 1}).pop(value, None)


def field(value):
    node = Node(value)
    node.value = node.value


def element(value):
    items = ffi.List([value])
    items[0] = items[0] if isinstance(items[0], (tuple, str)) else value
    items.append(value)
    items.pop()


def kept_callback(value):
    function = ffi.convert(lambda *args: value)
    holder = ffi.Array([function])
    holder[0](value)


POSITIONS = {
    "argument and result": echo,
    "by name": lambda value: keywords(1, d=value),
    "variadic": lambda value: echo(1, value, value),
    "in a tuple": lambda value: echo((1, value)),
    "in a list": lambda value: echo([value, "text"]),
    "in a dict": lambda value: echo({"key": value}),
    "key": as_key,
    "in an Array": lambda value: ffi.Array([value])[0],
    "in a List": element,
    "in a Map": lambda value: list(ffi.Map({"key": value}).items()),
    "in a Dict": lambda value: ffi.Dict(key=value).update(key=value, more=value),
    "field": field,
    "default": default,
    "argument of a callback": lambda value: call(lambda x: None, value),
    "through a callback": lambda value: call(lambda x: x, value),
    "result of a callback": lambda value: call(lambda: value),
    "in a kept callback": kept_callback,
    "of __ffi_convert__": lambda value: echo(Converts(value)),
}


def shallow(name):
    return "64 " not in name


def everywhere(value, positions):
    """An action that puts a value in many positions; what one of them rejects is no leak either."""

    def action():
        for position in positions:
            try:
                position(value)
            except (ValueError, TypeError):
                pass

    return action


@pytest.mark.parametrize(("name", "value"), VALUES.items(), ids=VALUES.keys())
def test_every_value_in_every_position(name, value, api, assert_flat):
    made = value.make(api)
    positions = list(POSITIONS.values()) if shallow(name) else [echo]
    assert_flat(everywhere(made, positions), [made])


@pytest.mark.parametrize("rejection", REJECTIONS.values(), ids=REJECTIONS.keys())
def test_rejections(rejection, api, register, assert_flat):
    register("tests.undescribed", lambda *args, **kwargs: None)

    def action():
        try:
            rejection.call(api)
        except rejection.cls:
            pass

    assert_flat(action)


def expecting(cls, action, *args, **kwargs):
    def run():
        try:
            action(*args, **kwargs)
        except cls:
            return
        raise AssertionError("it does not raise")

    return run


def raises(error):
    def callback(*args):
        raise error("text")

    return callback


class OfOurOwn(Exception):
    pass


class MoreThanText(Exception):
    def __init__(self, text, more=None):
        super().__init__(text)
        self.more = more


ffi.register_error("tests.OfOurOwn", OfOurOwn)
KINDS = {
    "TypeError": TypeError,
    "ValueError": ValueError,
    "KeyError": KeyError,
    "IndexError": IndexError,
    "OverflowError": OverflowError,
    "AttributeError": AttributeError,
    "RuntimeError": RuntimeError,
    "NotImplementedError": NotImplementedError,
    "OSError": OSError,
    "MemoryError": MemoryError,
    "StopIteration": StopIteration,
    "UnicodeDecodeError": RuntimeError,
    "UnknownKind": RuntimeError,
    "tests.OfOurOwn": OfOurOwn,
}
FROM_CPP = {
    f"{way} {kind}": expecting(Exception, ffi.get_global_func(f"testing.{way}_error"), kind, "text")
    for way in ("throw", "return")
    for kind in KINDS
}
FROM_PYTHON = {
    f"from a callback: {cls.__name__}": expecting(cls, call, raises(cls), "argument")
    for cls in (*dict.fromkeys(KINDS.values()), MoreThanText)
}


def through_levels(error):
    """An exception that passes C++ three times."""
    return expecting(error, call, call, call, raises(error), ["argument"])


class FailsToConvert:
    def __ffi_convert__(self):
        raise OSError("not now")


def caught_inside():
    def callback():
        expecting(ValueError, call, raises(ValueError))()
        return "value"

    call(callback)


def raised_from_another():
    def callback():
        try:
            call(raises(KeyError))
        except KeyError as error:
            raise OfOurOwn("text") from error

    expecting(OfOurOwn, call, callback)()


ERRORS = {
    **FROM_CPP,
    **FROM_PYTHON,
    "through three levels": through_levels(ValueError),
    "through three levels, our own": through_levels(MoreThanText),
    "of __ffi_convert__": expecting(OSError, echo, [FailsToConvert()]),
    "of __ffi_convert__ in a callback": expecting(OSError, call, lambda: FailsToConvert()),
    "result of a callback": expecting(TypeError, call, lambda: [1, {2}]),
    "caught inside": caught_inside,
    "raised from another": raised_from_another,
    "shown": lambda: [str(expecting(KeyError, call, raises(KeyError))()) for _ in "a"],
    "method": expecting(TypeError, Counter(1).add, "x"),
    "init": expecting(TypeError, Counter, "x"),
    "field": expecting(TypeError, lambda counter: setattr(counter, "value", "x"), Counter()),
    "enum": expecting(ValueError, ffi.get_global_func("testing.mode"), "no member"),
    "overload": expecting(TypeError, overloaded, object()),
    "missing": expecting(TypeError, keywords),
    "unknown function": expecting(KeyError, ffi.get_global_func, "tests.unknown"),
    "List": expecting(TypeError, ffi.List().append, object()),
    "Dict": expecting(KeyError, lambda: ffi.Dict(a=1)["b"]),
    "Dict's key": expecting(TypeError, lambda: ffi.Dict(a=1)[[]]),
}


@pytest.mark.parametrize("action", ERRORS.values(), ids=ERRORS.keys())
def test_errors(action, assert_flat):
    assert_flat(action)


def register_and_remove():
    ffi.register_func("tests.comes_and_goes", lambda x, y=1: x)
    ffi.remove_global_func("tests.comes_and_goes")


def override():
    ffi.register_func("tests.stays", lambda: None, override=True)


def share_an_array():
    array = ffi.convert(VALUES["array: steps"].make(None))
    ffi.from_dlpack(array)
    array.__dlpack__()
    array.__dlpack__(max_version=(1, 0), copy=True)


def describe():
    function = keywords.front_end()
    assert function.__doc__ and function.__signature__ and function.info


def nested_callbacks():
    call(lambda x: call(lambda y: call(lambda z: [x, y, z], "inner"), [x]), ("outer", 1.5))


def stored_callback():
    holder = ffi.List([ffi.convert(lambda x: x)])
    holder.append(lambda: holder)
    holder[0]("text")
    holder.clear()


def callback_on_another_thread():
    thread = threading.Thread(target=call, args=(lambda x: x, [1, "a"]))
    thread.start()
    thread.join()


def objects():
    counter = Counter(3, name="text")
    counter.add(by=2)
    counter.add_all(1, 2, 3)
    counter.name = counter.name + "x"
    assert counter == Counter(8) or repr(counter)
    Node(counter, Node(counter)).next.value.step = 2


class Derived(Counter):
    def __init__(self):
        super().__init__(1)
        self.extra = [self.value]


def traced():
    with ffi.trace() as trace:
        call(lambda x: x, [1, "a"])
    assert len(trace.calls)


def instances(count):
    """Of as many classes."""
    return [type(f"Class{i}", (DoNothing,), {})() for i in range(count)]


sizes = iter(range(10**9))
# More than the look-up of a class remembers.
of_many_classes = instances(300)
ACTIONS = {
    "keywords": lambda: keywords(1, d="text"),
    "all keywords": lambda: keywords(a=1, b=2, c=3, d=[1, "a"]),
    "keyword-only": lambda: ffi.get_global_func("testing.keywords_nop")(1, c=3),
    "variadic": lambda: ffi.get_global_func("testing.total")(1, 2, 3),
    "overload": lambda: [overloaded(x) for x in (1, "a")],
    "overload by name": expecting(TypeError, overloaded, unknown="a"),
    "enum": lambda: ffi.get_global_func("testing.mode")(Mode.SLOW),
    "enum by name": lambda: ffi.get_global_func("testing.mode")("SLOW"),
    "enums": lambda: list(ffi.get_global_func("testing.modes")(["FAST", 2, Mode.SLOW])),
    "objects": objects,
    "derived": Derived,
    "register and remove": register_and_remove,
    "override": override,
    "share an array": share_an_array,
    "describe": describe,
    "convert": lambda: ffi.convert([lambda: None, {"a": (1, 2.5)}, b"b"]),
    "call with arguments": lambda: call(lambda *args: args, "a", [1], {"k": (2, "b")}, 1.5),
    "nested callbacks": nested_callbacks,
    "stored callback": stored_callback,
    "callback on another thread": callback_on_another_thread,
    "traced": traced,
    "list names": ffi.list_global_func_names,
    "get": lambda: ffi.get_global_func("testing.nop"),
    "many classes": lambda: [echo(instance) for instance in of_many_classes],
    # What is remembered about a size must not be remembered for every size.
    "lists of every length": lambda: echo([None] * (next(sizes) % 500)),
}


@pytest.mark.parametrize("action", ACTIONS.values(), ids=ACTIONS.keys())
def test_actions(action, assert_flat):
    assert_flat(action)


REPLACE_WITHOUT_MEMORY = """
import resource
import ffi
size = 1 << 20
items = ffi.List(range(size))
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (8 << 20),) * 2)
try:
    items[:1] = ["a", "b"]
except MemoryError as error:
    print(error)
print(len(items) == size, items[0], items[size - 1] == size - 1)
"""


def test_a_list_stays_as_it_was_where_there_is_no_memory(run_python):
    done = run_python(REPLACE_WITHOUT_MEMORY)
    assert (done.stdout, done.stderr) == ("out of memory\nTrue 0 True\n", "")


def test_loading_the_same_library(native, assert_flat):
    assert_flat(lambda: ffi.load_library(native.path))


TEXT = "text of ours"
LEAKS = {
    "a reference to an argument": ("references", lambda kept: incref(TEXT)),
    "a reference to a class": ("references", lambda kept: incref(Counter)),
    "an object of Python": ("blocks", lambda kept: kept.append(object())),
    "an object of C++": ("bytes", lambda kept: leak_object()),
}


def incref(value):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(value))


def leak_object():
    made = ffi.Array(["text"])
    abi.lib.MXNetObjectRetain(ctypes.c_void_p(made.handle))


@pytest.mark.parametrize(("name", "leak"), LEAKS.values(), ids=LEAKS.keys())
def test_the_judge_sees_a_leak(name, leak, assert_flat):
    kept = []
    assert assert_flat.growth(lambda: leak(kept), [TEXT])[name] >= LIMITS[name]


@each_value
def test_references_to_an_argument(value, api):
    made = value.make(api)
    echo(made)
    before = sys.getrefcount(made)
    for _ in range(10):
        echo(made)
    assert sys.getrefcount(made) == before
