"""What this process has: memory, threads, descriptors."""

from __future__ import annotations

import ctypes
import gc
import mmap
import os


def resident() -> int:
    """Bytes of memory in use, without what the allocator merely keeps."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * mmap.PAGESIZE


class _Allocated(ctypes.Structure):
    """The struct mallinfo2 of glibc."""

    _fields_ = [
        *((name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd")),
        *((name, ctypes.c_size_t) for name in ("usmblks", "fsmblks", "uordblks", "fordblks")),
        ("keepcost", ctypes.c_size_t),
    ]


def allocated() -> int:
    """Bytes that malloc has given out; where that is not told, those of memory in use."""
    gc.collect()
    tell = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if tell is None:
        return resident()
    tell.restype = _Allocated
    told = tell()
    return int(told.uordblks + told.hblkhd) or resident()


def is_sanitized() -> bool:
    """Whether a sanitizer is in this process, which keeps memory of its own."""
    return hasattr(ctypes.CDLL(None), "__asan_init")


def threads() -> int:
    return len(os.listdir("/proc/self/task"))


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))
