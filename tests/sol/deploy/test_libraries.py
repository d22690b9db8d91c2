"""Shared libraries give what the plan gives, whoever calls them and however."""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Callable

import numpy
import pytest

from .conftest import Case
from .loaded import RUN, Library, Pool, aligned
from .models import MODELS

Deploy = Callable[..., Case]


@pytest.mark.parametrize("name", MODELS)
def test_as_the_plan(deployed: Deploy, name: str) -> None:
    case = deployed(name)
    library, outputs = case.load(), case.outputs()
    assert library.check() == 0
    assert library.call([*case.inputs, *outputs]) == 0
    case.check(outputs)


def pool_of(threads: int) -> Pool:
    """Threads that take two tiles each in turn, the last tiles first."""

    def run(context: object, body: object, task: object, tiles: int) -> None:
        parts = list(range(0, tiles, 2))

        def work(thread: int) -> None:
            while parts:
                try:
                    begin = parts.pop()
                except IndexError:
                    return
                body(task, thread, begin, min(begin + 2, tiles))

        workers = [threading.Thread(target=work, args=(n,)) for n in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    return Pool(threads, RUN(run), None)


@pytest.mark.parametrize("name", ["lenet", "residual"])
def test_threads_of_the_caller(deployed: Deploy, name: str) -> None:
    case = deployed(name)
    library, outputs = case.load(), case.outputs()
    assert library.call([*case.inputs, *outputs], pool=pool_of(3)) == 0
    case.check(outputs)


def test_calls_at_the_same_time(deployed: Deploy) -> None:
    case = deployed("lenet")
    library = case.load()
    results = [case.outputs() for _ in range(4)]

    def work(outputs: list[numpy.ndarray]) -> None:
        arena = library.arena()
        for _ in range(50):
            assert library.call([*case.inputs, *outputs], arena) == 0

    workers = [threading.Thread(target=work, args=(outputs,)) for outputs in results]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for outputs in results:
        case.check(outputs)


@pytest.mark.parametrize("offset", [0, 1, 63])
def test_an_arena_may_begin_anywhere(deployed: Deploy, offset: int) -> None:
    case = deployed("lenet")
    library, outputs = case.load(), case.outputs()
    size = library.library.predict_arena_bytes(1)
    room = numpy.full(size + 256, 0x55, "uint8")
    begin = -room.ctypes.data % 64 + offset
    assert library.call([*case.inputs, *outputs], room[begin : begin + size]) == 0
    case.check(outputs)
    assert (room[:begin] == 0x55).all() and (room[begin + size :] == 0x55).all()


OK, NULL, ALIGNMENT, ARENA, OVERLAP, POOL, WEIGHTS, PROCESSOR = range(8)
MISUSES = {
    "no input": (NULL, lambda x, y: {"arrays": [None, y]}),
    "no output": (NULL, lambda x, y: {"arrays": [x, None]}),
    "an odd address": (
        ALIGNMENT,
        lambda x, y: {"arrays": [numpy.zeros(x.nbytes + 4, "uint8")[1:], y]},
    ),
    "a small arena": (ARENA, lambda x, y: {"arrays": [x, y], "bytes": 64}),
    "an arena of nothing": (ARENA, lambda x, y: {"arrays": [x, y], "bytes": 0}),
    "the output is the input": (OVERLAP, lambda x, y: {"arrays": [x, x]}),
    "the output is the arena": (OVERLAP, lambda x, y: {"arrays": [x, y], "arena": y.repeat(9999)}),
    "no threads": (POOL, lambda x, y: {"arrays": [x, y], "pool": Pool(0, RUN(lambda *_: None))}),
    "no function": (POOL, lambda x, y: {"arrays": [x, y], "pool": Pool(2)}),
}


@pytest.mark.parametrize("name", MISUSES)
def test_misuse_is_a_status(deployed: Deploy, name: str) -> None:
    case = deployed("lenet")
    library, (output,) = case.load(), case.outputs()
    status, make = MISUSES[name]
    given = make(case.inputs[0], output)
    if "arena" in given:
        given["arrays"][1] = given["arena"][:10]
    if "pool" in given:
        given["arena"] = library.arena(3)
    assert library.call(**given) == status
    assert (output == 77).all()
    assert library.library.predict_message(status).decode()


def test_an_unknown_status_has_a_message(deployed: Deploy) -> None:
    assert deployed("lenet").load().library.predict_message(99) == b"no status of this function"


def test_weights_beside(deployed: Deploy) -> None:
    case = deployed("lenet", weights="beside")
    path = next(path for path in case.deployed.files if path.suffix == ".weights")
    data, outputs = path.read_bytes(), case.outputs()
    library = Library(case.deployed.files[0], aligned(data))
    assert library.check() == OK
    assert library.call([*case.inputs, *outputs]) == OK
    case.check(outputs)
    code = case.deployed.files[0].stat().st_size
    assert code < deployed("lenet").deployed.files[0].stat().st_size


@pytest.mark.parametrize(
    ("change", "call", "check"),
    [
        (lambda data: data[:-1], WEIGHTS, WEIGHTS),
        (lambda data: data[:10], WEIGHTS, WEIGHTS),
        (lambda data: b"other" + data[5:], WEIGHTS, WEIGHTS),
        (lambda data: data[:8] + b"\2" + data[9:], WEIGHTS, WEIGHTS),
        (lambda data: data[:16] + bytes(8) + data[24:], WEIGHTS, WEIGHTS),
        # A call looks at the header only.
        (lambda data: data[:-500] + bytes([data[-500] ^ 1]) + data[-499:], OK, WEIGHTS),
    ],
    ids=["short", "without header", "magic", "version", "another model", "damaged"],
)
def test_wrong_weights(deployed: Deploy, change, call: int, check: int) -> None:
    case = deployed("lenet", weights="beside")
    path = next(path for path in case.deployed.files if path.suffix == ".weights")
    library = Library(case.deployed.files[0], aligned(change(path.read_bytes())))
    assert library.call([*case.inputs, *case.outputs()]) == call
    assert library.check() == check


@pytest.mark.parametrize("name", MODELS)
def test_needs_libc_and_libm_only(deployed: Deploy, name: str) -> None:
    """No other library, nothing that allocates, no memory of its own that can be written."""
    library = deployed(name).deployed.files[0]

    def tool(*command: str) -> str:
        return subprocess.run(
            [*command, library], check=True, capture_output=True, text=True
        ).stdout

    needed = set(re.findall(r"NEEDED.*\[(.*)\]", tool("readelf", "-d")))
    assert needed <= {"libc.so.6", "libm.so.6"}
    symbols = [line.split() for line in tool("nm", "-D").splitlines()]
    undefined = {words[1].split("@")[0] for words in symbols if words[0] in "Uw"}
    harmless = {"__cxa_finalize", "__gmon_start__", "_ITM_deregisterTMCloneTable"}
    harmless |= {"_ITM_registerTMCloneTable", "__stack_chk_fail"}
    assert undefined - harmless <= {"memcpy", "memset", "memmove", "memcmp", "expf", "tanhf"}
    exported = {words[2] for words in symbols if words[1:2] == ["T"]}
    assert exported == {"predict", "predict_check", "predict_arena_bytes", "predict_message"}
    sizes = re.search(r"\.bss\s+NOBITS\s+\S+\s+\S+\s+(\S+)", tool("readelf", "-SW"))
    # Of the start-up code; for some, too, what the compiler notes of the processor at loading.
    most = 48 if name in ("int8", "bf16") else 8
    assert sizes is None or int(sizes[1], 16) <= most
    data = re.search(r"\.data\s+PROGBITS\s+\S+\s+\S+\s+(\S+)", tool("readelf", "-SW"))
    assert data is None or int(data[1], 16) <= 16
