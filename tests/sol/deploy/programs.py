"""Programs in C around deployed sources, which read inputs from files."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from .conftest import Case
from .loaded import Array


def run(command: Sequence[str | Path], folder: Path, stdin: str = "") -> str:
    """What a command prints; its words where it fails."""
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        input=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


_MAIN = """\
#include <stdio.h>
#include <stdlib.h>
#include "{name}.h"

static void *filled(const char *path, size_t bytes) {{
  char *data = malloc(bytes);
  FILE *file = fopen(path, "rb");
  if (file == NULL || fread(data, 1, bytes, file) != bytes) exit(9);
  fclose(file);
  return data;
}}

int main(void) {{
  void *arrays[] = {{{inputs}, {outputs}}};
  char *arena = malloc(PREDICT_ARENA_BYTES);
  int status = predict_check();
  if (status == PREDICT_OK) status = predict({given}, arena, PREDICT_ARENA_BYTES, NULL);
  FILE *file = fopen("{last}", "wb");
  fwrite(arrays[{count}], 1, {bytes}, file);
  fclose(file);
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) free(arrays[i]);
  free(arena);
  return status;
}}
"""


def write_main(case: Case, name: str, folder: Path) -> Path:
    """A program that calls the model with the inputs of a case, each in memory of its own size,
    and writes the first output into the file output.bin."""
    for number, array in enumerate(case.inputs):
        array.tofile(folder / f"input{number}.bin")
    inputs = [f'filled("input{n}.bin", {one.nbytes})' for n, one in enumerate(case.inputs)]
    outputs = [f"malloc({one.nbytes})" for one in case.expected]
    count = len(inputs) + len(outputs)
    path = folder / "main.c"
    path.write_text(
        _MAIN.format(
            name=name,
            inputs=", ".join(inputs),
            outputs=", ".join(outputs),
            given=", ".join(f"arrays[{n}]" for n in range(count)),
            last="output.bin",
            count=len(inputs),
            bytes=case.expected[0].nbytes,
        )
    )
    return path


def output_of(case: Case, folder: Path) -> list[Array]:
    """What such a program has written."""
    import numpy

    (shape, dtype) = case.expected[0].shape, case.expected[0].dtype
    return [numpy.fromfile(folder / "output.bin", dtype).reshape(shape)]
