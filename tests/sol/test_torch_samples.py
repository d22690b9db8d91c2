"""A part of the samples that torch tests its own modules and operators with.

`MXFFI_TEST_TURN` chooses another of the twenty parts; `python -m tests.sol.samples` runs all.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TURN = os.environ.get("MXFFI_TEST_TURN", "0")


def test_samples() -> None:
    """In a process of its own: torch's tests switch more of torch than others of this run expect,
    and what has ended the process is told."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.sol.samples", "--turn", TURN, "--samples", "1"],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr.split("\r")[-1]
    assert "right" in done.stdout
