"""Runs campaigns in processes of their own, so that a program which ends one is told, not lost."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

from .campaign import Campaign
from .shrink import Program

# Of what a process says as it ends, the report of a sanitizer has its cause at the beginning.
LINES_OF_ERRORS = 40


@dataclass
class Trace:
    """A file that says how far a campaign is, also when its process has ended without a word."""

    file: IO[str]
    campaign: Campaign

    def write(self, program: Program) -> None:
        """Tells the program that runs, and what was before it."""
        state = {
            "number": self.campaign.number,
            "statements": self.campaign.statements + len(program),
            "program": program,
        }
        self.file.seek(0)
        self.file.truncate()
        self.file.write(json.dumps(state))
        self.file.flush()


def child(campaign: Campaign, statements: int, most: int, trace: Path) -> None:
    """What a process does: a line of JSON for each difference, and one in the end."""
    with trace.open("w") as file:
        campaign.before = Trace(file, campaign).write
        for text in campaign.run(statements, most):
            signature = next(key for key, value in campaign.found.items() if value == text)
            tell({"signature": signature, "text": text})
    tell({name: getattr(campaign, name) for name in ("statements", "programs", "differences")})
    tell({"excused": campaign.excused})


def tell(message: dict[str, Any]) -> None:
    print(json.dumps(message), flush=True)


@dataclass
class Campaigns:
    """Campaigns of one seed that share its programs, each in a process that is started anew."""

    seed: int
    processes: int
    first: int = 0
    most: int = 20
    # More options of the processes' command lines.
    options: tuple[str, ...] = ()
    totals: Counter[str] = field(default_factory=Counter)
    excused: Counter[str] = field(default_factory=Counter)
    found: dict[tuple[str, ...], str] = field(default_factory=dict)

    def run(self, statements: int) -> Iterator[str]:
        """The differences and crashes of so many statements, as they are found."""
        said: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        with ThreadPoolExecutor(self.processes) as pool:
            share = -(-statements // self.processes)
            firsts = range(self.first, self.first + self.processes)
            works = [pool.submit(self.work, first, share, said) for first in firsts]
            running = self.processes
            while running:
                message = said.get()
                running -= message is None
                text = self.take(message or {})
                if text:
                    yield text
            for work in works:
                work.result()

    def take(self, message: dict[str, Any]) -> str | None:
        """Counts what a process says; the text of what was not told before."""
        self.excused.update(message.pop("excused", {}))
        signature, text = tuple(message.pop("signature", ())), message.pop("text", None)
        self.totals.update(message)
        if text is None or signature in self.found:
            return None
        self.found[signature] = text
        return str(text)

    def work(self, first: int, share: int, said: SimpleQueue[dict[str, Any] | None]) -> None:
        """Every so manyth program from the first on, in one process after another."""
        try:
            with tempfile.TemporaryDirectory() as folder:
                trace = Path(folder) / "trace"
                while share > 0 and len(self.found) < self.most:
                    state = self.one_process(first, share, trace, said)
                    if state is None:
                        break
                    share -= state["statements"]
                    first = state["number"] + self.processes
        finally:
            said.put(None)

    def one_process(
        self, first: int, share: int, trace: Path, said: SimpleQueue[dict[str, Any] | None]
    ) -> dict[str, Any] | None:
        """Runs one to its end; what its trace says if it has not come to that."""
        command = [sys.executable, "-m", __package__ or "", *self.options, f"--seed={self.seed}"]
        command += [f"--first={first}", f"--step={self.processes}", f"--statements={share}"]
        command += [f"--most={self.most}", f"--trace={trace}"]
        trace.unlink(missing_ok=True)
        with tempfile.TemporaryFile("w+") as errors:
            with subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=errors, text=True
            ) as process:
                for line in process.stdout or ():
                    said.put(json.loads(line))
            status = process.returncode
            if not status:
                return None
            errors.seek(0)
            words = errors.read()
        if not trace.exists() or not trace.stat().st_size:
            raise RuntimeError(f"{command} has not begun: exit status {status}\n{words}")
        state: dict[str, Any] = json.loads(trace.read_text())
        said.put(self.crash(state, status, words))
        return state

    def crash(self, state: dict[str, Any], status: int, words: str) -> dict[str, Any]:
        """The message of a program that ended its process."""
        program = "\n".join(state["program"])
        said = "\n".join(f"# {line}" for line in words.splitlines()[:LINES_OF_ERRORS])
        text = (
            f"# program {state['number']} of seed {self.seed} ended its process, or did while it "
            f"was made small: exit status {status}\n{said}\n{program}\n"
        )
        counts = {"statements": state["statements"], "programs": 1, "differences": 1}
        last = state["program"][-1].split("(")[0].split(" = ")[-1]
        return {"signature": ("crash", str(status), last), "text": text, **counts}

    def __str__(self) -> str:
        known = "".join(f"\n  {n} times: {text}" for text, n in sorted(self.excused.items()))
        return (
            f"{self.totals['statements']} statements in {self.totals['programs']} programs of seed "
            f"{self.seed}: {self.totals['differences']} differences of {len(self.found)} kinds; "
            f"known ones:{known or ' none'}"
        )
