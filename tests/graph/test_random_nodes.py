"""Random nodes of all operators on the CPU plan: `python -m tests.fuzz.nodes` runs more of them.

MXFFI_EXAMPLES has more cases of each operator run here, too.
"""

from __future__ import annotations

import os
import warnings

import pytest

from tests.fuzz.nodes import MAKERS, case_of, judged

CASES = max(2, int(os.environ.get("MXFFI_EXAMPLES", "0")))
PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_random_nodes(part: int) -> None:
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for operator in sorted(MAKERS)[part::PARTS]:
            for seed in range(CASES):
                case = case_of(operator, seed)
                found = judged(case, ["plan"])
                wrong += [f"{operator} {seed}: {one}: {case}" for one in found]
    assert not wrong, "\n".join(wrong)
