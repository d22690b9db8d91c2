"""Runs the commands of a build in parallel, each only if something it reads has changed."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path


class StepError(Exception):
    """A command of the build failed; the message is the command and what it printed."""


@dataclass(frozen=True)
class Step:
    """A command that writes `output` from `inputs`.

    `depfile` is a Make rule the command writes, naming further files it has read. `after` are the
    steps whose outputs are among the inputs; they come earlier in the list given to `run`. Paths
    are absolute or relative to the folder given to `run`.
    """

    command: tuple[str, ...]
    output: Path
    inputs: tuple[Path, ...]
    depfile: Path | None = None
    after: tuple[Step, ...] = ()

    @property
    def stamp(self) -> Path:
        """The file that holds the command which made the present output."""
        return self.output.with_name(self.output.name + ".command")


def _read_depfile(path: Path) -> list[Path]:
    _, _, prerequisites = path.read_text().replace("\\\n", " ").partition(":")
    return [Path(word) for word in shlex.split(prerequisites)]


def is_current(step: Step, cwd: Path) -> bool:
    """Whether the output was made by this very command and is no older than anything it read."""
    try:
        if (cwd / step.stamp).read_text() != shlex.join(step.command):
            return False
        made = (cwd / step.output).stat().st_mtime_ns
        read = [*step.inputs, *(_read_depfile(cwd / step.depfile) if step.depfile else ())]
        return all((cwd / path).stat().st_mtime_ns <= made for path in read)
    except FileNotFoundError:
        return False


def _execute(step: Step, cwd: Path, waits: Sequence[Future[None]]) -> None:
    for earlier in waits:
        earlier.result()
    if is_current(step, cwd):
        return
    stamp = cwd / step.stamp
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    done = subprocess.run(
        step.command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode != 0:
        raise StepError(f"{shlex.join(step.command)}\n{done.stdout}")
    if done.stdout:
        print(done.stdout, end="", flush=True)
    stamp.write_text(shlex.join(step.command))


def run(steps: Sequence[Step], cwd: Path, jobs: int) -> None:
    """Runs the steps, at most `jobs` at once; relative paths in them are relative to `cwd`.

    Raises StepError for the first command that fails, after those already under way have ended.
    """
    futures: dict[Path, Future[None]] = {}
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        for step in steps:
            # The pool starts tasks in this order, so what a task waits for is always under way.
            waits = [futures[earlier.output] for earlier in step.after]
            futures[step.output] = pool.submit(_execute, step, cwd, waits)
        try:
            for future in futures.values():
                future.result()
        except StepError:
            pool.shutdown(cancel_futures=True)
            raise
