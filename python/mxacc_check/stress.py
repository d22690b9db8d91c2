"""Threads of C++ that call an accelerator library at once."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from . import abi, cases
from .cases import Case
from .plugin import Array, Executor, Plugin, operator_struct, tensors

# Longer failures are cut.
_ROOM = 4096


@dataclass
class Job:
    """What a thread does: a case of an operator, or a copy there and back of its first argument."""

    case: Case | None
    inputs: dict[str, Array]
    expected: list[Array]
    attributes: dict[str, str]
    executor: Executor | None = None  # that all threads share; else each makes its own


def copy_job(array: Array) -> Job:
    return Job(None, {"": array}, [array], {})


def operator_job(case: Case, expected: list[Array], executor: Executor | None = None) -> Job:
    call = cases.call_of(case)
    inputs = {name: np.ascontiguousarray(one) for name, one in call.inputs.items()}
    return Job(case, inputs, expected, call.attributes, executor)


def run(
    plugin: Plugin, dev_id: int, jobs: Sequence[Job], threads: int, rounds: int, one_thread: bool
) -> str:
    """Has threads do jobs, each beginning with another; what went wrong, or nothing."""
    kept: list[Any] = []
    made = (abi.StressJob * len(jobs))()
    for job, struct in zip(jobs, made, strict=True):
        inputs = tensors(list(job.inputs.values()), list(job.inputs))
        expected = tensors(job.expected, role=3)
        kept += [inputs, expected]
        struct.inputs, struct.expected = inputs, expected
        struct.num_in, struct.num_out = len(job.inputs), len(job.expected)
        if job.case is not None:
            operator = operator_struct(
                job.case.name, job.inputs, job.expected, job.attributes, dev_id
            )
            kept.append(operator)
            struct.op = ctypes.pointer(operator)
        if job.executor is not None:
            struct.executor = ctypes.pointer(job.executor.executor)
    judge = abi.StressJudge(lambda number, came: _is_right(jobs[number], came))
    stress = abi.Stress(
        ctypes.pointer(plugin.api), made, judge, dev_id, len(jobs), threads, rounds, one_thread
    )
    plugin.watch("functions of the table, by several threads")
    failure = ctypes.create_string_buffer(_ROOM)
    _library().mxacc_check_stress(ctypes.byref(stress), failure, len(failure))
    return failure.value.decode(errors="replace")


@cache
def _library() -> ctypes.CDLL:
    """What this package has in C++; a call lets other threads of Python run meanwhile."""
    library = ctypes.CDLL(str(Path(__file__).parent / "lib" / "libmxacc_check.so"))
    library.mxacc_check_stress.restype = None
    library.mxacc_check_stress.argtypes = [
        ctypes.POINTER(abi.Stress),
        ctypes.c_char_p,
        ctypes.c_size_t,
    ]
    return library


def _is_right(job: Job, came: Any) -> bool:
    """Whether what came is as good as what was expected."""
    if job.case is None:
        return False
    for number, expected in enumerate(job.expected):
        room = ctypes.string_at(came[number].tensor.data, expected.nbytes)
        values: Array = np.frombuffer(room, expected.dtype).reshape(expected.shape)
        if cases.difference(job.case, values, expected, 1) is not None:
            return False
    return True
