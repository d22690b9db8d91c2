"""Nothing leaks: references to arguments, blocks of Python's allocator, memory of the process."""

import gc
import os
import sys

import pytest

import ffi

from .refusals import REFUSALS
from .values import VALUES

ROUNDS = 2000
PAGE = os.sysconf("SC_PAGE_SIZE")
# A leak of one small object a call would be several times as much.
ALLOWED_BYTES = 96 * 1024
ALLOWED_BLOCKS = ROUNDS // 20

SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")
WHY_NOT = "AddressSanitizer keeps what is freed"

pytestmark = pytest.mark.skipif(SANITIZED, reason=WHY_NOT)


def resident_bytes():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * PAGE


def grows(action):
    """Growth of the process and of Python's heap over many runs of an action."""
    for _ in range(ROUNDS // 3):
        action()
    gc.collect()
    before = resident_bytes(), sys.getallocatedblocks()
    for _ in range(ROUNDS):
        action()
    gc.collect()
    after = resident_bytes(), sys.getallocatedblocks()
    return after[0] - before[0], after[1] - before[1]


def assert_flat(action):
    """Fails where an action leaves something behind. For tests of other files, too."""
    if SANITIZED:
        pytest.skip(WHY_NOT)
    # Once more where the first run grew: the heap may take pages for reasons of its own, a leak
    # grows every time.
    for _ in range(3):
        in_bytes, blocks = grows(action)
        if in_bytes <= ALLOWED_BYTES and blocks <= ALLOWED_BLOCKS:
            return
    raise AssertionError(f"{ROUNDS} calls left {in_bytes} bytes and {blocks} blocks behind")


each_value = pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())


@each_value
def test_arguments_and_results(value, api, echo):
    made = value.make(api)
    assert_flat(lambda: echo(made))


@each_value
def test_references_to_an_argument(value, api, echo):
    made = value.make(api)
    echo(made)
    before = sys.getrefcount(made)
    for _ in range(10):
        echo(made)
    assert sys.getrefcount(made) == before


@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS.keys())
def test_refusals(refusal, api, register):
    register("tests.undescribed", lambda *args, **kwargs: None)

    def action():
        try:
            refusal.call(api)
        except refusal.cls:
            pass

    assert_flat(action)


def fail(*args):
    raise ValueError("text")


def keywords():
    ffi.get_global_func("testing.keywords")(1, d="text")


def register_and_remove():
    ffi.register_func("tests.comes_and_goes", lambda x, y=1: x)
    ffi.remove_global_func("tests.comes_and_goes")


def override():
    ffi.register_func("tests.stays", lambda: None, override=True)


def raise_through():
    try:
        ffi.get_global_func("testing.call")(fail, "argument")
    except ValueError:
        pass


def throw():
    try:
        ffi.get_global_func("testing.throw_error")("ValueError", "text")
    except ValueError:
        pass


def share_an_array():
    array = ffi.get_global_func("testing.echo")(VALUES["array: steps"].make(None))
    ffi.from_dlpack(array)
    array.__dlpack__()
    array.__dlpack__(max_version=(1, 0), copy=True)


def convert():
    ffi.convert([lambda: None, {"a": (1, 2.5)}, b"b"])


def describe():
    function = ffi.get_global_func("testing.keywords").front_end()
    assert function.__doc__ and function.__signature__ and function.info


def call_with_arguments():
    ffi.get_global_func("testing.call")(lambda *args: args, "a", [1], {"k": (2, "b")}, 1.5)


@pytest.mark.parametrize(
    "action",
    [
        keywords,
        register_and_remove,
        override,
        raise_through,
        throw,
        share_an_array,
        convert,
        describe,
        call_with_arguments,
        ffi.list_global_func_names,
    ],
    ids=lambda action: action.__name__,
)
def test_actions(action):
    assert_flat(action)


def test_lists_of_every_length(echo):
    """What is remembered about a size must not be remembered for every size."""
    sizes = iter(range(10**9))
    assert_flat(lambda: echo([None] * (next(sizes) % 500)))
