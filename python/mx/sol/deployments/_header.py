"""The header of a deployed library."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ._interface import STATUSES, Argument, Interface

# Between @: what differs from library to library. PREFIX is the name of the function in capitals,
# NAME as it is.
_TEXT = """\
/* @LIBRARY@: a model as a function in C, for @PROCESSOR@. Made by mx.sol.deploy.
 *
 * Inputs, row-major:
@INPUTS@
 * Outputs, row-major:
@OUTPUTS@
 *
 * The functions allocate nothing and keep nothing between calls. Any number of threads may call
 * them at the same time, each with an arena of its own. */
#ifndef @PREFIX@_H_
#define @PREFIX@_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#define @PREFIX@_API __attribute__((visibility("default")))
#else
#define @PREFIX@_API
#endif

/* Bytes of the arena of a call without a pool; what each further thread of a pool takes. */
#define @PREFIX@_ARENA_BYTES @ARENA_COUNT@
#define @PREFIX@_THREAD_BYTES @THREAD_COUNT@
@BESIDE@

enum {
@STATUSES@
};

/* Threads of the caller. `run` has `body` called for all of [0, tiles) in parts, each once, in
 * any order and at the same time if that is wanted, with the number of the thread that calls it,
 * from 0 to threads - 1; it returns when all parts are done. */
typedef void (*@NAME@_body)(void *task, int thread, int64_t begin, int64_t end);
typedef struct @NAME@_pool {
  int threads;
  void (*run)(void *context, @NAME@_body body, void *task, int64_t tiles);
  void *context;
} @NAME@_pool;

/* Executes the model: reads the inputs, writes the outputs, and uses the arena, whose bytes may be
 * any before and are any afterwards. `pool` may be NULL. Returns @PREFIX@_OK, or another of the
 * numbers above where nothing is written. */
@PREFIX@_API @RUN_PROTOTYPE@;

/* Checks @CHECKED@. Call it once, before the first call. */
@PREFIX@_API @CHECK_PROTOTYPE@;

/* Bytes of the arena of a call with a pool of so many threads. */
@PREFIX@_API @BYTES_PROTOTYPE@;

/* What a status means, in English. */
@PREFIX@_API @MESSAGE_PROTOTYPE@;

#ifdef __cplusplus
}
#endif

#endif /* @PREFIX@_H_ */
"""
_BESIDE = """\
/* Weights are the bytes of the file @LIBRARY@.weights, at an address that 64 divides. */
#define @PREFIX@_WEIGHTS_BYTES @WEIGHTS_COUNT@
"""


def header(to: Interface) -> str:
    """The text of the header."""
    run, check, size, message = to.prototypes().values()
    statuses = [
        f"  {to.macro}_{status} = {number}, /* {meaning} */"
        for number, (status, meaning) in enumerate(STATUSES)
    ]
    words = {
        "LIBRARY": to.lib_name,
        "PROCESSOR": to.made_for,
        "PREFIX": to.macro,
        "NAME": to.func_name,
        "INPUTS": _listed(to.inputs),
        "OUTPUTS": _listed(to.outputs),
        "ARENA_COUNT": str(to.arena_bytes),
        "THREAD_COUNT": str(to.thread_bytes),
        "WEIGHTS_COUNT": str(to.weights_bytes),
        "STATUSES": "\n".join(statuses),
        "CHECKED": "the processor" + ("" if to.is_inside else ", and all bytes of the weights"),
        "RUN_PROTOTYPE": run,
        "CHECK_PROTOTYPE": check,
        "BYTES_PROTOTYPE": size,
        "MESSAGE_PROTOTYPE": message,
    }
    text = _TEXT.replace("@BESIDE@\n", "" if to.is_inside else _BESIDE)
    return re.sub("@([A-Z_]+)@", lambda found: words[found[1]], text)


def _listed(arguments: Sequence[Argument]) -> str:
    lines = [one.describe().replace("*/", "* /").replace("\\", "/") for one in arguments]
    return "\n".join(f" *   {' '.join(line.split())}" for line in lines)
