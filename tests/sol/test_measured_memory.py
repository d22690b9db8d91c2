"""The memory that is told before the first run is what a process takes, within 5%.

Where oneDNN has AVX2 alone it packs parts of matrices into memory that it tells nobody of.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processor import FLAGS
from tests.sol.gradient.test_kernels import has_onednn
from tests.sol.measured_memory import MODELS

# What a small model takes may lie in pages that the process has had before, of code that it has
# generated for smaller ones, say.
LEFT_BYTES = 1 << 21
PACKED_BYTES = 0 if "avx512f" in FLAGS else 12 << 20


@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="asks Linux for the peak")
@pytest.mark.skipif(not has_onednn(), reason="oneDNN is not there")
@pytest.mark.parametrize("name", MODELS)
def test_it_is_what_a_process_takes(name: str) -> None:
    script = Path(__file__).with_name("measured_memory.py")
    done = subprocess.run(
        [sys.executable, str(script), name],
        capture_output=True,
        text=True,
        env={**os.environ, "MXNET_CACHE": "0"},
    )
    assert done.returncode == 0, done.stderr
    for mode, (told, used) in json.loads(done.stdout.splitlines()[-1]).items():
        low, high = 0.95 * told - LEFT_BYTES, 1.05 * told + PACKED_BYTES
        assert low <= used <= high, (mode, told, used)
