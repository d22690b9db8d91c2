"""The onnx package's own tests of models, through sol.optimize."""

from __future__ import annotations

import onnx_ir
import pytest

from mx import sol
from tests.graph.test_onnx_models import MODELS, NOT_RUN, content_of
from tests.graph.test_onnx_nodes import check_equal


@pytest.mark.parametrize("given", ["path", "bytes"])
def test_models(given: str) -> None:
    """Those of one name after the other, as each takes a fiftieth of a second."""
    names = [name for name in MODELS if not any(name.startswith(begin) for begin in NOT_RUN)]
    assert len(names) > 100
    for name in names[given == "bytes" :: 2]:
        path = MODELS[name]
        graph = onnx_ir.load(path).graph
        fast = sol.optimize(str(path) if given == "path" else path.read_bytes())
        for folder in sorted(path.parent.glob("test_data_set_*")):
            files = [folder / f"input_{i}.pb" for i in range(len(graph.inputs))]
            inputs = [
                content_of(file, value)
                for file, value in zip(files, graph.inputs, strict=True)
                if file.exists()
            ]
            found = fast(*inputs)
            found = [found] if len(graph.outputs) == 1 else found
            for i, (one, value) in enumerate(zip(found, graph.outputs, strict=True)):
                try:
                    check_equal(one, content_of(folder / f"output_{i}.pb", value), 1e-3, 1e-6)
                except AssertionError as error:
                    raise AssertionError(f"{name}: {error}") from None
