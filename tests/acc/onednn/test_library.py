"""The device, its settings, threads, and arrays on it."""

import ctypes
import re
import threading

import numpy as np
import pytest

import mx
from mxacc_check import abi
from mxacc_check.plugin import AccError, Plugin

from ..conftest import ROOT
from .cases import check, floats, memory_of, run

X = floats(3, 4)


def test_the_device(plugin):
    info = plugin.info()
    state = plugin.configure()
    assert info.flags == abi.HOST_VISIBLE | abi.STRIDES
    assert info.alignment == 64
    assert state["version"] in info.driver.decode() and state["isa"] in info.driver.decode()
    with pytest.raises(AccError, match="only 0") as caught:
        plugin.info(1)
    assert caught.value.code == "no_device"


def test_the_number_of_threads(plugin):
    assert plugin.configure(threads=3, verbose=0)["threads"] == "3"
    x = floats(600, 500)
    expected = x + x
    check(run(plugin, "add", {"x1": x, "x2": x}, expected), expected)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"threads": 0}, "from 1 to"),
        ({"threads": "all"}, "'all'"),
        ({"threads": 2, "verbose": 9}, "from 0 to 2"),
        ({"threads": 2, "color": 1}, "no keyword 'color'; known are threads, verbose"),
    ],
)
def test_what_configure_rejects(plugin, options, words):
    before = plugin.configure()
    with pytest.raises(AccError, match=words) as caught:
        plugin.configure(**options)
    assert caught.value.code == "bad_argument"
    assert plugin.configure() == before


def test_memory_is_counted_and_released(plugin):
    memory = plugin.empty((100,))
    plugin.empty((10,))
    assert (plugin.configure()["live"], plugin.configure()["bytes"]) == ("2", "440")
    memory.free()
    live = ctypes.c_size_t(0)
    plugin.call("mx_releaseAll", 0, ctypes.byref(live))
    assert (live.value, plugin.configure()["live"]) == (1, "0")


def test_many_threads_share_an_executor(plugin):
    x = plugin.to_device(floats(40, 30))
    y = plugin.to_device(floats(30, 40).T.copy())
    steps = x.view((slice(None, None, 2), slice(None, None, 3)))
    jobs = [
        (name, inputs, plugin.executor(name, inputs, [plugin.empty(like.shape)]), like)
        for name, inputs, like in [
            ("add", {"x1": x, "x2": y}, floats(40, 30)),
            ("matmul", {"x1": x, "x2": memory_of(y, y.array.T)}, floats(40, 40)),
            ("mean", {"a": x}, floats()),
            ("exp", {"x": steps}, floats(20, 10)),
        ]
        for _ in range(25)
    ]
    first = {
        name: work_once(plugin, inputs, executor, like) for name, inputs, executor, like in jobs
    }
    wrong = []

    def work(number: int) -> None:
        for name, inputs, executor, like in jobs[number:] + jobs[:number]:
            assert executor.executor.flags & abi.CONCURRENT
            if not np.array_equal(work_once(plugin, inputs, executor, like), first[name]):
                wrong.append(name)

    threads = [threading.Thread(target=work, args=(13 * number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for _, _, executor, _ in jobs:
        executor.close()
    assert wrong == []
    assert plugin.configure()["runs"] == str(len(jobs) * (len(threads) + 1))


def work_once(plugin: Plugin, inputs: dict, executor, like: np.ndarray) -> np.ndarray:
    out = plugin.empty(like.shape)
    executor.run(list(inputs.values()), [out])
    result = plugin.to_host(out)
    out.free()
    return result


def test_arrays_on_it(accelerators):
    ctx = mx.load_acc(accelerators / "libonednn.so")
    try:
        a = mx.np.zeros((3, 4), ctx=ctx)
        b = mx.np.array(X, ctx=ctx)
        assert a.ctx == b.ctx == ctx
        assert (b.T.asnumpy() == X.T).all()
        assert (b[::2, ::-1].as_in_ctx(mx.cpu()).asnumpy() == X[::2, ::-1]).all()
        check((a + b).asnumpy(), X)
        check((b @ b.T).asnumpy(), X @ X.T)
        assert ctx.configure(threads=1)["threads"] == "1"
        del a, b
    finally:
        mx.unload_acc("onednn")


def test_the_readme_names_all_operators(plugin):
    table = (ROOT / "accelerators/onednn/README.md").read_text().partition("## Operators")[2]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    named = [name for row in rows for name in re.findall("`([a-z_]+)`", row.split("|")[1])]
    assert sorted(named) == plugin.configure()["operators"].split(",")
