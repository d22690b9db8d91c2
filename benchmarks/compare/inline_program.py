"""What a fresh interpreter runs for the table of load_inline: NAME FOLDER [STEPS].

Prints the seconds of wall time and of processor time from before the load until the first call has
returned. It is run as a file and imports little itself, so that everyone pays for their imports.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

FUNCTION = "int add(int a, int b) { return a + b; }"
NANOBIND = f"""\
#include <nanobind/nanobind.h>
{FUNCTION}
NB_MODULE(demo, m) {{ m.def("add", &add); }}
"""

Load = Callable[[], Any]


def ours() -> Load:
    """This project's load_inline."""
    import ffi

    # An attribute that imports the subpackage when it is first used.
    return lambda: ffi.cpp.load_inline("demo", FUNCTION, "add")


def tvm_ffi() -> Load:
    """tvm-ffi's load_inline."""
    import tvm_ffi

    def load() -> Any:
        import tvm_ffi.cpp

        return tvm_ffi.cpp.load_inline("demo", cpp_sources=FUNCTION, functions="add")

    del tvm_ffi
    return load


def nanobind(folder: str, steps: str) -> Load:
    """The compiler's commands for a module of nanobind, and its import.

    `steps` is JSON: commands to run before the clock starts, commands to run at once, and a last.
    """
    import importlib.machinery
    import importlib.util
    import json
    import subprocess

    before, at_once, last = json.loads(steps)
    with open(os.path.join(folder, "demo.cpp"), "w") as file:
        file.write(NANOBIND)
    for command in before:
        subprocess.run(command, cwd=folder, check=True)

    def load() -> Any:
        running = [subprocess.Popen(command, cwd=folder) for command in at_once]
        statuses = [process.wait() for process in running]
        if any(statuses):
            raise RuntimeError("the compiler failed")
        subprocess.run(last, cwd=folder, check=True)
        path = os.path.join(folder, "demo.so")
        loader = importlib.machinery.ExtensionFileLoader("demo", path)
        spec = importlib.util.spec_from_loader("demo", loader)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        return module

    return load


def processor_seconds() -> float:
    """Processor time of this process and of those it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def main(name: str, folder: str, *steps: str) -> None:
    """Loads, calls and prints."""
    load = {"ours": ours, "tvm_ffi": tvm_ffi}[name]() if not steps else nanobind(folder, *steps)
    processor, start = processor_seconds(), time.perf_counter()
    result = load().add(1, 2)
    wall = time.perf_counter() - start
    processor = processor_seconds() - processor
    if result != 3:
        raise RuntimeError(f"add(1, 2) is {result}")
    print(wall, processor)


if __name__ == "__main__":
    main(*sys.argv[1:])
