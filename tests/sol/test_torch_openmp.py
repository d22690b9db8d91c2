"""Plans of modules on the threads of torch's OpenMP.

Each case is a process, in which this file is a script: where other threads have run loops of OpenMP
before, there are more of its threads than processors, and then those of a team do not wait awake.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Callable
from time import perf_counter

import pytest
import torch

import ffi
import mx
from mx import sol

Parallel = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint
)  # of a body, its data, a number of threads, and flags
MOST_SECONDS = 60
begun: list[int] = []


def count_regions() -> Callable[..., None]:
    """Has plans call what counts them, which has to be kept."""
    path = os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")
    library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    real = Parallel(("GOMP_parallel", library))

    @Parallel
    def counted(body, data, threads, flags) -> None:
        begun.append(threads)
        real(body, data, threads, flags)

    sol.optimize(torch.nn.Linear(2, 2), torch.ones(1, 2))(torch.ones(1, 2))  # tells of torch's
    ffi.get_global_func("mx.use_openmp")(ctypes.cast(counted, ctypes.c_void_p).value)
    return counted


def made() -> tuple[torch.nn.Module, torch.Tensor]:
    """A module that takes more than a millisecond."""
    torch.manual_seed(0)
    layers = [torch.nn.Linear(1024, 1024), torch.nn.Tanh(), torch.nn.Linear(1024, 1024)]
    return torch.nn.Sequential(*layers), torch.randn(256, 1024)


def inference(module, x) -> list[torch.Tensor]:
    """The outputs."""
    with torch.no_grad():
        return [module(torch.relu(x))]


def training(module, x) -> list[torch.Tensor]:
    """The loss and the gradients."""
    module.zero_grad()
    loss = module(torch.relu(x)).square().mean()
    loss.backward()
    return [loss.detach(), *(one.grad.clone() for one in module.parameters())]


# What is run, and how many plans that has.
RUNS = {"inference": (inference, 1), "training": (training, 2)}


def main(name: str, threads: int) -> None:
    """Prints what regions were asked for, and how far results are from torch's at most."""
    torch.set_num_threads(2)
    mx.set_num_threads(threads)
    kept = count_regions()
    run, plans = RUNS[name]
    wanted = plans if threads > 1 else 0
    module, x = made()
    expected = run(module, x)
    fast = sol.optimize(module, x)
    difference, runs = 0.0, 0
    # Each plan begins one in its second run, as it is known to be long then, or later where torch's
    # other thread is not at a processor when it is looked at.
    end = perf_counter() + MOST_SECONDS
    while runs < 4 or (len(begun) < wanted and perf_counter() < end):
        for one, other in zip(run(fast, x), expected, strict=True):
            difference = max(difference, float((one - other).abs().max() / other.abs().max()))
        runs += 1
    assert kept is not None
    print(json.dumps({"threads": begun, "difference": difference}))


@pytest.mark.parametrize(
    ("run", "threads", "least"),
    [("inference", 2, 1), ("training", 2, 2), ("training", 1, 0)],
    ids=["inference", "training", "one thread begins none"],
)
def test_regions_that_plans_begin(run: str, threads: int, least: int) -> None:
    command = [sys.executable, __file__, run, str(threads)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    begun = found["threads"]
    assert (len(begun) >= least and set(begun) == {0}) if least else not begun
    assert found["difference"] < 1e-4


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
