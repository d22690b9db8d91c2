"""Work that fails in a stream."""

from __future__ import annotations

import numpy as np

from .. import cases
from ..cases import Case
from ..plug import Streams, busy_streams
from ..plugin import AccError, Array, Executor
from ..suite import Group, Run
from ..trials import executor_of, need_operators
from .copies import expect_same
from .queues import SYNC

group = Group("failures", "work that fails in a stream", on_devices=True)

TOLD = (
    "A library that says so tells every call that failed, but for those that it did not execute "
    "because an input was lost, which it may tell."
)
STEPS = 40
# More than the number of failures that a library can report here.
MOST_TOLD = 200


def _told(run: Run, streams: Streams) -> list[AccError]:
    """All that syncStream tells, until it tells nothing, or cannot say which work failed."""
    errors: list[AccError] = []
    while len(errors) < MOST_TOLD:
        try:
            streams.sync(0)
        except AccError as error:
            errors.append(error)
            if error.work == 0:
                break
        else:
            return errors
    return errors


@group.check("told", TOLD)
def told(run: Run) -> None:
    """Work that fails in a stream is told, and no other"""
    need_operators(run)
    data = np.arange(4, dtype="float32")
    case = Case("take", "", (data, np.array([0, 99])), {"mode": "raise"})
    call = cases.call_of(case)
    executor = executor_of(run, case, call, [np.zeros(2, "float32")])
    if executor is None:
        run.skip("the library has no operator that can fail on its data")
    with busy_streams(run) as streams:
        for bad in ((0,), (5,), (STEPS - 1,), (2, 3, 30)):
            with run.step(f"{STEPS} times take, of which the index is out of range in {bad}"):
                _fail(run, streams, executor, bad)
    executor.close()


def _fail(run: Run, streams: Streams, executor: Executor, bad: tuple[int, ...]) -> None:
    """Gives work to a stream, of which some fails, and looks at what is told of it."""
    stream, data = streams.busy(0), np.arange(4, dtype="float32")
    source = run.plugin.to_device(data, run.device)
    good, wrong = (run.plugin.to_device(np.array(one), run.device) for one in ([0, 3], [0, 99]))
    outputs = [run.plugin.to_device(data[:2] * 0, run.device) for _ in range(STEPS)]
    failed: set[int] = set()
    lost: set[int] = set()  # copies of what failed, which may be told, too
    came: list[Array | None] = []
    for number, output in enumerate(outputs):
        indices = wrong if number in bad else good
        try:
            work = executor.run([source, indices], [output], stream)
        except AccError:
            run.expect(number in bad, "success", "an error of run")
            came.append(None)
            continue
        back = np.zeros_like(data[:2])
        copied = run.plugin.copy("copyFromAcc", back, output, stream)
        came.append(back)
        if number in bad:
            failed.add(work)
            lost.add(copied)
    told = _told(run, streams)
    _judge(run, failed, lost, told)
    try:
        streams.sync(0)
    except AccError as error:
        run.finding("success, as all has been told", str(error), SYNC)
    if not (told and told[-1].work == 0):
        for number, one in enumerate(came):
            if one is not None and number not in bad:
                expect_same(run, one, data[[0, 3]])
    for memory in (source, good, wrong, *outputs):
        memory.free()


def _judge(run: Run, failed: set[int], lost: set[int], told: list[AccError]) -> None:
    """Whether what was told is what failed."""
    numbers = {error.work for error in told}
    if not failed:
        run.expect(not told, "success, as nothing failed", [str(error) for error in told])
    elif 0 in numbers:
        run.expect(numbers == {0}, "one error, without a number of the work", sorted(numbers))
    else:
        texts = "; ".join(sorted({str(error) for error in told})) or "success"
        got = f"errors of {sorted(numbers)}: {texts}" if told else texts
        run.expect(failed <= numbers <= failed | lost, f"errors of the work {sorted(failed)}", got)
        run.expect(len(told) == len(numbers), "each of them once", f"{len(told)} errors")
