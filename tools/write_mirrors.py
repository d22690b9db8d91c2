"""Writes what Python has of the structs of our C headers; `make format` does, `make lint` checks.

`python tools/write_mirrors.py`, after a change to one of the headers; with --check it writes
nothing, and fails where a file is not what the headers say.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

from mirrors import cython  # noqa: E402
from mirrors.header import Header, read  # noqa: E402
from mirrors.python import Writer, flags  # noqa: E402

NOTICE = "Written by tools/write_mirrors.py; do not edit."
SOURCES = "What these headers say: {}."
RUNTIME = ("include/mxnet/runtime/dlpack.h", "include/mxnet/runtime/c_runtime_api.h")
FIELDS = ("MXNetFieldGetter", "MXNetFieldSetter")
# Of both paths, so that neither ctypes nor Cython has to be there for them.
OF_BOTH_PATHS = ("MXNetParamFlag", "MXNetParamRole")


@dataclass(frozen=True)
class Mirror:
    path: str
    headers: tuple[str, ...]
    make: Callable[[Header], str]

    def text(self) -> str:
        made = self.make(read(ROOT / header for header in self.headers))
        sources = SOURCES.format(", ".join(Path(header).name for header in self.headers))
        if not self.path.endswith(".py"):
            return f"# {sources}\n# {NOTICE}\n\n{made}"
        head = f'"""{sources}\n\n{NOTICE}\n"""\n\nfrom __future__ import annotations\n\n'
        return _formatted(head + made)


MIRRORS = (
    Mirror(
        "python/ffi/_ctypes/c_api.py",
        RUNTIME,
        lambda header: Writer(header, False, FIELDS, OF_BOTH_PATHS).write(),
    ),
    Mirror(
        "python/ffi/_cython/c_api.pxi",
        RUNTIME,
        lambda header: cython.write(header, "mxnet/runtime/c_runtime_api.h", ("DLDeviceType",)),
    ),
    Mirror("python/ffi/_parameters.py", RUNTIME, lambda header: flags(header, OF_BOTH_PATHS)),
    Mirror(
        "python/mxacc_check/abi.py",
        ("include/mxnet_acc.h", "src/mxacc_check/stress.h"),
        lambda header: Writer(header, True).write(),
    ),
)


def _formatted(text: str) -> str:
    """As ruff sorts imports and breaks lines."""
    ruff = str(Path(sys.executable).with_name("ruff"))
    for command in (["check", "--fix-only", "--quiet", "--select", "I"], ["format", "--quiet"]):
        given = [ruff, *command, "--stdin-filename", str(ROOT / "python" / "mirror.py"), "-"]
        done = subprocess.run(given, input=text, capture_output=True, text=True, check=True)
        text = done.stdout
    return text


def main() -> int:
    differing = [m for m in MIRRORS if _read(ROOT / m.path) != m.text()]
    if "--check" not in sys.argv[1:]:
        for mirror in differing:
            (ROOT / mirror.path).write_text(mirror.text(), encoding="utf-8")
        return 0
    for mirror in differing:
        print(f"{mirror.path} is not what {' and '.join(mirror.headers)} say: `make format`")
    return 1 if differing else 0


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


if __name__ == "__main__":
    sys.exit(main())
