"""What loading and planning a chain of nodes takes, by their number: it is to grow with it.

`python -m benchmarks.compare.models.growth [--nodes N ...]` prints microseconds of processor time
and KiB of memory for each node, of a process for each length.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from time import process_time

import numpy
import onnx
from onnx import helper

from benchmarks.compare.models.processes import peak

LENGTHS = (10, 100, 1_000, 10_000, 100_000)


def chain(count: int) -> bytes:
    """The ONNX file of a chain in which no node is a part of the one before."""
    names = [f"v{index}" for index in range(count + 1)]
    nodes = [
        helper.make_node("Sigmoid" if index % 2 else "Neg", [names[index]], [names[index + 1]])
        for index in range(count)
    ]
    ends = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["N", 4])
        for name in (names[0], names[-1])
    ]
    graph = helper.make_graph(nodes, "chain", ends[:1], ends[1:])
    data: bytes = helper.make_model(graph).SerializeToString()
    return data


def measure(count: int) -> dict[str, float]:
    """Seconds of each part, and MiB, in this process."""
    import mx.graph

    x = numpy.ones((1, 4), "float32")
    mx.graph.Plan(mx.graph.load(chain(10)))(x)
    data = chain(count)
    before = peak()
    times = [process_time()]
    graph = mx.graph.load(data)
    times.append(process_time())
    plan = mx.graph.Plan(graph)
    times.append(process_time())
    plan(x)
    times.append(process_time())
    load, passes, first = (end - begin for begin, end in zip(times, times[1:], strict=False))
    return {"load": load, "passes": passes, "plan": first, "memory": peak() - before}


def main() -> None:
    """Prints a row for each length; or, in a process for one length, what it takes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--nodes", type=int, nargs="+", default=LENGTHS)
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure)))
        return
    print("| nodes | load, us a node | passes | plan and first run | KiB a node |")
    print("|---|---|---|---|---|")
    for count in options.nodes:
        child = [sys.executable, "-m", "benchmarks.compare.models.growth", "--measure", str(count)]
        done = subprocess.run(child, check=True, stdout=subprocess.PIPE, text=True)
        found = json.loads(done.stdout)
        cells = [f"{1e6 * found[key] / count:.0f}" for key in ("load", "passes", "plan")]
        memory = 1024 * found["memory"] / count
        print(f"| {count:,} | {' | '.join(cells)} | {memory:.1f} |", flush=True)


if __name__ == "__main__":
    main()
