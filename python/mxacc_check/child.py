"""Processes that run checks, and the one that forks them: a crash takes nothing else with it."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import resource
import signal
import socket
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from .groups import GROUPS
from .progress import Progress
from .suite import Options, Run

# prctl's, which Python does not have.
_SET_PARENT_DEATH_SIGNAL = 1


def _end_with(parent: int) -> None:
    """Has this process killed when its parent is gone: a library that hangs would stay."""
    ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _without_core_dumps() -> None:
    _, limit = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, limit))


def _forked_task(requests: socket.socket) -> dict[str, Any]:
    """Forks a process for each task that is asked for; returns in these, with the task of each."""
    while True:
        data, descriptors, _, _ = socket.recv_fds(requests, 1 << 16, 2)
        if not data:
            os._exit(0)
        server = os.getpid()
        child = os.fork()
        if child == 0:
            _end_with(server)
            os.setsid()
            answers, output = descriptors
            for standard in (1, 2):
                os.dup2(output, standard)
            os.close(output)
            requests.send(json.dumps({"pid": os.getpid()}).encode())
            requests.close()
            return {"answers": answers, **json.loads(data)}
        for descriptor in descriptors:
            os.close(descriptor)
        _, status = os.waitpid(child, 0)
        requests.send(json.dumps({"status": os.waitstatus_to_exitcode(status)}).encode())


def main(arguments: Sequence[str]) -> None:
    """Forks processes that run checks by name, and tell the outcome of each as a line of JSON."""
    start = json.loads(arguments[0])
    _end_with(start["parent"])
    _without_core_dumps()
    page, requests = start["page"], socket.socket(fileno=start["socket"])
    for descriptor in (page, requests.fileno()):
        os.set_inheritable(descriptor, False)  # a process that the library starts has no part in it
    for name, value in start["variables"].items():
        os.environ.pop(name)
        if value is not None:
            os.environ[name] = value
    gc.collect()
    gc.freeze()
    run_checks(page, _forked_task(requests))


def run_checks(page: int, task: dict[str, Any]) -> None:
    """Runs checks in this process."""
    checks = {check.id: check for group in GROUPS for check in group.checks}
    with os.fdopen(task["answers"], "w") as answers:

        def tell(kind: str, data: Any) -> None:
            answers.write(json.dumps({kind: data}) + "\n")
            answers.flush()

        run = Run(
            Options(**task["options"]),
            Progress(page),
            lambda finding: tell("finding", asdict(finding)),
        )
        for name in task["checks"]:
            tell("begin", name)
            tell("result", asdict(run.do(checks[name])))
            tell("library", run.library)
            if not run.library.get("usable", True):
                break
        tell("begin", "")
        run.progress.step("at the end")
        run.close()
        tell("end", None)
        run.progress.call("the end of the process")


if __name__ == "__main__":
    main(sys.argv[1:])
