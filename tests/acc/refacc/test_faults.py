"""refacc fails where, when and how it is told to."""

import ctypes
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from mxacc_check import abi
from mxacc_check.plugin import CODES, AccError

from ..conftest import ROOT

ONES = np.ones(4, "float32")


def everything(plugin) -> None:
    """Calls each member of the table that can fail, at least once."""
    plugin.name()
    plugin.initialize()
    plugin.num_devices()
    plugin.info()
    plugin.imperative()
    memory = plugin.to_device(ONES)
    plugin.to_host(memory)
    plugin.copy("copyWithinAcc", plugin.empty((4,)), memory)
    plugin.call("mx_zero", 0, memory.handle, 0, 16, None, 0)
    executor = plugin.executor("negative", {"x": memory}, [memory])
    try:
        executor.run([memory], [memory])
    finally:
        executor.close()
    stream, event = plugin.create("Stream"), None
    try:
        event = plugin.create("Event")
        plugin.call("recordEvent", 0, event, stream)
        plugin.call("waitEvent", 0, event, stream)
        plugin.call("syncStream", 0, stream)
    finally:
        plugin.api.destroyStream(plugin.api.self, 0, stream)
        if event:
            plugin.api.destroyEvent(plugin.api.self, 0, event)
    plugin.configure()
    plugin.call("mx_releaseAll", 0, ctypes.byref(ctypes.c_size_t()))


CALLS = ["mxacc_get_api", "getAccName", "initialize", "getNumAcc", "getDeviceInfo", "mx_alloc"]
CALLS += ["mx_zero", "mx_releaseAll", "copyToAcc", "copyFromAcc", "copyWithinAcc", "createStream"]
CALLS += ["syncStream", "createEvent", "recordEvent", "waitEvent", "supportsImperative"]
CALLS += ["accGetExecutor", "run", "configure"]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", CODES)
def test_every_call_fails_as_it_is_told(load, call, kind):
    with pytest.raises(AccError) as caught:
        everything(load(initialize=False, streams=1, faults=f"{call}={kind}"))
    assert str(caught.value).startswith(f"{call}: {kind}: the fault that was asked for at {call}")


def test_the_faults_are_all_that_fails(load):
    everything(load(initialize=False, streams=1))


# Faults, and which of five runs fail.
COUNTS = [("run", "xxxxx"), ("run@2", ".x..."), ("run@4+", "...xx"), ("run@9", ".....")]
COUNTS += [("run@1,run@3=memory", "x.x.."), ("copyToAcc", "....."), ("", ".....")]


@pytest.mark.parametrize(("faults", "expected"), COUNTS)
def test_which_call_fails(load, faults, expected):
    plugin = load()
    memory = plugin.to_device(ONES)
    executor = plugin.executor("negative", {"x": memory}, [memory])
    executor.run([memory], [memory])
    plugin.configure(faults=faults)
    seen = ""
    for _ in expected:
        try:
            executor.run([memory], [memory])
            seen += "."
        except AccError:
            seen += "x"
    executor.close()
    assert seen == expected


