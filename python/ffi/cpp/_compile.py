"""Compiling. Imported only where something has to be compiled, as its imports take a while."""

from __future__ import annotations

import os
import shlex
import time

from .. import config
from ._compiler import tell
from ._depfile import linked_files, missing_headers, read_depfile
from ._exports import registrations
from ._flags import C_SUFFIX, CXX_FLAGS, FLAGS, HEADER_VARIABLES, LIBRARY_VARIABLES, LINK_FLAGS
from ._runner import Runner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._cache import Entry
    from ._request import Request


def compile_request(request: Request, entry: Entry, verbose: bool) -> str:
    """Compiles what is asked for and puts it into the cache. Returns the path of the library."""
    started = time.time_ns()
    sources = [*_write_texts(request, entry), *request.files]
    shown = " ".join(shlex.join(command) for command in request.commands.values())
    tell(f"compiling {request.name} with {shown}", verbose)
    partial = entry.partial(f"lib{request.name}.so")
    depfiles = [entry.partial(f"{number}.d") for number in range(len(sources))]
    if len(sources) == 1:
        link = (*_link_flags(request), "-o", partial)
        commands = [(*_compile_command(request, sources[0], depfiles[0]), *link)]
    else:
        objects = [entry.partial(f"{number}.o") for number in range(len(sources))]
        commands = [
            (*_compile_command(request, source, depfile), "-c", "-o", made)
            for source, depfile, made in zip(sources, depfiles, objects, strict=True)
        ]
    runner = Runner()
    printed = runner.run(commands)
    if len(sources) > 1:
        driver = request.commands.get("CXX") or request.commands["CC"]
        flags = (*request.cflags, *_link_flags(request))
        printed += runner.run([(*driver, *objects, *flags, "-o", partial)])
    inputs = {file for depfile in depfiles for file in read_depfile(depfile)}
    inputs |= _further_inputs(request, inputs)
    path = entry.publish(
        request.name,
        partial,
        (file for file in sorted(inputs) if os.path.dirname(file) != entry.folder),
        started,
    )
    if printed.strip():
        tell(f"the compiler says:\n{printed.rstrip()}", verbose=True)
    tell(f"compiled {request.name} in {(time.time_ns() - started) / 1e9:.1f} s", verbose)
    return path


def _write_texts(request: Request, entry: Entry) -> list[str]:
    """Writes the texts, with the registrations behind them, as one source file."""
    if not request.texts:
        return []
    main = f"{request.name}.cc"
    path = os.path.join(entry.folder, main)
    if len(request.texts) == 1:
        texts = {path: request.texts[0]}
        whole = request.texts[0]
    else:
        texts = {
            entry.write(f"{request.name}_{number}.cc", text): text
            for number, text in enumerate(request.texts, 1)
        }
        whole = "".join(f'#include "{os.path.basename(file)}"\n' for file in texts)
    if request.functions:
        whole += "".join(registrations(request.name, request.functions, texts))
    return [entry.write(main, whole)]


def _compile_command(request: Request, source: str, depfile: str) -> tuple[str, ...]:
    common = (
        *FLAGS,
        *request.cflags,
        *config.compile_flags(),
        "-MD",
        "-MT",
        "target",
        "-MF",
        depfile,
    )
    if source.endswith(C_SUFFIX):
        return (*request.commands["CC"], *common, source)
    # Files include what they need; for texts the registry is included.
    first = () if source in request.files else ("-include", "mxnet/runtime/registry.h")
    return (*request.commands["CXX"], *CXX_FLAGS, *common, *first, source)


def _link_flags(request: Request) -> tuple[str, ...]:
    return (*LINK_FLAGS, *config.link_flags(), *request.ldflags)


def _further_inputs(request: Request, read: set[str]) -> set[str]:
    """Files that the linker reads, and missing ones that would be read in place of another."""
    there, missing = linked_files(request.ldflags, _listed(LIBRARY_VARIABLES))
    return there | missing | missing_headers(read, request.cflags, _listed(HEADER_VARIABLES))


def _listed(variables: Iterable[str]) -> list[str]:
    """The folders that environment variables list."""
    texts = (os.environ.get(variable, "") for variable in variables)
    return [folder for text in texts for folder in text.split(os.pathsep) if folder]
