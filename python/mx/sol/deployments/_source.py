"""The C source of a deployed model: kernels, and the function that calls them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from ..backends.gen import Target, prelude, signature
from ._interface import STATUSES, Interface
from ._names import C_TYPES
from ._processors import check, guard
from ._program import ALIGNMENT, Call, Control, Program, Value
from ._runtime import CHECK_FILE, CRC, RUN_TILES, RUN_TURNS
from ._weights import HEADER, MAGIC, ORDER, VERSION, identity


def source(program: Program, to: Interface, target: Target) -> str:
    """The text of the .c file. It includes the header, and needs no other file but the weights."""
    return "\n".join([*_parts(program, to, target), ""])


def _parts(program: Program, to: Interface, target: Target) -> Iterator[str]:
    yield f"/* {to.lib_name}, made by mx.sol.deploy for {to.made_for}. */"
    yield f'#include "{to.lib_name}.h"'
    yield ""
    yield from guard(target)
    yield f"#define VW {target.lanes} /* floats of a vector */"
    kernels = {call.kernel.symbol: call.kernel for call in program.calls}.values()
    yield prelude(kernel.source for kernel in kernels)
    yield "/* -- kernels -- */"
    for kernel in kernels:
        yield ""
        yield f"static {signature(kernel.symbol)};"
        yield kernel.source.strip()
    yield ""
    yield "/* -- the model -- */"
    yield ""
    yield from _weights(program, to)
    yield RUN_TILES.replace("NAME", to.func_name)
    if any(kernel.turns != 1 for kernel in kernels):
        yield RUN_TURNS.replace("NAME", to.func_name)
    if program.slices > 1:
        yield from _in_slices(program, to)
    else:
        yield from _function(program, to)
    yield ""
    yield from check(target)
    yield from _others(program, to)


def _weights(program: Program, to: Interface) -> Iterator[str]:
    if to.is_inside:
        if program.weight_bytes:
            yield f"/* In {to.lib_name}_weights. */"
            yield '__attribute__((visibility("hidden")))'
            yield f"extern const unsigned char {to.func_name}_weights[];"
            yield ""
        return
    yield CHECK_FILE.format(
        magic=MAGIC.decode(),
        version=VERSION,
        order=ORDER,
        identity=f"UINT64_C({identity(program)})",
        count=program.weight_bytes,
        header=HEADER.size,
    )


def _function(program: Program, to: Interface) -> Iterator[str]:
    yield f"{to.prototypes()[to.func_name]} {{"
    yield from _checks(to)
    if program.arena_bytes or program.workspace:
        yield f"  char *memory = {_MEMORY};"
    if program.workspace:
        yield f"  char *work = memory + {program.arena_bytes};"
    if program.weight_bytes:
        yield f"  const char *constants = {_constants(to)};"
    yield from _steps(program, to)
    yield f"  return {to.macro}_OK;"
    yield "}"


# The arena from its first aligned byte on.
_MEMORY = f"(char *)arena + (-(uintptr_t)arena & {ALIGNMENT - 1})"


def _constants(to: Interface) -> str:
    origin = f"{to.func_name}_weights" if to.is_inside else f"weights + {HEADER.size}"
    return f"(const char *){origin}"


def _in_slices(program: Program, to: Interface) -> Iterator[str]:
    """The function of a model that is executed for slices of its batch."""
    memory = program.arena_bytes + program.workspace
    yield "/* What a call was given. */"
    yield "typedef struct {"
    yield f"  const {to.func_name}_pool *pool; /* for the kernels of one slice */"
    yield "  char *memory;"
    yield from ["  const char *constants;"] if program.weight_bytes else []
    yield from (f"  {one};" for one in to.pointers())
    yield "} mx_whole;"
    yield ""
    yield "static void mx_run_slices(void *data, int thread, int64_t begin, int64_t end) {"
    yield "  const mx_whole *whole = (const mx_whole *)data;"
    yield f"  const {to.func_name}_pool *pool = whole->pool;"
    if memory:
        yield f"  char *memory = whole->memory + (size_t)thread * {memory};"
    else:
        yield "  (void)thread;"
    if program.workspace:
        yield f"  char *work = memory + {program.arena_bytes};"
    if program.weight_bytes:
        yield "  const char *constants = whole->constants;"
    yield "  for (int64_t slice = begin; slice < end; ++slice) {"
    for pointer, one in zip(to.pointers(), to.arguments, strict=True):
        size = math.prod(one.value.shape) // program.slices
        yield f"    {pointer} = whole->{one.parameter} + slice * {size};"
    yield from ("  " + line for line in _steps(program, to))
    yield "  }"
    yield "}"
    yield ""
    yield f"{to.prototypes()[to.func_name]} {{"
    yield from _checks(to)
    given = ["NULL", _MEMORY if memory else "NULL"]
    given += [_constants(to)] if program.weight_bytes else []
    given += [one.parameter for one in to.arguments]
    yield f"  mx_whole whole = {{{', '.join(given)}}};"
    yield f"  if (pool == NULL || pool->threads == 1 || pool->threads > {program.slices}) {{"
    yield "    whole.pool = pool;"
    yield f"    mx_run_slices(&whole, 0, 0, {program.slices});"
    yield "  } else {"
    yield f"    pool->run(pool->context, mx_run_slices, &whole, {program.slices});"
    yield "  }"
    yield f"  return {to.macro}_OK;"
    yield "}"


def _steps(program: Program, to: Interface) -> Iterator[str]:
    where, depth = _addresses(program, to), 0
    for step in program.steps:
        if isinstance(step, Control):
            depth -= step.kind in ("else", "end")
            yield "  " * (depth + 1) + _control(step, where)
            depth += step.kind in ("if", "else", "loop")
        elif isinstance(step, Call):
            yield from ("  " * depth + line for line in _call(step, program, where))


def _checks(to: Interface) -> Iterator[str]:
    macro = to.macro
    pointers = [one.parameter for one in to.arguments if one.value.nbytes]
    pointers += ["arena"] if to.arena_bytes else []
    pointers += [] if to.is_inside else ["weights"]
    yield f"  if ({' || '.join(f'{one} == NULL' for one in pointers)}) return {macro}_NULL;"
    yield "  if (pool != NULL && (pool->threads < 1 || pool->run == NULL))"
    yield f"    return {macro}_POOL;"
    yield f"  if (arena_bytes < {to.func_name}_arena_bytes(pool == NULL ? 1 : pool->threads))"
    yield f"    return {macro}_ARENA;"
    for one in to.arguments:
        if C_TYPES[one.value.dtype] != "uint8_t" and one.value.nbytes:
            yield f"  if ((uintptr_t){one.parameter} % sizeof *{one.parameter} != 0)"
            yield f"    return {macro}_ALIGNMENT;"
    if not to.is_inside:
        yield f"  if ((uintptr_t)weights % {ALIGNMENT} != 0) return {macro}_ALIGNMENT;"
        yield f"  if (!mx_is_right_file(weights, weights_bytes)) return {macro}_WEIGHTS;"
    yield "  const mx_span written[] = {"
    for one in to.outputs:
        yield f"    {{{one.parameter}, {one.value.nbytes}}},"
    yield "    {arena, arena_bytes},"
    yield "  };"
    yield "  const mx_span read[] = {"
    for one in to.inputs:
        yield f"    {{{one.parameter}, {one.value.nbytes}}},"
    if not to.is_inside:
        yield "    {weights, weights_bytes},"
    yield "    {NULL, 0},"
    yield "  };"
    writes, reads = len(to.outputs) + 1, len(to.inputs) + (not to.is_inside)
    yield f"  if (mx_overlap(written, {writes}, read, {reads})) return {macro}_OVERLAP;"


def _addresses(program: Program, to: Interface) -> dict[Value, str]:
    """What each value is in C."""
    values = [*program.inputs, *program.outputs]
    where = {value.root: one.parameter for value, one in zip(values, to.arguments, strict=True)}
    where |= {value: f"memory + {begin}" for value, begin in program.offsets.items()}
    for value, begin in program.weight_offsets.items():
        where[value] = f"constants + {begin}" if program.weight_bytes else "NULL"
    return where


def _control(step: Control, where: dict[Value, str]) -> str:
    given = [
        "NULL" if value is None else where[value.root] for value in (*step.inputs, *step.outputs)
    ]
    return re.sub(r"\{(\d+)\}", lambda match: f"({given[int(match[1])]})", step.text)


def _call(call: Call, program: Program, where: dict[Value, str]) -> Iterator[str]:
    inputs = ["NULL" if value is None else where[value.root] for value in call.inputs]
    outputs = [where.get(value.root, "NULL") for value in call.outputs]
    work = "work" if call.kernel.workspace else "NULL"
    yield f"  {{ /* {call.label.replace('*/', '* /')} */"
    yield f"    const void *in[] = {{{', '.join(inputs) or 'NULL'}}};"
    yield f"    void *out[] = {{{', '.join(outputs)}}};"
    kernel = call.kernel
    run, counts = "mx_run_tiles", f"{kernel.tiles}"
    if kernel.turns != 1:
        run, counts = "mx_run_turns", f"{kernel.tiles}, {kernel.turns}"
    yield f"    {run}(pool, {kernel.symbol}, in, out, {work}, {program.workspace},"
    yield f"                 {counts});"
    yield "  }"


def _others(program: Program, to: Interface) -> Iterator[str]:
    name, macro, prototypes = to.func_name, to.macro, to.prototypes()
    yield ""
    yield f"{prototypes[f'{name}_arena_bytes']} {{"
    yield "  const size_t more = threads > 1 ? (size_t)(threads - 1) : 0;"
    yield f"  return {macro}_ARENA_BYTES + more * {macro}_THREAD_BYTES;"
    yield "}"
    yield ""
    if not to.is_inside:
        yield CRC
    yield f"{prototypes[f'{name}_check']} {{"
    yield f"  if (!mx_has_instructions()) return {macro}_PROCESSOR;"
    if not to.is_inside:
        yield f"  if (weights == NULL) return {macro}_NULL;"
        yield f"  if ((uintptr_t)weights % {ALIGNMENT} != 0) return {macro}_ALIGNMENT;"
        yield "  if (!mx_is_right_file(weights, weights_bytes) || !mx_is_whole_file(weights))"
        yield f"    return {macro}_WEIGHTS;"
    yield f"  return {macro}_OK;"
    yield "}"
    yield ""
    yield f"{prototypes[f'{name}_message']} {{"
    yield "  switch (status) {"
    for status, meaning in STATUSES:
        yield f'    case {macro}_{status}: return "{meaning}";'
    yield "  }"
    yield '  return "no status of this function";'
    yield "}"
