"""Turns targets into steps: Cython to C++, C++ to objects, objects to shared objects."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from .steps import Step
from .targets import PYTHON_ROOT, Target
from .toolchain import Toolchain

# What the modules need of an interpreter without the GIL is there since 3.14; before, importing
# them turns the GIL on.
_IS_FREE_THREADING_SUPPORTED = sys.version_info >= (3, 14)


class Planner:
    """Plans the steps of one variant of the build; everything is written under `folder`."""

    def __init__(self, tools: Toolchain, folder: Path, prebuilt: dict[Path, Path]) -> None:
        """`prebuilt` are the libraries that targets may link to besides each other's outputs."""
        self._tools = tools
        self._objects = folder / "objects"
        self.products = folder / "products"
        self._prebuilt = prebuilt
        self._links: dict[Path, Step] = {}

    def plan(self, targets: Iterable[Target]) -> list[Step]:
        """The steps in an order in which each comes after those it needs."""
        generated: list[Step] = []
        compiled: list[Step] = []
        linked: list[Step] = []
        for target in targets:
            objects = []
            for source in target.sources:
                if source.suffix == ".pyx":
                    generated.append(self._generate(source))
                    objects.append(self._compile(target, generated[-1].output, generated[-1:]))
                else:
                    objects.append(self._compile(target, source))
            compiled += objects
            linked.append(self._link(target, objects))
        return [*generated, *compiled, *linked]

    def _generate(self, source: Path) -> Step:
        output = (self._objects / source).with_suffix(".cpp")
        module = ".".join(source.relative_to(PYTHON_ROOT).with_suffix("").parts)
        command = (
            *(sys.executable, "-m", "cython", "--cplus", "-M", "-I", str(PYTHON_ROOT)),
            *("-X", f"freethreading_compatible={_IS_FREE_THREADING_SUPPORTED}"),
            *("--module-name", module, "-o", str(output), str(source)),
        )
        return Step(command, output, (source,), depfile=output.with_name(output.name + ".dep"))

    def _compile(self, target: Target, source: Path, after: Iterable[Step] = ()) -> Step:
        inside = source if self._objects in source.parents else self._objects / source
        output = inside.with_suffix(".o")
        command = (
            *self._tools.compiler,
            *self._tools.compile_flags,
            *target.flags,
            *(f"-I{path}" for path in target.include_dirs),
            *(flag for path in target.system_include_dirs for flag in ("-isystem", str(path))),
            *("-MMD", "-c", str(source), "-o", str(output)),
        )
        return Step(command, output, (source,), output.with_suffix(".d"), tuple(after))

    def _link(self, target: Target, objects: list[Step]) -> Step:
        output = self.products / target.output
        libraries = [self._prebuilt.get(path) or self.products / path for path in target.links]
        soname = f"-Wl,-soname,{output.name}"
        as_library = () if target.is_extension else (soname, *self._tools.library_link_flags)
        exports = f"-Wl,--version-script={self._version_script(target)}"
        kind = ("-pie",) if target.is_program else ("-shared", *as_library, exports)
        command = (
            *self._tools.compiler,
            *self._tools.link_flags,
            *kind,
            *target.link_flags,
            *(f"-Wl,-rpath,{_origin(path)}" for path in target.rpath),
            *(str(step.output) for step in objects),
            *map(str, libraries),
            *("-o", str(output)),
        )
        inputs = (*(step.output for step in objects), *libraries)
        after = (*objects, *(self._links[path] for path in target.links if path in self._links))
        self._links[target.output] = Step(command, output, inputs, after=after)
        return self._links[target.output]

    def _version_script(self, target: Target) -> Path:
        """Writes the linker's list of symbols to export, which keeps the C++ library's out."""
        path = self._objects / (target.output.name + ".map")
        exports = f" global: {' '.join(name + ';' for name in target.exports)}"
        text = f"{{{exports if target.exports else ''} local: *; }};\n"
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
        return path


def _origin(path: str) -> str:
    return f"$ORIGIN/{path}" if path else "$ORIGIN"
