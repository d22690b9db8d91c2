"""Processes that run checks, forked from one that has imported what they need.

To import it takes longer than most groups of checks; the process that has done so loads no library.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from typing import IO, Any

# What the interpreter takes to start is none of the library's.
STARTING = 60.0
_OUTPUT_LINES = 5
_LONGEST = 1 << 16  # bytes of a message
# The folders that modules come from are this process's; the current one is not among them, where
# a vendor may have files that are called like modules.
_START = (
    "import sys; sys.path[:] = sys.argv.pop(1).split(':');"
    "from mxacc_check.child import main; main(sys.argv[1:])"
)
# The library is to be alone, and loaded by nobody else.
_ALONE = {"MXNET_ACC_LIBRARIES": "", "MXNET_ACC_AUTOLOAD": "0"}
# ThreadSanitizer ends what was forked from a process with threads, which NumPy's library may start.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}


def tail(output: IO[bytes]) -> str:
    """The last lines of what a process has said, or what a sanitizer says first."""
    output.seek(0)
    lines = output.read().decode(errors="replace").splitlines()
    # A sanitizer says at the beginning what is wrong.
    reports = [number for number, line in enumerate(lines) if "Sanitizer: " in line]
    first = reports[0] if reports else max(len(lines) - _OUTPUT_LINES, 0)
    return "\n".join(lines[first : first + _OUTPUT_LINES])


class Server:
    """The process that forks others, one at a time."""

    def __init__(self, page: int):
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._output = tempfile.TemporaryFile()
        own = {name: os.environ.get(name) for name in _ONE_THREAD}
        task = {"parent": os.getpid(), "page": page, "socket": theirs.fileno(), "variables": own}
        path = ":".join(entry for entry in sys.path if entry)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _START, path, json.dumps(task)],
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._output,
                pass_fds=(page, theirs.fileno()),
                env={**os.environ, **_ALONE, **_ONE_THREAD},
                start_new_session=True,
            )

    def close(self) -> None:
        self._socket.close()
        self._process.kill()
        self._process.wait()
        self._output.close()

    def start(self, task: dict[str, Any], answers: int, output: int) -> Child:
        """Has a process run the checks of a task, which has that descriptor for its answers."""
        try:
            socket.send_fds(self._socket, [json.dumps(task).encode()], [answers, output])
        except OSError:
            pass  # it is gone, which is told by the outcome
        return Child(self)

    def message(self, timeout: float) -> dict[str, int] | None:
        """What the server tells next; its own status where it has ended, None after the timeout."""
        ready, _, _ = select.select([self._socket], [], [], timeout)
        if not ready:
            return None
        try:
            data = self._socket.recv(_LONGEST)
        except ConnectionError:
            data = b""
        if data:
            message: dict[str, int] = json.loads(data)
            return message
        return {"status": self._process.wait() or 1}

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def output(self) -> str:
        """The last words of the server itself."""
        return tail(self._output)


class Child:
    """A process that runs checks."""

    def __init__(self, server: Server):
        self._server = server
        self.pid: int | None = None
        self.status: int | None = None

    def begins(self) -> bool:
        """Whether it has begun, which is waited for."""
        self._take(self._server.message(STARTING))
        return self.pid is not None

    def wait(self, timeout: float) -> bool:
        """Whether it ends within so many seconds."""
        end = time.monotonic() + timeout
        while self.status is None:
            message = self._server.message(max(end - time.monotonic(), 0))
            if message is None:
                return False
            self._take(message)
        return True

    def end(self) -> None:
        """Ends it, and those that it has started."""
        if self.pid is None:
            return
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        while self.status is None:
            self._take(self._server.message(STARTING))

    def _take(self, message: dict[str, int] | None) -> None:
        if message is not None:
            self.pid = message.get("pid", self.pid)
            self.status = message.get("status")
