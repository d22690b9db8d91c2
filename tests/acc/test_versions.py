"""Libraries that were compiled with an older or a newer header, in this MXNet."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import mx

from .conftest import ROOT

HEADER = (ROOT / "include" / "mxnet_acc.h").read_text()
# All but those that come in runs.
STRUCTS = ("MXAccError", "MXAccRuntime", "MXAccDeviceInfo", "MXAccOperator", "MXAccExecutor")
STRUCTS += ("MXAccGraph", "MXAccApi")
# The last members that may be missing: what came with later minor versions.
LATER = {
    "MXAccDeviceInfo": ("reason", "kind", "memories", "largest", "bus"),
    "MXAccRuntime": (
        *("alloc_output", "should_stop", "progress"),
        *("retain_weight", "release_weight", "get_extension"),
    ),
    "MXAccApi": (
        *("modelKey", "checkModel", "importModel", "configure"),
        *("mx_zero", "profile", "getExtension"),
    ),
}


def newer(header: str) -> str:
    """Each struct has members that this MXNet does not know."""
    for name in STRUCTS:
        header, count = re.subn(
            rf"\n\}} {name};", f"\n  void* added_later;\n  int64_t and_this[4];\n}} {name};", header
        )
        assert count == 1, name
    return header.replace("#define MXACC_ABI_MINOR 0", "#define MXACC_ABI_MINOR 7")


def older(header: str) -> str:
    """The structs end before what came later."""
    for name, members in LATER.items():
        begin = header.index(f"typedef struct {name} {{")
        end = header.index(f"\n}} {name};", begin)
        body = header[begin:end]
        for member in members:
            declared = rf"\n  [\w *]+?(?:\(\*{member}\)\([^;]*|\b{member});[^\n]*"
            body, count = re.subn(declared, "", body)
            assert count == 1, (name, member)
        header = header[:begin] + body + header[end:]
    return header


HEADERS = {"older": older(HEADER), "as it is": HEADER, "newer": newer(HEADER)}
SIZES = {"older": -7, "as it is": 0, "newer": 5}  # of the table, in members


@pytest.fixture(scope="module", params=HEADERS)
def version(request, tmp_path_factory) -> tuple[str, Path]:
    """The name of a header, and the template compiled with it."""
    folder = tmp_path_factory.mktemp("header")
    (folder / "mxnet_acc.h").write_text(HEADERS[request.param])
    library = folder / "libmyacc.so"
    source = ROOT / "accelerators" / "template" / "myacc.c"
    command = ["cc", "-std=c99", "-Wall", "-Werror", "-shared", "-fPIC", f"-I{folder}"]
    subprocess.run([*command, source, "-o", library], check=True)
    return request.param, library


def test_loads_and_computes(version: tuple[str, Path]) -> None:
    name, library = version
    ctx = mx.load_acc(library, "otherheader")
    (listed,) = [acc for acc in mx.accelerators() if acc.name == "otherheader"]
    assert listed.version == ("1.7" if name == "newer" else "1.0")
    assert listed.devices[0].name == "memory of the host"
    mx.acc_stats(reset=True)
    a = mx.np.array([[1.0, 2.0], [3.0, 4.0]], ctx=ctx)
    assert mx.np.negative(a + a).tolist() == [[-2, -4], [-6, -8]]
    assert {row.operator: row.on_accelerator for row in mx.acc_stats()} == {"add": 1, "negative": 1}
    with pytest.raises(NotImplementedError, match="otherheader has no options to configure"):
        ctx.configure(key="value")
    del a
    mx.unload_acc("otherheader")


def test_the_headers_differ(version: tuple[str, Path], tmp_path: Path) -> None:
    """Or the test above would show nothing."""
    name, library = version
    source = tmp_path / "size.c"
    source.write_text(
        "#include <mxnet_acc.h>\n#include <stdio.h>\n"
        'int main(void) { return printf("%zu", sizeof(MXAccApi)) < 0; }\n'
    )
    sizes = []
    for folder in (ROOT / "include", library.parent):
        program = tmp_path / "size"
        subprocess.run(["cc", f"-I{folder}", source, "-o", program], check=True)
        sizes.append(int(subprocess.run([program], check=True, capture_output=True).stdout))
    assert sizes[1] - sizes[0] == SIZES[name] * 8


def test_another_major_version_is_rejected(tmp_path: Path) -> None:
    shutil.copy(ROOT / "accelerators" / "template" / "myacc.c", tmp_path)
    changed = HEADER.replace("#define MXACC_ABI_MAJOR 1", "#define MXACC_ABI_MAJOR 2")
    (tmp_path / "mxnet_acc.h").write_text(changed)
    library = tmp_path / "libmyacc.so"
    command = ["cc", "-shared", "-fPIC", f"-I{tmp_path}", tmp_path / "myacc.c", "-o", library]
    subprocess.run(command, check=True)
    with pytest.raises(ImportError, match=r"built against version 2\.0 of mxnet_acc\.h, .* 1\.0"):
        mx.load_acc(library)
