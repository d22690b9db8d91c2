"""What packages say of themselves is what importlib.metadata has of them."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from mx import _installed

NAMES = ("numpy", "onnx", "onnx-ir", "onnx_ir", "ONNX.IR", "onednn-cpu-gomp", "ml_dtypes", "pytest")


def there(name: str) -> bool:
    try:
        return bool(metadata.version(name))
    except metadata.PackageNotFoundError:
        return False


@pytest.mark.parametrize("name", [name for name in NAMES if there(name)])
def test_it_is_what_metadata_says(name) -> None:
    assert _installed.version_of(name) == metadata.version(name)
    for file in [one for one in metadata.files(name) or () if one.name.endswith(".so")][:3]:
        found = _installed.file_of(name, file.name)
        assert found is not None and Path(found).samefile(str(file.locate()))
    assert _installed.file_of(name, "nobody has it") is None


# Folders of a path, and the version that is told then.
FOLDERS = {
    "as pip does it": (
        {"some_thing-1.2+x.dist-info/METADATA": "Name: a\nVersion: 1.2+x\n"},
        "1.2+x",
    ),
    "in capitals": ({"Some_Thing-1.dist-info/METADATA": "Version: 1\n"}, "1"),
    "two of one": (
        {f"some_thing-{n}.dist-info/METADATA": f"Version: {n}\n" for n in (1, 2)},
        None,
    ),
    "none": ({"some_thing_else-1.dist-info/METADATA": "Version: 1\n"}, None),
    "without a version": ({"some_thing-1.dist-info/METADATA": "Name: a\n\nVersion: 1\n"}, None),
    "no text": ({"some_thing-1.dist-info/METADATA": b"\xff\xfe\xff"}, None),
    "nothing in it": ({"some_thing-1.dist-info/OTHER": ""}, None),
    "an egg": ({"some_thing-1.egg-info/PKG-INFO": "Version: 1\n"}, None),
}


@pytest.mark.parametrize(("files", "expected"), FOLDERS.values(), ids=FOLDERS)
def test_where_it_is_looked_for(files, expected, tmp_path, monkeypatch) -> None:
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir()
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    monkeypatch.setattr(sys, "path", [str(tmp_path / "nothing"), str(tmp_path)])
    assert _installed.version_of("some.thing") == expected
    assert _installed.file_of("some.thing", "library.so") is None


# What is asked for after mx.graph has been imported, and was not by it.
LATER = {
    "import importlib; print(importlib.metadata.version('numpy') == known)": "True",
    "import importlib.metadata; print(importlib.metadata.version('numpy') == known)": "True",
    "from importlib import metadata; print(metadata.version('numpy') == known)": "True",
    "from importlib.metadata import version; print(version('numpy') == known)": "True",
    "from importlib import metadata\ntry: metadata.version('n-o')\n"
    "except metadata.PackageNotFoundError: print('none')": "none",
    "import onnx; print(onnx.__version__ == of_onnx)": "True",
    "import tarfile, onnx.utils; print(onnx.utils.tarfile.TarFile is tarfile.TarFile)": "True",
}


@pytest.mark.parametrize("then", LATER)
def test_it_comes_when_it_is_used(then) -> None:
    program = f"""
import sys, numpy, mx.graph
print([name for name in ("importlib.metadata", "tarfile", "html", "email") if name in sys.modules])
known, of_onnx = numpy.__version__, {metadata.version("onnx")!r}
{then}
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["[]", LATER[then]], done.stderr


def test_who_imported_onnx_before_has_all() -> None:
    program = "import onnx, sys, mx.graph; print('importlib.metadata' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "True\n", done.stderr


def test_threads_that_import_it_meanwhile_get_all() -> None:
    program = """
import threading
is_over, problems = threading.Event(), []

def use():
    while not is_over.is_set():
        from importlib.metadata import PackageNotFoundError, version
        try:
            version("no-such-package")
        except PackageNotFoundError:
            version("numpy")

def checked():
    try:
        use()
    except BaseException as error:
        problems.append(repr(error))

threads = [threading.Thread(target=checked) for _ in range(4)]
for thread in threads:
    thread.start()
import mx.graph
is_over.set()
for thread in threads:
    thread.join()
print(problems)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
