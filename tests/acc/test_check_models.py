"""What mxacc-check finds in libraries that compile models: the template with one fault each."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from .conftest import ROOT
from .test_check import broken, check, findings

TEMPLATE = ROOT / "accelerators" / "template" / "mymodel.c"

# What is written otherwise in the template; the check that finds it, and what that says.
FAULTS = {
    "byte_offset of a run": (
        ("(char*)tensor->tensor.data + tensor->tensor.byte_offset", "tensor->tensor.data"),
        *("graphs.results", "bytes before its first element"),
    ),
    "writes behind the output": (
        ("i < count; ++i) out[i]", "i <= count; ++i) out[i]"),
        *("graphs.results", "0 bytes behind its last element"),
    ),
    "changes its input": (
        ("out[i] = x[i] < 0 ? 0 : x[i];", "out[i] = x[i] < 0 ? 0 : x[i], ((float*)x)[i] = 0;"),
        *("graphs.results", "it has changed: its elements were"),
    ),
    "the graph's shape is kept": (
        ("model->tensor.tensor.shape = model->shape;", ""),
        *("graphs.tensors", "(77, 77)"),
    ),
    "no outputs": (("out->outputs = &model->tensor;", ""), "graphs.tensors", "NULL"),
    "any option": (("if (num_options != 0)", "if (0)"), "graphs.wrong", "success"),
    "models are lost": (
        ("out->unloadModel = free;", ""),
        *("leaks.models", "bytes more by each call"),
    ),
    "memory is lost by each run": (
        ("size_t count = 1;", "size_t count = malloc(100) != NULL;"),
        *("leaks.models", "bytes more by each call"),
    ),
}


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Compiles the template with a text replaced; returns the library."""

    def build(old: str, new: str) -> Path:
        source = TEMPLATE.read_text()
        assert source.count(old) == 1, f"the template does not have {old!r} once"
        folder = tmp_path_factory.mktemp("model")
        (folder / "model.c").write_text(source.replace(old, new))
        command = ["cc", "-std=gnu99", "-w", "-O0", "-shared", "-fPIC", f"-I{ROOT / 'include'}"]
        library: Path = folder / "libmodel.so"
        subprocess.run([*command, folder / "model.c", "-o", library], check=True)
        return library

    return build


@pytest.mark.parametrize(("change", "name", "words"), FAULTS.values(), ids=FAULTS)
def test_finds(build, change, name, words) -> None:
    report = check(build(*change), "--quick", "--only", name)
    found = findings(report)
    assert report["status"] == 1 and list(found) == [name] and not broken(report)
    assert any(words in one["got"] for one in found[name])


def test_conforms_without_a_fault(build) -> None:
    report = check(
        build("malloc has no more", "no more"), "--quick", "--only=graphs", "--only=leaks"
    )
    assert (report["status"], findings(report), broken(report)) == (0, {}, [])
