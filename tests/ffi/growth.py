"""Judges whether an action leaves something behind: references, objects of Python, memory."""

import ctypes
import gc
import os
import sys

import pytest

ROUNDS = 200
SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")
WHY_NOT = "AddressSanitizer keeps what is freed"


class _HeapInfo(ctypes.Structure):
    """struct mallinfo2 of glibc."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def _heap_reader():
    try:
        read = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return None
    read.restype = _HeapInfo
    return read


_heap = _heap_reader()


def heap_bytes():
    """Bytes that malloc has given out; resident memory where the C library cannot tell."""
    if _heap is not None:
        info = _heap()
        return info.uordblks + info.hblkhd
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# What one object forgotten each time would come to, less what the interpreter does meanwhile.
LIMITS = {
    "references": ROUNDS // 2,
    "blocks": ROUNDS // 2,
    # The smallest chunk of malloc is 32 bytes.
    "bytes": ROUNDS * 16,
}


def _measure(watched):
    gc.collect()
    return {
        "references": sum(map(sys.getrefcount, watched)),
        "blocks": sys.getallocatedblocks(),
        "bytes": heap_bytes(),
    }


def growth(action, watched=(), rounds=ROUNDS):
    """What many runs of an action add to the references to all there is, and to memory."""
    for _ in range(rounds // 2):
        action()
    gc.collect()
    # Those that the collector knows, modules, classes and functions among them, and those named.
    everything = [*gc.get_objects(), *watched]
    # Quick collections: what exists now is not looked at.
    gc.freeze()
    try:
        before = _measure(everything)
        for _ in range(rounds):
            action()
        after = _measure(everything)
    finally:
        gc.unfreeze()
    return {name: after[name] - before[name] for name in before}


def assert_flat(action, watched=()):
    """Fails where an action leaves something behind; watched are arguments to count references of.

    What the collector does not know, text and numbers for example, has to be watched by name.
    """
    if SANITIZED:
        pytest.skip(WHY_NOT)
    # Again where it grew: a table that doubles does so once, a leak grows every time.
    for _ in range(3):
        grown = growth(action, watched)
        if all(grown[name] < limit for name, limit in LIMITS.items()):
            return
    raise AssertionError(f"{ROUNDS} times left behind {grown}")
