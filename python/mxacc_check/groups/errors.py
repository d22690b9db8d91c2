"""Errors: their struct, and how long it lives."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import abi
from ..plugin import AccError, Memory, Plugin, tensors
from ..suite import Group, Run

group = Group("errors", "errors")

LIVES = (
    "It belongs to the library and stays valid until the calling thread's next call into the "
    "library, or until finalize."
)
OTHERS = 4
CALLS = 200


def _raw(run: Run) -> dict[str, Callable[[], Any]]:
    """Calls that cannot succeed, each returning its status as it is."""
    plugin, api, device = run.plugin, run.plugin.api, run.device
    room, handle = ctypes.create_string_buffer(1), ctypes.c_void_p()
    calls: dict[str, Callable[[], Any]] = {
        "getAccName, size = 1": lambda: api.getAccName(api.self, room, 1),
    }
    if plugin.has("mx_alloc"):
        calls["mx_alloc, 2**62 bytes"] = lambda: api.mx_alloc(
            api.self, device, abi.DEVICE_MEMORY, 1 << 62, 64, ctypes.byref(handle)
        )
    if plugin.imperative():
        calls["accGetExecutor, no_such_operator"] = lambda: _unknown_operator(plugin, device)
    if plugin.has("configure"):
        texts = (ctypes.c_char_p * 1)(b"no_such_keyword")
        emit = abi.MXAccEmit(lambda *_: None)
        calls["configure, no_such_keyword"] = lambda: api.configure(
            api.self, device, texts, texts, 1, emit, None
        )
    return calls


def _unknown_operator(plugin: Plugin, device: int) -> Any:
    x = tensors([Memory(plugin, device, None, np.zeros(2, "float32"))])
    operator = abi.MXAccOperator(
        ctypes.sizeof(abi.MXAccOperator), b"no_such_operator", 1, device, x, x, 1, 1
    )
    made = abi.MXAccExecutor(ctypes.sizeof(abi.MXAccExecutor))
    return plugin.api.accGetExecutor(plugin.api.self, ctypes.byref(operator), ctypes.byref(made))


@group.check("struct", "a sentence for the user; not NULL")
def struct(run: Run) -> None:
    """An error has a known code and a message"""
    for name, call in _raw(run).items():
        with run.step(name):
            run.progress.call(name.partition(",")[0])
            status = call()
            if not run.expect(bool(status), "an error", "success"):
                continue
            error = AccError(name, status)
            if error.malformed:
                run.finding("struct_size, a code of kMXAcc... and a message", error.malformed)


@group.check("lives", LIVES)
def lives(run: Run) -> None:
    """An error stays as it is while other threads fail, too"""
    one_thread = run.plugin.info(run.device).flags & abi.ONE_THREAD
    for name, call in _raw(run).items():
        if name.startswith("getAccName"):
            continue  # never beside another call
        with run.step(name):
            run.progress.call(name.partition(",")[0])
            status = call()
            if not status:
                continue
            before = (status.contents.code, status.contents.message)
            others = [other for text, other in _raw(run).items() if not text.startswith("getAcc")]
            lock = threading.Lock()

            def work(others: Any = others, lock: Any = lock) -> None:
                for number in range(CALLS):
                    if one_thread:
                        with lock:
                            others[number % len(others)]()
                    else:
                        others[number % len(others)]()

            threads = [threading.Thread(target=work) for _ in range(OTHERS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            after = (status.contents.code, status.contents.message)
            run.expect(after == before, repr(before), repr(after))


@group.check(
    "goes_on",
    "Where a function fails, what it was to fill in is not looked at, and nothing is left "
    "allocated.",
)
def goes_on(run: Run) -> None:
    """After an error everything works as before"""
    run.need_memory()
    for name, call in _raw(run).items():
        with run.step(f"a copy there and back after {name}"):
            for _ in range(3):
                call()
            values = np.arange(5, dtype="float32")
            memory = run.plugin.to_device(values, run.device)
            came = run.plugin.to_host(memory)
            run.expect(bool((came == values).all()), repr(values), repr(came))
            memory.free()
