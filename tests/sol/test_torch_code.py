"""Code of torch that a capture has needed does not count as memory of the process from then on."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# It prints how many KiB of the code of torch are in memory, before a module is captured, behind
# that, and behind the second of two steps; and how far gradients are from torch's.
PROGRAM = """
import re
import torch
from mx import sol

def in_memory():
    found, counts = 0, False
    for line in open("/proc/self/smaps"):
        head = re.match(r"[0-9a-f]+-[0-9a-f]+ (\\S+) .*?(/.*)?$", line.rstrip())
        if head:
            counts = (head[2] or "").endswith("libtorch_cpu.so") and head[1][1:3] == "-x"
        elif counts and line.startswith("Rss:"):
            found += int(line.split()[1])
    return found

module = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2))
x = torch.randn(3, 6)
module(x).square().sum().backward()
wanted = [one.grad for one in module.parameters()]
print(in_memory())
fast = sol.optimize(module, x)
print(in_memory())
for _ in range(2):
    module.zero_grad()
    fast(x).square().sum().backward()
print(in_memory())
pairs = zip(module.parameters(), wanted)
print(max(float((one.grad - other).abs().max()) for one, other in pairs))
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/pagemap"), reason="asks Linux for pages")
@pytest.mark.parametrize("cache", ["0", "1"])
def test_code_is_given_back(cache: str) -> None:
    environment = {**os.environ, "MXNET_CACHE": cache}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    before, captured, trained, error = map(float, done.stdout.split())
    assert trained < before / 2 and float(error) < 1e-5
    # What is found in the cache is not captured.
    assert cache == "1" or captured < before / 2
