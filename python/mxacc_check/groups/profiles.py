"""What a library tells of the work of models while it is asked to.

These checks belong to the group of graphs.
"""

from __future__ import annotations

from typing import Any

from .. import abi
from ..chains import Chain, X, expect_equal, infer, loaded, supported
from ..suite import Run
from .graphs import group

SENTENCE = (
    "Begins to give records of what is done on a device to sink; ends with sink NULL, after which "
    "none comes."
)
NODES = 3


@group.check("profile", SENTENCE)
def profile(run: Run) -> None:
    """Records of a model's work have a name, a node of the graph and an end that is not before the
    begin, and none comes when nobody asks"""
    run.need("profile")
    chain = Chain(supported(run)[:1] * NODES)
    records: list[tuple[bytes, int, int, int]] = []

    def take(context: int | None, given: Any) -> None:
        one = given.contents
        records.append((one.name or b"", one.node, one.begin_ns, one.end_ns))

    sink = abi.MXAccProfileSink(take)
    with loaded(run, chain) as model:
        for turn in range(2):
            with run.step(f"turn {turn}"):
                run.plugin.call("profile", run.device, sink, None)
                try:
                    expect_equal(run, infer(run, model, X), chain.expected(X))
                finally:
                    run.plugin.call("profile", run.device, abi.MXAccProfileSink(), None)
                told, records[:] = list(records), []
                run.expect(bool(told), "a record of what the model has done", told)
                run.expect(all(name for name, *_ in told), "a name of each record", told)
                nodes = {node for _, node, _, _ in told}
                run.expect(nodes <= set(range(NODES + 1)), f"nodes from 0 to {NODES}", nodes)
                run.expect(all(end >= begin for *_, begin, end in told), "ends behind begins", told)
                expect_equal(run, infer(run, model, X), chain.expected(X))
                run.expect(not records, "no record once profile has ended", records)
