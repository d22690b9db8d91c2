"""Loading and unloading, again and again."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from .. import resources
from ..plugin import Plugin
from ..suite import Group, Run
from ..trials import simple_case

group = Group("reload", "loading and unloading, again and again")

UNLOADED = "Called before unloading, if initialize succeeded: nothing of the library is in use."
QUICK = 30
MOST_SECONDS = 30
# Growth below this, in bytes by each load, may come from the dynamic loader.
BYTES_EACH = 4096
BYTES_ALL = 256 << 10


@dataclass(frozen=True)
class _Sample:
    """What the process has after so many loads."""

    loads: int
    memory: int
    threads: int
    descriptors: int


def _sample(loads: int) -> _Sample:
    return _Sample(loads, resources.resident(), resources.threads(), resources.descriptors())


def _use(run: Run, plugin: Plugin) -> None:
    """A little of everything."""
    if not plugin.has("mx_alloc"):
        return
    memory = plugin.to_device(np.arange(100, dtype="float32"), run.device)
    plugin.to_host(memory)
    memory.free()
    made = simple_case(run) if plugin.imperative() else None
    if made is not None:
        made[3].close()


def _load(run: Run, loads: int) -> list[_Sample]:
    """Loads the library so often; what the process has at six times or so meanwhile."""
    start = time.monotonic()
    samples = []
    for number in range(1, loads + 1):
        with run.step(f"load {number}"):
            with run.loaded() as plugin:
                _use(run, plugin)
        if number % max(loads // 6, 1) == 0:
            samples.append(_sample(number))
        if time.monotonic() - start > MOST_SECONDS:
            run.note(f"stopped after {number} of {loads} loads, for time")
            samples.append(_sample(number))
            break
    return samples


def _grown(samples: list[_Sample]) -> int:
    """Bytes more by each load; 0 where they are not much, or the first loads only left them."""
    begin, middle, end = samples[0], samples[len(samples) // 2], samples[-1]
    count = end.loads - begin.loads
    grown = end.memory - begin.memory
    still = end.memory - middle.memory > grown / 4
    is_much = not resources.is_sanitized() and grown > BYTES_ALL and grown > BYTES_EACH * count
    return grown // count if is_much and still else 0


@group.check("grows", UNLOADED, fresh=True)
def grows(run: Run) -> None:
    """Neither memory nor threads nor descriptors are left behind"""
    loads = QUICK if run.quick else run.options.loads
    samples = _load(run, loads)
    if len(samples) >= 3 and _grown(samples):
        # Caches and pools of threads take long to fill, and longer where threads have to wait for
        # each other. What is lost by each load is lost by these, too.
        samples = _load(run, loads)
    if len(samples) < 3:
        run.note("too few loads to judge what grows")
        return
    grown = _grown(samples)
    run.expect(not grown, "memory that does not grow", f"{grown} bytes more by each load")
    begin, end = samples[0], samples[-1]
    count = end.loads - begin.loads
    for name in ("threads", "descriptors"):
        more = getattr(end, name) - getattr(begin, name)
        run.expect(
            more < count / 4, f"as many {name} as before", f"{more} more after {count} loads"
        )


@group.check("process_end", "at the end of the process neither need happen", fresh=True)
def process_end(run: Run) -> None:
    """The process ends well while the library is loaded and in use"""
    plugin = run.plugin
    if plugin.has("mx_alloc"):
        plugin.to_device(np.ones(1000, "float32"), run.device)
        if plugin.imperative():
            simple_case(run)
        if plugin.has("createStream"):
            plugin.create("Stream", run.device)
    run.abandon()
