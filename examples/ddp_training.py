"""Trains an optimized module with several processes, which share the work of each batch.

`python examples/ddp_training.py [PROCESSES]` prints the losses: they are those of one process that
has the whole batch, as all have as much of it and torch's DistributedDataParallel averages the
gradients. It needs `pip install mxffi[graph] torch`.
"""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from mx import sol

BATCH, STEPS = 16, 10


def train(rank: int, processes: int, folder: str) -> None:
    """One process: an equal part of each batch."""
    dist.init_process_group(
        "gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=processes
    )
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // processes))
    torch.manual_seed(0)  # the same parameters and the same data everywhere
    model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
    inputs, noise = torch.randn(STEPS, BATCH, 8), torch.randn(STEPS, BATCH, 1)
    targets = inputs.sum(-1, keepdim=True).sin() + noise / 20
    own = slice(rank * BATCH // processes, (rank + 1) * BATCH // processes)

    parallel = DistributedDataParallel(sol.optimize(model, inputs[0, own]))
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.05, momentum=0.9)
    for x, target in zip(inputs[:, own], targets[:, own], strict=True):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(parallel(x), target)
        loss.backward()
        optimizer.step()
        mean = loss.detach() / processes
        dist.all_reduce(mean)
        if rank == 0:
            print(f"{mean.item():.6f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    if count < 1 or BATCH % count:
        # DistributedDataParallel averages gradients, whatever part of the batch they are of.
        sys.exit(f"PROCESSES: expected a divisor of {BATCH}, got {count}")
    with tempfile.TemporaryDirectory() as meeting:
        mp.spawn(train, (count, meeting), nprocs=count)
