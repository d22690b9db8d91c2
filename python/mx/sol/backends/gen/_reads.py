"""Which of its inputs a kernel reads."""

from __future__ import annotations

import re

from ._kernel import GenKernel


def read_inputs(kernel: GenKernel) -> set[int] | None:
    """The inputs that a kernel reads, by position; None where its source does not show that.

    Weights that are packed for a kernel are constants of it; the model's own are not needed then.
    """
    code = re.sub(r"/\*.*?\*/|//[^\n]*", "", kernel.source, flags=re.S)
    body = code.rpartition(f"void {kernel.symbol}(")[2].partition("{")[2]
    indices = re.findall(r"\bin\[([^\]]*)\]", body)
    handed_on = re.search(r"\bin\b(?!\[)", body.replace("(void)in;", ""))
    if handed_on or not all(index.isdigit() for index in indices):
        return None
    return set(map(int, indices))
