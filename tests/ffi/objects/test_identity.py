"""f(x) is x: an object of the runtime has one wrapper for as long as somebody holds that."""

import gc
import threading
import weakref

import numpy
import pytest

import ffi

MAKERS = {
    "array": lambda api: api.get_global("ffi.Array")([1, "two"]),
    "map": lambda api: api.get_global("ffi.Map")({"a": 1}),
    "ndarray": lambda api: api.from_dlpack(numpy.ones((2, 3))),
    "function": lambda api: api.get_global("ffi.backtrace.set_mode"),
    "callback": lambda api: api.convert_function(lambda x: x),
}
each_kind = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())


@each_kind
def test_comes_back_as_itself(make, api, echo, call):
    made = make(api)
    assert echo(made) is made
    assert call(lambda x: x, made) is made
    assert call(lambda x: x is made, made) is True
    assert echo((made, [made]))[0] is made
    assert echo([made])[0] is made
    assert echo({"key": made})["key"] is made


@each_kind
def test_comes_back_as_another_once_it_is_gone(make, api, echo):
    made = make(api)
    kept = echo([made])
    gone = weakref.ref(made)
    handle = made.handle
    del made
    gc.collect()
    assert gone() is None
    assert kept[0].handle == handle
    again = kept[0]
    assert echo(again) is again


def test_a_function_is_looked_up_as_itself(api):
    assert api.get_global("testing.nop") is api.get_global("testing.nop")


def test_a_front_end_form_is_another_function(api, echo):
    nop = api.get_global("testing.nop")
    front_end = nop.front_end()
    assert front_end is not nop and front_end.same_as(nop)
    assert echo(front_end) is nop
    del front_end
    assert api.get_global("testing.nop") is nop


SUBCLASS = """
import ffi

class Named(ffi.Array):
    pass

ffi.register_object(7, Named)
echo = ffi.get_global_func("ffi.echo")
array = Named([1])
array.name = "mine"
assert type(array) is Named and echo(array) is array and echo(array).name == "mine"
"""


def test_an_instance_of_a_subclass_keeps_its_attributes(run_python):
    ran = run_python(SUBCLASS)
    assert ran.returncode == 0, ran.stderr


DYING = (
    SUBCLASS
    + """
class Finalizer:
    def __del__(self):
        found.append(kept[0])

found = []
kept = echo([array])
array.finalizer = Finalizer()
del array
assert found[0] is kept[0] and not hasattr(found[0], "name")
found.clear()

class Undead(ffi.Array):
    def __del__(self):
        found.append(self)

array = Undead([1])
handle = array.handle
del array
assert found[0].handle == handle and found[0][0] == 1 and echo(found[0]) is found[0]
"""
)


def test_a_wrapper_on_its_way_out_is_not_found(run_python):
    ran = run_python(DYING)
    assert ran.returncode == 0, ran.stderr


def test_threads_share_one_wrapper(api, echo):
    made = ffi.Array([1])
    others = []

    def run():
        others.extend(value for value in (echo(made) for _ in range(200)) if value is not made)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not others
