"""Judges whether an action leaves something behind: references, objects of Python, memory."""

import ctypes
import gc
import itertools
import os
import sys

import pytest

ROUNDS = 50
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


# A fifth of what one object forgotten each time comes to; the interpreter's own stays below.
LIMITS = {
    "references": ROUNDS // 5,
    "blocks": ROUNDS // 5,
    # The smallest chunk of malloc is 32 bytes.
    "bytes": ROUNDS * 32 // 5,
}

# What attributes are found by is remembered; names that live on or go with it would be counted.
_forget_attributes = getattr(sys, "_clear_internal_caches", None) or sys._clear_type_cache


def _measure(watched):
    _forget_attributes()
    gc.collect()
    return {
        "references": sum(map(sys.getrefcount, watched)),
        "blocks": sys.getallocatedblocks(),
        "bytes": heap_bytes(),
    }


def _difference(before, after):
    return {name: after[name] - before[name] for name in before}


def _is_flat(before, after):
    difference = _difference(before, after)
    return all(abs(difference[name]) < limit for name, limit in LIMITS.items())


class Judge:
    """Knows all there is when it is made, for as long as it lives."""

    def __init__(self):
        # What is frozen is neither told nor looked at by a collection.
        gc.unfreeze()
        gc.collect()
        self._known = gc.get_objects()
        gc.freeze()

    def _measures(self, action, watched):
        """The references to all there is, and memory: at first, then after many runs each."""
        for _ in range(ROUNDS // 2):
            action()
        gc.collect()
        # What the collector knows, modules, classes and functions among it, and what is named.
        everything = [*self._known, *gc.get_objects(), *watched]
        while True:
            yield _measure(everything)
            for _ in range(ROUNDS):
                action()

    def growth(self, action, watched=()):
        """What many runs of an action add."""
        before, after = itertools.islice(self._measures(action, watched), 2)
        return _difference(before, after)

    def __call__(self, action, watched=()):
        """Fails where an action leaves something behind; references to what is watched count.

        What the collector does not know, text and numbers for example, has to be watched by name.
        """
        if SANITIZED:
            pytest.skip(WHY_NOT)
        # A table grows or shrinks now and then, or by turns; a leak grows with every run.
        earlier = []
        for now in itertools.islice(self._measures(action, watched), 10):
            if any(_is_flat(before, now) for before in earlier):
                return
            earlier.append(now)
        grown = _difference(earlier[-2], earlier[-1])
        raise AssertionError(f"{ROUNDS} times left behind {grown}")
