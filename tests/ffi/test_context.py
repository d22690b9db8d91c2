"""Context: a value, and the stack of contexts that mx registers."""

import copy
import pickle

import pytest

import ffi


@pytest.mark.parametrize(
    "make",
    [
        lambda: ffi.Context("cpu", 2),
        lambda: ffi.Context("cpu(2)"),
        lambda: ffi.Context("cpu(2)", 2),
        lambda: ffi.Context(repr(ffi.cpu(2))),
        lambda: ffi.cpu(2),
        lambda: ffi.Context(ffi.cpu(2)),
        lambda: ffi.Context(device_type="cpu", device_id=2),
        lambda: pickle.loads(pickle.dumps(ffi.cpu(2))),
        lambda: copy.deepcopy(ffi.cpu(2)),
    ],
)
def test_equal_contexts(make):
    context = make()
    assert context == ffi.cpu(2)
    assert hash(context) == hash(ffi.cpu(2))
    assert (context.device_type, context.device_id) == ("cpu", 2)
    assert repr(context) == str(context) == "cpu(2)"


@pytest.mark.parametrize("other", [ffi.cpu(1), "cpu(0)", 0, None], ids=repr)
def test_different_contexts(other):
    assert ffi.cpu(0) != other


def test_default_and_largest():
    assert ffi.Context("cpu") == ffi.cpu() == ffi.cpu(0)
    assert ffi.cpu(2**31 - 1).device_id == 2**31 - 1


def test_same_instance():
    assert ffi.cpu(1) is ffi.cpu(1)


@pytest.mark.parametrize("change", ["device_id", "device_type"])
def test_immutable(change):
    with pytest.raises(AttributeError):
        setattr(ffi.cpu(0), change, 1)
    with pytest.raises(AttributeError):
        delattr(ffi.cpu(0), change)


def test_with_needs_mx(run_python):
    script = """
import ffi
try:
    with ffi.cpu(0):
        pass
except RuntimeError as error:
    print(error)
"""
    done = run_python(script)
    assert done.stdout.strip() == (
        "nothing that keeps a current context is loaded; import mx before entering a context"
    ), done.stderr


def test_with_uses_the_registered_stack(run_python):
    script = """
import ffi
stack = []
ffi.register_func("runtime.push_context", stack.append, override=True)
ffi.register_func("runtime.pop_context", stack.pop, override=True)
with ffi.cpu(1) as context:
    assert context is ffi.cpu(1) and stack == [ffi.cpu(1)]
    with ffi.cpu(2):
        assert stack == [ffi.cpu(1), ffi.cpu(2)]
assert stack == []
try:
    with ffi.cpu(1):
        raise KeyError("passes")
except KeyError:
    print(stack)
"""
    done = run_python(script)
    assert done.stdout == "[]\n", done.stderr
