"""The process that runs checks: a library that crashes takes nothing else with it."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
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


def main(arguments: Sequence[str]) -> None:
    """Runs checks by name; tells the outcome of each as a line of JSON."""
    task = json.loads(arguments[0])
    _end_with(task["parent"])
    _without_core_dumps()
    for descriptor in (task["page"], task["answers"]):
        os.set_inheritable(descriptor, False)  # a process that the library starts has no part in it
    checks = {check.id: check for group in GROUPS for check in group.checks}
    with os.fdopen(task["answers"], "w") as answers:

        def tell(kind: str, data: Any) -> None:
            answers.write(json.dumps({kind: data}) + "\n")
            answers.flush()

        run = Run(
            Options(**task["options"]),
            Progress(task["page"]),
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
