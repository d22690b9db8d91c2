"""A device: an accelerator whose library is compiled when it is first asked for."""

from __future__ import annotations

import functools
import subprocess
import tempfile
from pathlib import Path

import ffi

from .jit import CC


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Where the library is until the process ends."""
    return tempfile.TemporaryDirectory(prefix="sol_plugin_")


@functools.cache
def library() -> str:
    """The path of the library; OSError where there is no compiler, or it fails."""
    command = CC.find()
    if command is None:
        raise OSError("sol_plugin: there is no C compiler cc")
    target = Path(_folder().name) / "libplainacc.so"
    flags = ["-std=c99", "-O2", "-fPIC", "-shared", "-fvisibility=hidden"]
    source = Path(__file__).with_name("device.c")
    include = Path(ffi.__file__).with_name("include")
    done = subprocess.run(
        [*command, *flags, f"-I{include}", str(source), "-o", str(target)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise OSError(f"sol_plugin: cc fails: {done.stderr}")
    return str(target)