@pytest.mark.parametrize("call", ["run", "mx_free", "finalize"])
def test_a_crash_is_one(accelerators, call):
    script = f"""
import pathlib, numpy, mx
from mxacc_check.plugin import Plugin
plugin = Plugin(pathlib.Path({str(accelerators / "librefacc.so")!r}))
memory = plugin.to_device(numpy.ones(4))
executor = plugin.executor("negative", {{"x": memory}}, [memory])
plugin.configure(faults="{call}=crash")
executor.run([memory], [memory])
executor.close()
memory.free()
plugin.close()
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True)
    assert done.returncode == -signal.SIGABRT, done.stderr


# Settings by configure that are rejected, and why.
WRONG = [
    ({"coffee": "1"}, "no keyword 'coffee'; known are guard, poison, .*check"),
    ({"devices": "3"}, "'devices' is chosen by REFACC_DEVICES"),
    ({"guard": "dog"}, "guard: expected one of none zones pages, got 'dog'"),
    ({"poison": "yes"}, "poison: expected one of 0 1, got 'yes'"),
    ({"memory": "-1"}, "memory: expected an integer from 0 to [0-9]+, got '-1'"),
    ({"memory": ""}, "memory: expected an integer"),
    ({"slow": "99999999999"}, "slow: expected an integer from 0 to 2147483647"),
    ({"faults": "fly"}, "the fault 'fly' names no call"),
    ({"faults": "run@"}, "the fault 'run@' has no count"),
    ({"faults": "run@0"}, "the fault 'run@0' has no count"),
    ({"faults": "run@2x"}, "the fault 'run@2x' has no count"),
    ({"faults": "run=badly"}, "the fault 'run=badly' is of no known kind"),
]


@pytest.mark.parametrize(("options", "message"), WRONG, ids=str)
def test_what_configure_rejects_changes_nothing(load, options, message):
    plugin = load()
    before = plugin.configure()
    with pytest.raises(AccError, match=message) as caught:
        plugin.configure(operators="add", **options)
    assert caught.value.code == "bad_argument"
    assert plugin.configure() == before


@pytest.mark.parametrize(
    "options",
    [
        {"guard": "pages"},
        {"poison": "0"},
        {"memory": "4096"},
        {"slow": "3", "operators": "add"},
        {"faults": "run@3=memory,mx_alloc@2+,work@8=bad_index"},
    ],
    ids=str,
)
def test_configure_tells_what_it_has_set(load, options):
    plugin = load(devices=2)
    before = plugin.configure()
    assert plugin.configure(1, **options) == before | options


@pytest.mark.parametrize(
    ("variable", "text", "message"),
    [
        ("guard", "dog", "REFACC_GUARD: expected one of"),
        ("faults", "x", "REFACC_FAULTS: the fault"),
    ],
)
def test_an_environment_that_makes_no_sense_is_an_error_of_loading(load, variable, text, message):
    with pytest.raises(AccError, match=message):
        load(**{variable: text})


# How a library may look to whoever loads it.
LOOKS = [
    ({"name": "other_acc"}, lambda plugin: plugin.name(), "other_acc"),
    ({"name": "Not A Name"}, lambda plugin: plugin.name(), "Not A Name"),
    ({"devices": 0}, lambda plugin: plugin.num_devices(), 0),
    ({"devices": 5}, lambda plugin: plugin.num_devices(), 5),
    ({"abi_major": 9}, lambda plugin: plugin.api.abi_major, 9),
    (
        {"api_size": 64},
        lambda plugin: (plugin.api.struct_size, plugin.has("configure")),
        (64, False),
    ),
    ({"threads": "one"}, lambda plugin: plugin.info().flags & abi.ONE_THREAD, abi.ONE_THREAD),
    ({"handles": "address"}, lambda plugin: plugin.info().flags & abi.HOST_VISIBLE, 1),
]


@pytest.mark.parametrize(("settings", "look", "expected"), LOOKS, ids=lambda value: str(value))
def test_how_it_looks(load, settings, look, expected):
    assert look(load(initialize="api_size" not in settings, **settings)) == expected


@pytest.mark.parametrize("dev_id", [-1, 2, 2**31 - 1])
def test_devices_that_there_are_not(load, dev_id):
    plugin = load(devices=2)
    for call in (plugin.info, lambda dev: plugin.alloc(8, 64, dev), plugin.configure):
        with pytest.raises(AccError, match="there is no device") as caught:
            call(dev_id)
        assert caught.value.code == "no_device"


@pytest.mark.parametrize(("threads", "rejected"), [("one", True), ("any", False)])
def test_two_threads_inside(load, threads, rejected):
    plugin = load(threads=threads)
    memory = plugin.to_device(ONES)
    plugin.configure(slow=50_000)
    errors = []

    def copy() -> None:
        try:
            plugin.to_host(memory)
        except AccError as error:
            errors.append(error.message)

    workers = [threading.Thread(target=copy) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert errors == (["copyFromAcc: another thread is inside"] if rejected else [])


def test_calls_before_initialize_and_twice(load):
    plugin = load(initialize=False)
    with pytest.raises(AccError, match="initialize was not called"):
        plugin.num_devices()
    plugin.initialize()
    with pytest.raises(AccError, match="initialize was called twice"):
        plugin.initialize()


def test_configuring_beside_other_calls(load):
    plugin = load()
    memory = plugin.to_device(ONES)
    executor = plugin.executor("negative", {"x": memory}, [memory])
    wrong = []

    def run() -> None:
        for _ in range(300):
            try:
                executor.run([memory], [memory])
            except AccError as error:
                wrong.append(error)

    runner = threading.Thread(target=run)
    runner.start()
    for number in range(300):
        plugin.configure(memory=4096 + number, faults="run@100000")
    runner.join()
    executor.close()
    assert wrong == [] and plugin.configure()["runs"] == "300"
