"""Running the compiler. Imported only where something is compiled, as its imports take a while."""

from __future__ import annotations

import atexit
import os
import shlex
import signal
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import IO

from ._compiler import BuildError


class Runner:
    """Runs commands, several at once, and ends them all when one fails or the user interrupts."""

    def __init__(self) -> None:
        self._folder = os.getcwd()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._ended = False

    def run(self, commands: Sequence[Sequence[str]]) -> str:
        """Runs the commands and returns what they have printed, in their order.

        Raises BuildError for the first that fails.
        """
        if len(commands) == 1 and threading.current_thread() is not threading.main_thread():
            return self._run_in_background(commands[0])
        # In threads even where there is one: an interrupt, which comes to the main thread, might
        # else come between the start of a process and the moment when it is known.
        with ThreadPoolExecutor(min(len(commands), os.cpu_count() or 1)) as pool:
            try:
                return "".join(pool.map(self._run, commands))
            except BuildError as error:
                self._end_all()
                # Without the frames of the threads, which say nothing of what does not compile.
                raise error.with_traceback(None) from None
            except BaseException:
                self._end_all()
                raise

    def _run_in_background(self, command: Sequence[str]) -> str:
        """Runs a command without the threads of a pool, for which the process would wait to end:
        it ends the compiler, which might else write where that of another process does."""
        atexit.register(self._end_all)
        try:
            if threading.current_thread().daemon and not threading.main_thread().is_alive():
                raise BuildError("the process is ending", command)
            return self._run(command)
        finally:
            atexit.unregister(self._end_all)

    def _run(self, command: Sequence[str]) -> str:
        # A file and not a pipe, of which something that the compiler leaves running, such as the
        # server of a cache, could keep the other end open.
        with tempfile.TemporaryFile() as printed:
            process = self._start(command, printed)
            self._running.add(process)
            try:
                if self._ended:
                    _end_group(process)
                process.wait()
            finally:
                self._running.discard(process)
            printed.seek(0)
            output = printed.read().decode(errors="replace")
        if process.returncode != 0:
            raise _failure(command, process.returncode, output)
        return output

    def _start(self, command: Sequence[str], printed: IO[bytes]) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                command,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                # A group of its own, so that its end is the end of what it has started.
                start_new_session=True,
            )
        except OSError as error:
            raise BuildError(f"{command[0]} cannot be run: {error}", command) from None

    def _end_all(self) -> None:
        self._ended = True
        for process in list(self._running):
            _end_group(process)


def _failure(command: Sequence[str], status: int, output: str) -> BuildError:
    how = f"was ended by signal {-status}" if status < 0 else "failed"
    return BuildError(
        f"the compiler {how}:\n{output.rstrip()}\n\nthe command was: {shlex.join(command)}",
        command,
        output,
    )


def _end_group(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
