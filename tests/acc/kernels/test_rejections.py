"""What the library does not do, and misuse."""

import numpy as np
import pytest

from mxacc_check.plugin import AccError

from .cases import ANY, BOOL, CUBE, SIGNED, SQUARE, UNSIGNED, WIDE, M, run

REJECTED = [
    ("sort", {"a": ANY}, ANY, {"axis": 0}, "no kernel for sort"),
    ("add", {"x1": ANY.astype("complex64"), "x2": ANY}, ANY, {}, "complex"),
    ("subtract", {"x1": BOOL, "x2": BOOL}, BOOL, {}, "subtract of bool"),
    ("invert", {"x": ANY}, ANY, {}, "invert of float32"),
    ("add", {"x1": ANY, "x2": ANY}, ANY.astype("float64"), {}, "of a result of float32"),
    ("add", {"x1": SIGNED}, SIGNED, {"x2": 128}, "no value of int8"),
    ("add", {"x1": UNSIGNED}, UNSIGNED, {"x2": -1}, "no value of uint8"),
    ("less", {"x1": SIGNED}, BOOL, {"x2": 1000}, "no value of int8"),
    ("equal", {"x1": WIDE, "x2": WIDE.astype("uint64")}, BOOL, {}, "uint64 and signed"),
    ("add", {"x1": ANY}, ANY, {"x2": [1, 2]}, "neither an array nor a number"),
    ("add", {"x1": ANY}, ANY, {}, "neither an array nor a number"),
    ("add", {"x1": ANY, "x2": ANY}, ANY, {"where": True}, "with 'where'"),
    ("power", {"x1": SIGNED, "x2": SIGNED}, SIGNED, {}, "exponents may be negative"),
    ("power", {"x1": SIGNED}, SIGNED, {"x2": -1}, "exponents may be negative"),
    ("add", {"x1": ANY, "x2": ANY[:2]}, ANY, {}, "does not broadcast"),
    ("max", {"a": CUBE[:0]}, CUBE[0, 0], {"axis": [0, 1]}, "of no elements"),
    ("argmax", {"a": CUBE[:0]}, np.array(0), {"axis": None}, "of no elements"),
    ("sum", {"a": CUBE}, CUBE[0], {"axis": 3}, "axes that the array has not"),
    ("sum", {"a": CUBE}, CUBE[0, 0], {"axis": [0, -3]}, "axes that the array has not"),
    ("mean", {"a": CUBE}, np.array(0), {"dtype": "int64"}, "mean as integers"),
    ("matmul", {"x1": M, "x2": M}, M, {}, "do not go together"),
    ("tensordot", {"a": M, "b": M}, M, {"axes": 3}, "axes that the arrays have not"),
    ("clip", {"a": SIGNED}, SIGNED, {"a_min": 0.5}, "limits of another type"),
    ("full", {}, SIGNED, {"shape": 8, "fill_value": 0.5}, "no value of int8"),
    ("round", {"a": SIGNED}, SIGNED, {"decimals": -1}, "round of integers to tens"),
]


@pytest.mark.parametrize(("name", "arrays", "like", "attributes", "reason"), REJECTED)
def test_what_the_cpu_had_better_do(plugin, name, arrays, like, attributes, reason):
    with pytest.raises(AccError, match=reason) as caught:
        run(plugin, name, arrays, like, **attributes)
    assert caught.value.code == "unsupported"


def test_another_operator_set(plugin):
    memory = plugin.empty((3,))
    with pytest.raises(AccError, match="operator set 7") as caught:
        plugin.executor("negative", {"x": memory}, [memory], operator_set=7)
    assert caught.value.code == "unsupported"
    memory.free()


def test_misuse_is_an_error(plugin):
    memory, gone = plugin.to_device(SQUARE), plugin.to_device(SQUARE)
    gone.free()
    executor = plugin.executor("negative", {"x": memory}, [memory])
    beyond = memory.view(())
    beyond.byte_offset = 8
    odd = memory.view((slice(4),))
    odd.byte_offset = 2
    of_rows = plugin.executor("negative", {"x": odd}, [odd])
    cases = [
        (lambda: executor.run([gone], [memory]), "living memory"),
        (lambda: executor.run([beyond], [memory]), "reaches beyond its memory"),
        (lambda: of_rows.run([odd], [odd]), "no multiple of the element's size"),
        (lambda: executor.run([], [memory]), "other tensors"),
        (lambda: plugin.copy("copyToAcc", gone, SQUARE), "living memory"),
        (
            lambda: plugin.copy("copyToAcc", memory, SQUARE[:2]),
            r"\(2, 6\) to float32 \(5, 6\)",
        ),
        (lambda: plugin.configure(volume=11), "'volume'"),
    ]
    for call, reason in cases:
        with pytest.raises(AccError, match=reason) as caught:
            call()
        assert caught.value.code == "bad_argument"
    executor.close()
    of_rows.close()
    memory.free()
    plugin.api.mx_free(plugin.api.self, 0, gone.handle)
    assert plugin.messages[-1] == "mx_free: no living memory of the device"


def test_too_much_memory(plugin):
    with pytest.raises(AccError, match="(clCreateBuffer: CL_|cudaMalloc: )") as caught:
        plugin.alloc(2**62)
    assert caught.value.code == "memory"


def test_no_such_device(plugin):
    count = plugin.num_devices()
    with pytest.raises(AccError, match=f"there is no device {count}, only 0") as caught:
        plugin.alloc(1, dev_id=count)
    assert caught.value.code == "no_device"
