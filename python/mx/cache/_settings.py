"""Where compiled models are kept, and how many bytes of them: the variables that mx.cache tells."""

from __future__ import annotations

import contextlib
import os
import re

from ffi.trust import distrust

DEFAULT_LIMIT = 4 * 10**9

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_LIMIT_FILE = "limit"


def is_on() -> bool:
    """Whether compiled models are kept. They are not where MXNET_CACHE has anything but 1: who
    names a folder there, or "off", does not want them in another one."""
    return os.environ.get("MXNET_CACHE", "") in ("", "1")


def misreading() -> str | None:
    """What is wrong with MXNET_CACHE, if anything is."""
    named = os.environ.get("MXNET_CACHE", "")
    if named in ("", "0", "1"):
        return None
    hint = ": MXNET_CACHE_DIR names the folder" if os.sep in named else ""
    return f"MXNET_CACHE: expected 0 or 1, got {named!r}{hint}"


def folder() -> str:
    """The folder of compiled models, whether it is there or not."""
    named = os.environ.get("MXNET_CACHE_DIR")
    if named:
        return os.path.abspath(os.path.expanduser(named))
    # The XDG specification says that relative paths are ignored.
    base = os.environ.get("XDG_CACHE_HOME", "")
    base = base if os.path.isabs(base) else os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "mxffi", "models")


def usable_folder() -> str:
    """The same, made where it is missing.

    OSError where it cannot be made; PermissionError where others may have written to it: what is in
    it gets executed.
    """
    path = folder()
    if not os.path.isabs(path):
        raise FileNotFoundError("the home folder is not known, name another in MXNET_CACHE_DIR")
    os.makedirs(path, mode=0o700, exist_ok=True)
    reason = distrust(path)
    if reason is not None and os.environ.get("MXNET_CACHE_TRUSTED") != "1":
        raise PermissionError(
            f"{reason}, so that what is in it may be somebody else's code: name another folder in "
            "MXNET_CACHE_DIR, or set MXNET_CACHE_TRUSTED=1 if you trust it"
        )
    return path


def bytes_of(text: str) -> int:
    """The number of bytes that "500MB" means; ValueError where it is none."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?B?)", text.strip().upper())
    if found is None:
        raise ValueError(f"expected a size such as 500MB or 2GB, got {text!r}")
    unit = found[2] if found[2].endswith("B") or not found[2] else found[2] + "B"
    return int(float(found[1]) * _UNITS[unit])


def text_of(size: int) -> str:
    """A number of bytes for people."""
    for unit in ("TB", "GB", "MB", "KB"):
        if size >= _UNITS[unit]:
            return f"{size / _UNITS[unit]:.3g} {unit}"
    return f"{size} B"


def limit() -> int:
    """How many bytes may be kept. ValueError where MXNET_CACHE_LIMIT is no size."""
    named = os.environ.get("MXNET_CACHE_LIMIT")
    if named:
        try:
            return bytes_of(named)
        except ValueError as error:
            raise ValueError(f"MXNET_CACHE_LIMIT: {error}") from None
    with contextlib.suppress(OSError, ValueError):
        with open(os.path.join(folder(), _LIMIT_FILE), encoding="ascii") as file:
            size = int(file.read())
            if size >= 0:
                return size
    return DEFAULT_LIMIT


def set_limit(size: int) -> None:
    """Writes it into the folder, for all processes that use that."""
    path = os.path.join(usable_folder(), _LIMIT_FILE)
    partial = f"{path}.{os.getpid()}.new"
    try:
        with open(partial, "w", encoding="ascii") as file:
            file.write(f"{size}\n")
        os.replace(partial, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(partial)
        raise
