"""What a device says of itself, and what users see of it."""

from __future__ import annotations

from pathlib import Path

import pytest

import mx

from .conftest import ROOT

TEMPLATE = ROOT / "accelerators" / "template" / "myacc.c"

# What the library writes; what mx.device_info has of it: kind and bus.
TOLD = {
    "nothing": ("", ("", "")),
    "a processor": (".kind = kMXAccCPUDevice", ("cpu", "")),
    "a card": ('.kind = kMXAccGPUDevice, .bus = "0000:3b:00.0"', ("gpu", "0000:3b:00.0")),
    "another": ('.kind = kMXAccNPUDevice, .bus = ""', ("npu", "")),
    "no kind that there is": (".kind = 77", ("", "")),
    "a text that cannot be read": (".bus = (const char*)1", ("", "")),
}


@pytest.mark.parametrize("isolate", [False, True], ids=["here", "isolated"])
@pytest.mark.parametrize(("text", "expected"), TOLD.values(), ids=TOLD)
def test_kind_and_bus(
    tmp_path: Path, compile_library, text: str, expected: tuple[str, str], isolate: bool
) -> None:
    name = '.name = "memory of the host"'
    source = TEMPLATE.read_text()
    assert source.count(name) == 1
    library = compile_library(tmp_path, source.replace(name, f"{name}, {text}"))
    info = mx.device_info(mx.load_acc(library, "device_told", isolate=isolate))
    mx.unload_acc("device_told")
    assert (info.name, info.kind, info.bus) == ("memory of the host", *expected)
